//! From contributions to claims: which backend wants which versions of which group, and how they rank.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    Contribution, Discovery, GroupOffer, Origin, Rejected, Rejection, Role, Selection, ServerName,
    VersionOffer,
    bounds::{MAX_VERSIONS, is_group_name, is_version_name, max_groups},
};

use super::rank::{CoreRanks, Rank};

/// One backend's claim on one group.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    /// Index of the contribution.
    pub(crate) who: usize,
    /// What is claimed.
    pub(crate) extent: Extent,
    /// The versions that would be shown.
    pub(crate) versions: Vec<Offered<'a>>,
}

/// How much of a group is claimed, and by which right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Built into the core: all of it, always.
    BuiltIn,
    /// The versions of the core's CustomResourceDefinitions.
    Custom,
    /// The versions that the core's own aggregation layer passes on.
    Relayed,
    /// All of it, for a registration whose groups are discovered.
    Whole,
    /// The versions that APIServices name.
    Selected,
}

/// A version that a claim would show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered<'a> {
    pub(crate) version: &'a str,
    pub(crate) rank: Rank,
    /// None when the backend was never seen with it.
    pub(crate) offer: Option<&'a VersionOffer>,
}

/// All claims, by group; those on one group stand in the order of the contributions.
#[derive(Debug, Default)]
pub(crate) struct Claims<'a> {
    pub(crate) groups: BTreeMap<&'a str, Vec<Claim<'a>>>,
    pub(crate) rejected: Vec<Rejected>,
}

impl<'a> Claims<'a> {
    /// Reads the claims of all contributions; `core` is the index of the core.
    pub(crate) fn collect(contributions: &[&'a Contribution], core: Option<usize>) -> Self {
        let mut claims = Self::default();
        for (who, contribution) in contributions.iter().enumerate() {
            match &contribution.selection {
                _ if core == Some(who) => claims.of_core(who, contribution),
                Selection::All { group_priority, version_priority } => {
                    let rank = Rank { group: *group_priority, version: *version_priority };
                    claims.of_whole(who, contribution, rank);
                }
                Selection::Only(_) => claims.of_selection(who, contribution),
            }
        }
        claims
    }

    fn of_core(&mut self, who: usize, contribution: &'a Contribution) {
        let Some(discovery) = contribution.discovery.as_deref() else {
            let v1 = Offered { version: "v1", rank: Rank::LEGACY, offer: None };
            self.add("", Claim { who, extent: Extent::BuiltIn, versions: vec![v1] });
            return;
        };
        let mut ranks = CoreRanks::new(&contribution.selection);
        for (name, origin, offers) in self.offers(contribution, discovery) {
            ranks.next_group(name, origin);
            let rank = |(position, offer): (usize, &'a VersionOffer)| Offered {
                version: &offer.version,
                rank: ranks.rank(name, &offer.version, position),
                offer: Some(offer),
            };
            let versions = offers.into_iter().enumerate().map(rank).collect();
            let extent = match origin {
                Origin::BuiltIn => Extent::BuiltIn,
                Origin::CustomResource => Extent::Custom,
                Origin::Server => Extent::Relayed,
            };
            self.add(name, Claim { who, extent, versions });
        }
    }

    fn of_whole(&mut self, who: usize, contribution: &'a Contribution, rank: Rank) {
        let Some(discovery) = contribution.discovery.as_deref() else { return };
        for (name, _, offers) in self.offers(contribution, discovery) {
            let offered =
                |offer: &'a VersionOffer| Offered { version: &offer.version, rank, offer: Some(offer) };
            let versions = offers.into_iter().map(offered).collect();
            self.add(name, Claim { who, extent: Extent::Whole, versions });
        }
    }

    fn of_selection(&mut self, who: usize, contribution: &'a Contribution) {
        let Selection::Only(selected) = &contribution.selection else { return };
        let offers = contribution.discovery.as_deref().map(Offers::new).unwrap_or_default();
        let mut by_group: BTreeMap<&'a str, Vec<Offered<'a>>> = BTreeMap::new();
        for one in selected {
            let valid_group = one.group.is_empty() || is_group_name(&one.group);
            if !valid_group || !is_version_name(&one.version) {
                self.reject(&contribution.server.name, &one.group, Rejection::InvalidName);
                continue;
            }
            let versions = by_group.entry(&one.group).or_default();
            if versions.len() >= MAX_VERSIONS {
                self.reject(&contribution.server.name, &one.group, Rejection::TooManyVersions);
            } else if versions.iter().all(|seen| seen.version != one.version) {
                versions.push(Offered {
                    version: &one.version,
                    rank: Rank { group: one.group_priority, version: one.version_priority },
                    offer: offers.get(&one.group, &one.version),
                });
            }
        }
        for (group, versions) in by_group {
            self.add(group, Claim { who, extent: Extent::Selected, versions });
        }
    }

    /// The groups of a discovery with their usable versions, within the bounds, each name once.
    fn offers(
        &mut self,
        contribution: &'a Contribution,
        discovery: &'a Discovery,
    ) -> Vec<(&'a str, Origin, Vec<&'a VersionOffer>)> {
        let name = &contribution.server.name;
        let limit = max_groups(contribution.server.role);
        let mut offers = Vec::new();
        if !discovery.core.is_empty() {
            offers.push(("", Origin::BuiltIn, self.versions(name, "", &discovery.core)));
        }
        let mut seen = HashSet::new();
        for GroupOffer { name: group, origin, versions } in &discovery.groups {
            if seen.len() >= limit {
                self.reject(name, group, Rejection::TooManyGroups);
                break;
            }
            if !seen.insert(group) {
                self.reject(name, group, Rejection::Duplicate);
            } else if !is_group_name(group) {
                self.reject(name, group, Rejection::InvalidName);
            } else {
                offers.push((group.as_str(), *origin, self.versions(name, group, versions)));
            }
        }
        offers
    }

    fn versions(
        &mut self,
        name: &ServerName,
        group: &str,
        offers: &'a [VersionOffer],
    ) -> Vec<&'a VersionOffer> {
        let mut kept: Vec<&VersionOffer> = Vec::with_capacity(offers.len().min(MAX_VERSIONS));
        for offer in offers {
            if kept.len() >= MAX_VERSIONS {
                self.reject(name, group, Rejection::TooManyVersions);
                break;
            }
            if !is_version_name(&offer.version) {
                self.reject(name, group, Rejection::InvalidName);
            } else if kept.iter().any(|other| other.version == offer.version) {
                self.reject(name, group, Rejection::Duplicate);
            } else {
                kept.push(offer);
            }
        }
        kept
    }

    fn add(&mut self, group: &'a str, claim: Claim<'a>) {
        self.groups.entry(group).or_default().push(claim);
    }

    fn reject(&mut self, server: &ServerName, group: &str, why: Rejection) {
        self.rejected.push(Rejected { server: server.clone(), group: group.to_owned(), why });
    }
}

/// The versions of a discovery by name.
#[derive(Default)]
struct Offers<'a>(HashMap<(&'a str, &'a str), &'a VersionOffer>);

impl<'a> Offers<'a> {
    fn new(discovery: &'a Discovery) -> Self {
        let legacy = discovery.core.iter().map(|offer| ("", offer));
        let named = discovery.groups.iter().flat_map(|g| g.versions.iter().map(|offer| (&*g.name, offer)));
        let mut offers = Self::default();
        for (group, offer) in legacy.chain(named) {
            offers.0.entry((group, &offer.version)).or_insert(offer);
        }
        offers
    }

    fn get(&self, group: &str, version: &str) -> Option<&'a VersionOffer> {
        self.0.get(&(group, version)).copied()
    }
}

/// Whether this backend cannot say what it claims: its groups are discovered and it was never seen.
pub(crate) fn is_silent(contribution: &Contribution) -> bool {
    let discovers =
        contribution.server.role == Role::Core || matches!(contribution.selection, Selection::All { .. });
    discovers && contribution.discovery.is_none()
}
