//! Tests made from data.

use std::{
    any::Any,
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Failed, Trial};
use testkit::real::Unavailable;

/// A test that panics when it fails.
pub(crate) fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        catch_unwind(AssertUnwindSafe(test)).map_err(|panic| Failed::from(message(&*panic)))
    })
}

/// A test that this machine cannot run, with the reason.
pub(crate) fn skipped(name: impl Into<String>, reason: &Unavailable) -> Trial {
    let name = name.into();
    println!("skipped: {name}: {reason}");
    Trial::test(name, || Ok(())).with_ignored_flag(true)
}

/// Something that many tests share: made by the first that needs it. When that fails, it has failed for
/// all of them, at once and for the same reason.
pub(crate) struct Shared<T>(Arc<OnceLock<Result<T, String>>>);

impl<T> Shared<T> {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(OnceLock::new()))
    }

    /// It, made by `make` if need be.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        let made =
            self.0.get_or_init(|| catch_unwind(AssertUnwindSafe(make)).map_err(|panic| message(&*panic)));
        made.as_ref().unwrap_or_else(|reason| panic!("{reason}"))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "panicked".to_owned())
}

/// Whether this is a long run.
pub(crate) fn full() -> bool {
    env::var_os("TRELLIS_FULL").is_some()
}

/// The folder of this package.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
