//! Priorities, and the orders that follow from them.

use std::{cmp::Ordering, cmp::Reverse, collections::HashMap};

use kube_wire::version::cmp_kube_aware;

use crate::{Origin, Selection};

/// The two priorities of a group version, with the meaning that they have in an APIService.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    /// `groupPriorityMinimum`: the highest of a group's versions counts.
    pub(crate) group: i32,
    /// `versionPriority`: within the group.
    pub(crate) version: i32,
}

impl Rank {
    /// What upstream assumes when nothing is said.
    pub(crate) const DEFAULT: Self = Self { group: 1000, version: 15 };
    /// The legacy group's v1.
    pub(crate) const LEGACY: Self = Self { group: 18_000, version: 1 };
}

/// The priorities of the core's groups. Where its APIServices are known they say it; else they follow from
/// the order in which the core lists its groups, which is the order of priorities that cannot be seen.
pub(crate) struct CoreRanks<'a> {
    known: HashMap<(&'a str, &'a str), Rank>,
    /// How many built-in groups came before.
    built_in: i32,
    /// Of the group at hand.
    group: i32,
    origin: Origin,
}

impl<'a> CoreRanks<'a> {
    /// The group that describes aggregation itself: first of all, above what an APIService may ask for.
    const AGGREGATION: (&'static str, i32) = ("apiregistration.k8s.io", 20_001);
    /// The first of the other built-in groups, and the distance between two of them, as upstream spaces them.
    const BUILT_IN: i32 = 17_800;
    const STEP: i32 = 100;
    /// Below which no built-in group falls, so that all of them stay above what is custom.
    const BUILT_IN_FLOOR: i32 = 2_001;
    /// What upstream gives to the versions of custom resources.
    const CUSTOM_VERSION: i32 = 100;

    pub(crate) fn new(selection: &'a Selection) -> Self {
        let known = match selection {
            Selection::All { .. } => HashMap::new(),
            Selection::Only(selected) => selected
                .iter()
                .map(|s| {
                    ((&*s.group, &*s.version), Rank { group: s.group_priority, version: s.version_priority })
                })
                .collect(),
        };
        Self { known, built_in: 0, group: Rank::DEFAULT.group, origin: Origin::Server }
    }

    /// Turns to the next group of the core's list.
    pub(crate) fn next_group(&mut self, group: &str, origin: Origin) {
        self.origin = origin;
        self.group = match origin {
            Origin::BuiltIn if group.is_empty() => Rank::LEGACY.group,
            Origin::BuiltIn if group == Self::AGGREGATION.0 => Self::AGGREGATION.1,
            Origin::BuiltIn => {
                let below = self.built_in.saturating_mul(Self::STEP);
                self.built_in += 1;
                Self::BUILT_IN.saturating_sub(below).max(Self::BUILT_IN_FLOOR)
            }
            Origin::CustomResource | Origin::Server => Rank::DEFAULT.group,
        };
    }

    /// The priorities of a version of the group at hand, which stands at `position` in the core's list.
    pub(crate) fn rank(&self, group: &str, version: &str, position: usize) -> Rank {
        if let Some(rank) = self.known.get(&(group, version)) {
            return *rank;
        }
        let version = match self.origin {
            Origin::CustomResource => Self::CUSTOM_VERSION,
            Origin::BuiltIn | Origin::Server => {
                Self::CUSTOM_VERSION.saturating_sub(i32::try_from(position).unwrap_or(i32::MAX))
            }
        };
        Rank { group: self.group, version }
    }
}

/// The order of versions within a group: priority, then the kube-aware order of names, best first.
pub(crate) fn cmp_versions(a: (&str, Rank), b: (&str, Rank)) -> Ordering {
    let priority = b.1.version.cmp(&a.1.version);
    priority.then_with(|| cmp_kube_aware(b.0, a.0)).then_with(|| a.0.cmp(b.0))
}

/// The sort key of a group in the aggregated document: highest priority first, equals by group name.
pub(crate) fn aggregated_key(group: &str, versions: impl Iterator<Item = Rank>) -> (Reverse<i32>, &str) {
    let best = versions.map(|rank| rank.group).max().unwrap_or(Rank::DEFAULT.group);
    (Reverse(best), group)
}

/// The sort key of a group in the legacy document: upstream sorts the APIServices, so that equals are
/// ordered by the name of the best APIService of the group, `version.group`.
pub(crate) fn legacy_key<'a>(
    group: &str,
    versions: impl Iterator<Item = (&'a str, Rank)>,
) -> (Reverse<i32>, String) {
    let keys = versions.map(|(version, rank)| (Reverse(rank.group), format!("{version}.{group}")));
    keys.min().unwrap_or((Reverse(Rank::DEFAULT.group), format!(".{group}")))
}
