//! The ownership rule: which backend gets a group, who is in conflict, and what is remembered.
//!
//! 1. What is built into the core belongs to the core, whatever is remembered. While the core is
//!    registered but was never seen, the groups that every core has built in are kept free for it.
//! 2. A remembered owner keeps its group for as long as it is registered and still claims it. An owner
//!    whose discovery is not known (yet) keeps it too: nobody else gets a group because a file was lost.
//! 3. A group that nobody holds goes to the oldest claim: by time of registration, then by name. What the
//!    core already serves from a CustomResourceDefinition counts as older than every registration, so that
//!    a registration seen for the first time never takes a group away from it.
//! 4. Claims on a whole group exclude all others. Claims on single versions (APIServices and the core's
//!    own custom resources) share a group, as upstream: there the rule is applied to each version.
//! 5. What the core's aggregation layer passes on gives way, version by version and without a conflict, to
//!    an APIService that is registered here: it is the same object.
//! 6. Nothing new is remembered while the core is registered but was never seen: its custom resources are
//!    not known yet, and their groups must be there for it when it comes. Until then groups are served by
//!    the oldest claim, provisionally.

use std::collections::BTreeMap;

use crate::{ServerName, built_in::is_built_in_group, ownership::Owner};

use super::{
    backends::Backends,
    claim::{Claim, Extent, Offered},
    rank::Rank,
};

/// Who serves a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    /// One backend, all versions.
    Whole(usize),
    /// Each version by its own backend.
    Shared(BTreeMap<&'a str, usize>),
}

/// A claim that was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clash<'a> {
    pub(crate) claimant: usize,
    pub(crate) owner: usize,
    /// None: the whole group.
    pub(crate) version: Option<&'a str>,
}

/// What was decided about one group.
#[derive(Debug)]
pub(crate) struct Decision<'a> {
    /// None when nobody has it.
    pub(crate) holder: Option<Holder<'a>>,
    pub(crate) clashes: Vec<Clash<'a>>,
    pub(crate) record: Option<Owner>,
}

/// Decides about `group`. The claims stand in order of age.
pub(crate) fn decide<'a>(
    group: &str,
    claims: &[Claim<'a>],
    record: Option<&'a Owner>,
    backends: &Backends<'_>,
) -> Decision<'a> {
    let question = Question { claims, backends };
    let holder = question.holder(group, record);
    let clashes = holder.as_ref().map(|holder| question.clashes(holder)).unwrap_or_default();
    let new = holder.as_ref().and_then(|holder| question.to_record(holder));
    let record = if backends.core_unseen() { keep_known(new, record) } else { new };
    Decision { holder, clashes, record }
}

struct Question<'q, 'a> {
    claims: &'q [Claim<'a>],
    backends: &'q Backends<'q>,
}

impl<'a> Question<'_, 'a> {
    fn holder(&self, group: &str, record: Option<&'a Owner>) -> Option<Holder<'a>> {
        if let Some(core) = self.built_in(group) {
            return Some(Holder::Whole(core));
        }
        match self.standing(record) {
            Some(Holder::Shared(held)) => Some(self.share(held)),
            Some(whole) => Some(whole),
            None => self.first(),
        }
    }

    /// Rule 1.
    fn built_in(&self, group: &str) -> Option<usize> {
        let core = self.backends.core()?;
        let says_so = self.claims.iter().any(|claim| claim.extent == Extent::BuiltIn && claim.who == core);
        let reserved = group.is_empty() || self.backends.core_unseen() && is_built_in_group(group);
        (says_so || reserved).then_some(core)
    }

    /// Rule 2: what is left of the memory.
    fn standing(&self, record: Option<&'a Owner>) -> Option<Holder<'a>> {
        match record? {
            Owner::Whole(name) => self.standing_whole(self.backends.index(name)?),
            Owner::Versions(versions) => self.standing_versions(versions),
        }
    }

    fn standing_whole(&self, who: usize) -> Option<Holder<'a>> {
        let Some(claim) = self.claim_of(who) else {
            return self.backends.is_silent(who).then_some(Holder::Whole(who));
        };
        match claim.extent {
            Extent::Whole | Extent::BuiltIn => Some(Holder::Whole(who)),
            // Its registration names versions now, or the core serves it in another way.
            Extent::Selected | Extent::Custom => {
                Some(Holder::Shared(claim.versions.iter().map(|offered| (offered.version, who)).collect()))
            }
            Extent::Relayed => None,
        }
    }

    fn standing_versions(&self, versions: &'a BTreeMap<String, ServerName>) -> Option<Holder<'a>> {
        let held: BTreeMap<&str, usize> = versions
            .iter()
            .filter_map(|(version, name)| Some((&**version, self.backends.index(name)?)))
            .filter(|(version, who)| self.keeps(*who, version))
            .collect();
        let whole = |who: &usize| self.claim_of(*who).is_some_and(|claim| claim.extent == Extent::Whole);
        match held.values().next() {
            None => None,
            // Its registration names no versions any more, and nobody else is in the group.
            Some(first) if whole(first) && held.values().all(|who| who == first) => {
                Some(Holder::Whole(*first))
            }
            Some(_) => {
                let shared = held.into_iter().filter(|(_, who)| !whole(who)).collect::<BTreeMap<_, _>>();
                (!shared.is_empty()).then_some(Holder::Shared(shared))
            }
        }
    }

    fn keeps(&self, who: usize, version: &str) -> bool {
        match self.claim_of(who) {
            None => self.backends.is_silent(who),
            Some(claim) => match claim.extent {
                Extent::Relayed => false,
                Extent::Whole | Extent::BuiltIn => true,
                Extent::Selected | Extent::Custom => claim.offers(version),
            },
        }
    }

    /// Rule 3.
    fn first(&self) -> Option<Holder<'a>> {
        let core_serves = |claim: &Claim<'_>| matches!(claim.extent, Extent::Custom | Extent::Relayed);
        if self.claims.iter().any(core_serves) {
            return Some(self.share(BTreeMap::new()));
        }
        let oldest = self.claims.first()?;
        match oldest.extent {
            Extent::Whole => Some(Holder::Whole(oldest.who)),
            _ => Some(self.share(BTreeMap::new())),
        }
    }

    /// Rules 4 and 5: gives the versions that nobody holds to those who claim single versions.
    fn share(&self, mut held: BTreeMap<&'a str, usize>) -> Holder<'a> {
        for extent in [Extent::Custom, Extent::Selected, Extent::Relayed] {
            for claim in self.claims.iter().filter(|claim| claim.extent == extent) {
                for offered in &claim.versions {
                    held.entry(offered.version).or_insert(claim.who);
                }
            }
        }
        Holder::Shared(held)
    }

    fn clashes(&self, holder: &Holder<'a>) -> Vec<Clash<'a>> {
        match holder {
            Holder::Whole(owner) => self
                .claims
                .iter()
                .filter(|claim| claim.who != *owner)
                .map(|claim| Clash { claimant: claim.who, owner: *owner, version: None })
                .collect(),
            Holder::Shared(held) => self.claims.iter().flat_map(|claim| clashes_in(held, claim)).collect(),
        }
    }

    fn to_record(&self, holder: &Holder<'a>) -> Option<Owner> {
        Some(match holder {
            Holder::Whole(who) => Owner::Whole(self.backends.name(*who)?.clone()),
            Holder::Shared(held) => {
                let named = |(version, who): (&&str, &usize)| {
                    Some(((*version).to_owned(), self.backends.name(*who)?.clone()))
                };
                Owner::Versions(held.iter().filter_map(named).collect())
            }
        })
    }

    fn claim_of(&self, who: usize) -> Option<&Claim<'a>> {
        self.claims.iter().find(|claim| claim.who == who)
    }
}

impl<'a> Claim<'a> {
    /// Whether `version` is among those claimed.
    pub(crate) fn offers(&self, version: &str) -> bool {
        self.find(version).is_some()
    }

    /// The claimed version with this name.
    pub(crate) fn find(&self, version: &str) -> Option<&Offered<'a>> {
        self.versions.iter().find(|offered| offered.version == version)
    }
}

impl<'a> Offered<'a> {
    /// A version that is held but that its holder does not offer at present.
    pub(crate) fn unseen(version: &'a str) -> Self {
        Self { version, rank: Rank::DEFAULT, offer: None }
    }
}

/// What `claim` does not get in a shared group.
fn clashes_in<'a>(held: &BTreeMap<&'a str, usize>, claim: &Claim<'a>) -> Vec<Clash<'a>> {
    let clash = |owner: usize, version| Clash { claimant: claim.who, owner, version };
    match claim.extent {
        Extent::Relayed => Vec::new(),
        Extent::Whole | Extent::BuiltIn => {
            held.values().next().map(|owner| clash(*owner, None)).into_iter().collect()
        }
        Extent::Selected | Extent::Custom => claim
            .versions
            .iter()
            .filter_map(|offered| Some((held.get(offered.version)?, offered.version)))
            .filter(|(owner, _)| **owner != claim.who)
            .map(|(owner, version)| clash(*owner, Some(version)))
            .collect(),
    }
}

/// Rule 6: of the new record only what was known before, also when the registration changed its kind.
fn keep_known(new: Option<Owner>, record: Option<&Owner>) -> Option<Owner> {
    let known = |old: &Owner, version: &str, name: &ServerName| match old {
        Owner::Whole(owner) => owner == name,
        Owner::Versions(versions) => versions.get(version) == Some(name),
    };
    match (new?, record?) {
        (Owner::Versions(new), old) => {
            let kept: BTreeMap<_, _> =
                new.into_iter().filter(|(version, name)| known(old, version, name)).collect();
            (!kept.is_empty()).then_some(Owner::Versions(kept))
        }
        (Owner::Whole(name), Owner::Whole(owner)) => (name == *owner).then_some(Owner::Whole(name)),
        (Owner::Whole(name), Owner::Versions(versions)) => {
            versions.values().any(|owner| *owner == name).then_some(Owner::Whole(name))
        }
    }
}
