//! Puts the decisions together into a catalog, with every piece that the previous one has already.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    Catalog, Rejected, Rejection, ServerName,
    catalog::Forms,
    encoded::Encoded,
    routes::{GroupRoute, Routes},
};

use super::{
    assign::Holder,
    backends::Backends,
    claim::{Claim, Offered},
    fragment::{Fragment, Unusable},
    group::Group,
    rank::{Rank, aggregated_key, cmp_versions, legacy_key},
    specs::Specs,
    summary::Summary,
};

/// The pieces of a catalog, by what they were made from, for the next build.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    groups: HashMap<String, Arc<Group>>,
    fragments: HashMap<ServerName, HashMap<String, Vec<Arc<Fragment>>>>,
    api: Option<Arc<Summary>>,
    apis: Option<Arc<Summary>>,
}

/// A group with the priorities of its versions.
struct Ranked {
    group: Arc<Group>,
    ranks: Vec<Rank>,
}

/// What came out.
pub(crate) struct Assembled {
    pub(crate) catalog: Catalog,
    /// What could not be shown.
    pub(crate) unusable: Vec<Rejected>,
    /// Pieces that the catalog before did not have.
    pub(crate) made: usize,
}

/// A catalog in the making.
pub(crate) struct Assembly<'b> {
    previous: &'b Parts,
    specs: &'b Specs,
    old_routes: &'b Routes,
    backends: &'b Backends<'b>,
    parts: Parts,
    legacy: Option<Arc<Group>>,
    named: Vec<Ranked>,
    routes: Routes,
    documents: HashMap<Box<str>, Forms>,
    unusable: Vec<Rejected>,
    made: usize,
}

impl<'b> Assembly<'b> {
    pub(crate) fn new(previous: &'b Catalog, backends: &'b Backends<'b>) -> Self {
        let core = backends.core().and_then(|core| backends.server(core)).cloned();
        Self {
            previous: &previous.parts,
            specs: &previous.specs,
            old_routes: &previous.routes,
            backends,
            parts: Parts::default(),
            legacy: None,
            named: Vec::new(),
            routes: Routes { groups: HashMap::new(), core },
            documents: HashMap::new(),
            unusable: Vec::new(),
            made: 0,
        }
    }

    /// Adds one group.
    pub(crate) fn add(&mut self, group: &str, holder: &Holder<'_>, claims: &[Claim<'_>]) {
        if let Some(route) = self.route(holder) {
            self.routes.groups.insert(group.into(), route);
        }
        let mut versions = held_versions(holder, claims);
        if versions.is_empty() {
            return;
        }
        versions.sort_by(|(_, a), (_, b)| cmp_versions((a.version, a.rank), (b.version, b.rank)));
        let address = self.address(holder);
        let fragments: Vec<_> =
            versions.iter().map(|(who, offered)| self.fragment(group, *who, offered)).collect();
        self.document_versions(group, &fragments);
        let entry = self.group(group, fragments, address);
        if group.is_empty() {
            self.legacy = Some(entry);
        } else {
            self.documents.insert(format!("/apis/{group}").into(), Forms::only(&entry.document));
            self.named.push(Ranked { group: entry, ranks: versions.iter().map(|(_, o)| o.rank).collect() });
        }
    }

    /// Puts everything together.
    pub(crate) fn finish(mut self, generation: u64) -> Assembled {
        let api = Summary::of_api(self.legacy.as_ref(), self.previous.api.as_ref());
        let (legacy, aggregated) = orders(self.named);
        let apis = Summary::of_apis(legacy, aggregated, self.previous.apis.as_ref());
        self.documents.insert("/api".into(), Forms::both(&api));
        self.documents.insert("/apis".into(), Forms::both(&apis));
        let specs = Specs::collect(self.backends, &self.routes, (self.specs, self.old_routes), generation);
        let summaries = [(&self.previous.api, &api), (&self.previous.apis, &apis)];
        let taken_over = |(old, new): (&Option<Arc<Summary>>, &Arc<Summary>)| {
            old.as_ref().is_some_and(|old| Arc::ptr_eq(old, new))
        };
        self.made += summaries.into_iter().filter(|pair| !taken_over(*pair)).count();
        self.made += usize::from(!Arc::ptr_eq(&specs.index, &self.specs.index));
        self.parts.api = Some(api);
        self.parts.apis = Some(apis);
        let mut servers: Vec<_> =
            self.backends.contributions().iter().map(|c| Arc::clone(&c.server)).collect();
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        let catalog = Catalog {
            generation,
            servers,
            routes: Arc::new(self.routes),
            documents: Arc::new(self.documents),
            specs: Arc::new(specs),
            parts: Arc::new(self.parts),
        };
        Assembled { catalog, unusable: self.unusable, made: self.made }
    }

    fn route(&self, holder: &Holder<'_>) -> Option<GroupRoute> {
        Some(match holder {
            Holder::Whole(who) => GroupRoute::Whole(Arc::clone(self.backends.server(*who)?)),
            Holder::Shared(held) => GroupRoute::Versions(
                held.iter()
                    .filter_map(|(version, who)| {
                        Some(((*version).into(), Arc::clone(self.backends.server(*who)?)))
                    })
                    .collect(),
            ),
        })
    }

    /// Where clients may go directly with this group: only when one backend serves all of it.
    fn address(&self, holder: &Holder<'_>) -> Option<&'b str> {
        let who = sole(holder)?;
        self.backends.server(who)?.direct_address.as_deref()
    }

    fn fragment(&mut self, group: &str, who: usize, offered: &Offered<'_>) -> Arc<Fragment> {
        let Some(name) = self.backends.name(who) else {
            return Arc::new(Fragment::unseen(offered.version));
        };
        let known = self.previous.fragments.get(name).and_then(|groups| groups.get(group));
        let same = |f: &&Arc<Fragment>| f.version == offered.version && f.is_of(offered.offer);
        let fragment = match known.and_then(|fragments| fragments.iter().find(same)) {
            Some(same) => Arc::clone(same),
            None => {
                self.made += 1;
                Arc::new(match offered.offer {
                    Some(offer) => Fragment::new(group, offer),
                    None => Fragment::unseen(offered.version),
                })
            }
        };
        if let Some(unusable) = fragment.unusable {
            let why = match unusable {
                Unusable::TooLarge => Rejection::TooLarge,
                Unusable::NotResources => Rejection::InvalidResources,
            };
            self.unusable.push(Rejected { server: name.clone(), group: group.to_owned(), why });
        }
        let kept = self.parts.fragments.entry(name.clone()).or_default();
        kept.entry(group.to_owned()).or_default().push(Arc::clone(&fragment));
        fragment
    }

    fn group(&mut self, name: &str, fragments: Vec<Arc<Fragment>>, address: Option<&str>) -> Arc<Group> {
        let known = self.previous.groups.get(name).filter(|known| known.is_of(&fragments, address));
        let group = known.cloned().unwrap_or_else(|| {
            self.made += 1;
            Arc::new(Group::new(name, fragments, address))
        });
        self.parts.groups.insert(name.to_owned(), Arc::clone(&group));
        group
    }

    fn document_versions(&mut self, group: &str, fragments: &[Arc<Fragment>]) {
        for fragment in fragments {
            let Some(document) = &fragment.legacy else { continue };
            let path = match group {
                "" => format!("/api/{}", fragment.version),
                group => format!("/apis/{group}/{}", fragment.version),
            };
            self.documents.insert(path.into(), Forms::only(document));
        }
    }
}

impl Forms {
    fn only(document: &Arc<Encoded>) -> Self {
        Self { legacy: Arc::clone(document), aggregated: None }
    }

    fn both(summary: &Summary) -> Self {
        Self { legacy: Arc::clone(&summary.legacy), aggregated: Some(Arc::clone(&summary.aggregated)) }
    }
}

/// The one backend that has the whole group, when there is just one.
pub(crate) fn sole(holder: &Holder<'_>) -> Option<usize> {
    match holder {
        Holder::Whole(who) => Some(*who),
        Holder::Shared(held) => {
            let first = *held.values().next()?;
            held.values().all(|who| *who == first).then_some(first)
        }
    }
}

/// The versions that are shown, each with its backend.
fn held_versions<'a>(holder: &Holder<'a>, claims: &[Claim<'a>]) -> Vec<(usize, Offered<'a>)> {
    let claim_of = |who: usize| claims.iter().find(|claim| claim.who == who);
    match holder {
        Holder::Whole(who) => {
            claim_of(*who).map(|c| c.versions.iter().map(|o| (*who, *o)).collect()).unwrap_or_default()
        }
        Holder::Shared(held) => held
            .iter()
            .map(|(version, who)| {
                let offered = claim_of(*who).and_then(|claim| claim.find(version)).copied();
                (*who, offered.unwrap_or_else(|| Offered::unseen(version)))
            })
            .collect(),
    }
}

/// The groups in the order of the legacy form, and in that of the aggregated form.
fn orders(named: Vec<Ranked>) -> (Vec<Arc<Group>>, Vec<Arc<Group>>) {
    let mut legacy = BTreeMap::new();
    let mut aggregated = BTreeMap::new();
    for Ranked { group, ranks } in &named {
        let versions = group.versions.iter().map(|fragment| &*fragment.version).zip(ranks.iter().copied());
        legacy.insert(legacy_key(&group.name, versions), Arc::clone(group));
        aggregated.insert(aggregated_key(&group.name, ranks.iter().copied()), Arc::clone(group));
    }
    (legacy.into_values().collect(), aggregated.into_values().collect())
}
