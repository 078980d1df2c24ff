//! Everything that follows from an object, decided once. What comes after this only fills in.
//!
//! A decision has a name, and the same name everywhere: `trellis cluster show --resolved` prints it,
//! the files in `deploy/` have it between double braces, `explain` names the fields behind it.

mod arguments;
mod decision;
mod facts;
mod hosts;
mod images;
mod settings;

use crate::cluster::Cluster;

pub use arguments::{TUNABLE, Tunable};
pub use decision::{Content, Decision, Decisions, Item};
pub use facts::{CgroupDriver, HostFacts};
pub use hosts::ResolvedHost;

/// A cluster with everything decided that does not depend on what is found on a host.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What holds for all hosts.
    pub decisions: Decisions,
    /// The hosts, in the order of the object.
    pub hosts: Vec<ResolvedHost>,
}

impl Cluster {
    /// Decides everything.
    pub fn resolve(&self) -> Resolved {
        let mut decisions = Decisions::default();
        settings::decide(self, &mut decisions);
        images::decide(self, &mut decisions);
        arguments::decide(self, &mut decisions);
        let hosts = self.hosts.iter().map(|placed| hosts::resolve(self, placed)).collect();
        Resolved { decisions, hosts }
    }
}
