//! The state folder: ours alone while the door runs.

use std::{fs::TryLockError, path::Path};

use crate::exit::{Code, Outcome, Problem};

/// Holds the folder until it is dropped, or the process ends.
pub(super) struct Lock(#[allow(dead_code)] std::fs::File);

impl Lock {
    /// Makes the folder when it is missing, and takes it.
    pub(super) fn take(folder: &Path) -> Outcome<Self> {
        let unusable = |cause: &dyn std::fmt::Display| {
            Problem::new(Code::State, format!("cannot use the state folder {}: {cause}", folder.display()))
                .next("make room, correct its permissions, or choose another folder (`serve --state`, `up --data`)")
        };
        pki::create_private_dir(folder).map_err(|error| unusable(&error))?;
        let path = folder.join("lock");
        let file = std::fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| unusable(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Problem::new(
                Code::State,
                format!("the state folder {} is in use by another door", folder.display()),
            )
            .next("stop that one first, or choose another folder (`serve --state`, `up --data`)")),
            Err(TryLockError::Error(error)) => Err(unusable(&error)),
        }
    }
}
