//! Tests made from data.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use libtest_mimic::{Failed, Trial};
use testkit::real::Unavailable;

/// A test that panics when it fails.
pub(crate) fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        catch_unwind(AssertUnwindSafe(test)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Failed::from(text.unwrap_or_else(|| "panicked".to_owned()))
        })
    })
}

/// A test that this machine cannot run, with the reason.
pub(crate) fn skipped(name: impl Into<String>, reason: &Unavailable) -> Trial {
    let name = name.into();
    println!("skipped: {name}: {reason}");
    Trial::test(name, || Ok(())).with_ignored_flag(true)
}

/// Whether this is a long run.
pub(crate) fn full() -> bool {
    env::var_os("TRELLIS_FULL").is_some()
}

/// The folder of this package.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
