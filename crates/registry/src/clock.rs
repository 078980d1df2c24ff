//! The wall clock, in the whole seconds of the Kubernetes API.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use kube_wire::object::time::{format, parse};

/// Seconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    seconds(SystemTime::now())
}

/// `time` in seconds since the Unix epoch.
pub(crate) fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).unwrap_or(i64::MAX)
}
