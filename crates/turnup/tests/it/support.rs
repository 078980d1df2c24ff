//! Hosts, and what is laid down on them.

mod cluster;
mod host;
mod sshd;

pub use cluster::{FakeJoins, Run, TOKEN, cluster, wanted};
pub use host::{options, target};
pub use sshd::Sshd;
pub use testkit::TestHost;
