//! Building the next catalog: claims, ownership, documents, in this order.

mod assembly;
mod assign;
mod backends;
mod claim;
mod fragment;
mod group;
mod rank;
mod specs;
mod summary;

use std::collections::BTreeSet;

use crate::{Catalog, Contribution, Ownership, ServerName};

use assembly::{Assembled, Assembly};
use assign::{Clash, decide};
use backends::Backends;
use claim::Claims;

pub(crate) use assembly::Parts;
pub(crate) use specs::Specs;

/// A catalog with what was decided on the way.
#[derive(Clone, Debug)]
pub struct Built {
    /// The catalog.
    pub catalog: Catalog,
    /// To be kept, and given to the next build.
    pub ownership: Ownership,
    /// Claims that were not fulfilled, by group.
    pub conflicts: Vec<Conflict>,
    /// What was left out because it is not valid or too much.
    pub rejected: Vec<Rejected>,
    /// How many pieces (versions, groups, summaries, indexes) were serialised in this build; all others were
    /// taken over from the catalog before.
    pub made: usize,
}

/// Two backends want the same group. Both are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The group; empty for the legacy group.
    pub group: String,
    /// The version, when the group is shared by version; none: the whole group.
    pub version: Option<String>,
    /// Who does not get it.
    pub claimant: ServerName,
    /// Who has it.
    pub owner: ServerName,
}

/// Something of a contribution that is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Whose contribution.
    pub server: ServerName,
    /// The group in question; empty for the legacy group and for the contribution as a whole.
    pub group: String,
    /// What is wrong with it.
    pub why: Rejection,
}

/// Why something is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// More groups than [`MAX_GROUPS`](crate::bounds::MAX_GROUPS); those after it in the backend's list.
    #[error("too many groups")]
    TooManyGroups,
    /// More versions than [`MAX_VERSIONS`](crate::bounds::MAX_VERSIONS).
    #[error("too many versions")]
    TooManyVersions,
    /// More bytes than [`MAX_VERSION_BYTES`](crate::bounds::MAX_VERSION_BYTES) in one version.
    #[error("too many resources in one version")]
    TooLarge,
    /// Not a DNS name.
    #[error("a group or version name that is not a DNS name")]
    InvalidName,
    /// The same name twice; the first one counts.
    #[error("the same name twice")]
    Duplicate,
    /// Resources that are not a list of `APIResourceDiscovery`.
    #[error("resources that are not a list of resource descriptions")]
    InvalidResources,
}

impl Catalog {
    /// Builds a catalog from nothing. See [`rebuild`](Self::rebuild).
    pub fn build(ownership: &Ownership, generation: u64, contributions: &[Contribution]) -> Built {
        Self::empty().rebuild(ownership, generation, contributions)
    }

    /// Builds the catalog that follows this one; what did not change is taken over from it, not made again.
    /// The result is the same as that of [`build`](Self::build).
    ///
    /// `contributions` holds every registered backend, also one that is down or was never seen: a backend
    /// that is missing here has gone, and its groups go to the next claimant. The order does not matter.
    /// Nothing in a contribution can make this fail; what cannot be used is left out and reported.
    pub fn rebuild(&self, ownership: &Ownership, generation: u64, contributions: &[Contribution]) -> Built {
        let (backends, mut rejected) = Backends::new(contributions);
        let claims = Claims::collect(backends.contributions(), backends.core());
        rejected.extend(claims.rejected);

        let mut assembly = Assembly::new(self, &backends);
        let mut decided = Ownership::default();
        let mut conflicts = Vec::new();
        let remembered = ownership.groups.keys().map(String::as_str);
        let groups: BTreeSet<&str> = claims.groups.keys().copied().chain(remembered).collect();
        for group in groups {
            let claims = claims.groups.get(group).map(Vec::as_slice).unwrap_or_default();
            let decision = decide(group, claims, ownership.groups.get(group), &backends);
            if let Some(record) = decision.record {
                decided.groups.insert(group.to_owned(), record);
            }
            if let Some(holder) = &decision.holder {
                assembly.add(group, holder, claims);
            }
            conflicts.extend(decision.clashes.iter().filter_map(|clash| conflict(group, clash, &backends)));
        }
        let Assembled { catalog, unusable, made } = assembly.finish(generation);
        rejected.extend(unusable);
        conflicts.sort();
        Built { catalog, ownership: decided, conflicts, rejected, made }
    }
}

fn conflict(group: &str, clash: &Clash<'_>, backends: &Backends<'_>) -> Option<Conflict> {
    Some(Conflict {
        group: group.to_owned(),
        version: clash.version.map(str::to_owned),
        claimant: backends.name(clash.claimant)?.clone(),
        owner: backends.name(clash.owner)?.clone(),
    })
}
