//! Real processes in tests: etcd, kube-apiserver, sample-apiserver, metrics-server, kubectl, and the
//! door itself. Each runs on a free port with files of its own, writes a log whose end is shown when
//! something fails, and is killed when its value is dropped.
//!
//! The programs are those that `cargo xtask upstream` keeps. Where one is not to be had, starting it
//! gives [`Unavailable`], and the test says that it was left out and why.
//!
//! Everything here blocks: these tests wait for other programs anyway.

mod components;
mod core;
mod door;
mod federated;
mod http;
mod kubectl;
mod metrics;
mod network;
mod process;
mod upgrade_server;

pub use components::{Unavailable, companion, program, program_version};
pub use core::Core;
pub use door::{Door, DoorBuilder};
pub use federated::{SampleServer, WARDLE_GROUP, endpoint_slice};
pub use http::{Http, Protocol};
pub use kubectl::{Finished, Kubectl, Program};
pub use metrics::MetricsServer;
pub use network::Network;
pub use process::{Process, Spawn, free_port};
pub use upgrade_server::UpgradeServer;
