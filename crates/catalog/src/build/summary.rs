//! The documents over all groups: `/api` and `/apis`.

use std::sync::Arc;

use kube_wire::discovery::v1::APIVersions;

use crate::{Document, encoded::Encoded};

use super::{
    fragment::line,
    group::{Group, addresses},
};

/// Both forms of one path, with the groups that they were made from.
#[derive(Debug)]
pub(crate) struct Summary {
    legacy_order: Vec<Arc<Group>>,
    aggregated_order: Vec<Arc<Group>>,
    pub(crate) legacy: Arc<Encoded>,
    pub(crate) aggregated: Arc<Encoded>,
}

impl Summary {
    /// `/apis`, from the groups in the orders of the two forms; `previous` when nothing changed.
    pub(crate) fn of_apis(
        legacy_order: Vec<Arc<Group>>,
        aggregated_order: Vec<Arc<Group>>,
        previous: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        if let Some(same) = previous.filter(|p| p.is_of(&legacy_order, &aggregated_order)) {
            return Arc::clone(same);
        }
        let listed = legacy_order.iter().map(|group| group.listed.as_str());
        let body = list(r#"{"kind":"APIGroupList","apiVersion":"v1","groups":["#, listed);
        Arc::new(Self {
            legacy: Arc::new(Encoded::new(Document::new(body, Document::JSON))),
            aggregated: aggregated(&aggregated_order),
            legacy_order,
            aggregated_order,
        })
    }

    /// `/api`, from the legacy group; without one it lists nothing, which all clients understand, where
    /// two answers of 404 (here and at `/apis`) make kubectl try again and again.
    pub(crate) fn of_api(group: Option<&Arc<Group>>, previous: Option<&Arc<Self>>) -> Arc<Self> {
        let order: Vec<Arc<Group>> = group.into_iter().cloned().collect();
        if let Some(same) = previous.filter(|p| p.is_of(&order, &order)) {
            return Arc::clone(same);
        }
        let body = line(&APIVersions {
            versions: order
                .iter()
                .flat_map(|g| &g.versions)
                .map(|fragment| fragment.version.clone())
                .collect(),
            server_address_by_client_cidrs: addresses(group.and_then(|group| group.address.as_deref())),
            ..APIVersions::default()
        });
        Arc::new(Self {
            legacy: Arc::new(Encoded::new(Document::new(body, Document::JSON))),
            aggregated: aggregated(&order),
            legacy_order: order.clone(),
            aggregated_order: order,
        })
    }

    fn is_of(&self, legacy_order: &[Arc<Group>], aggregated_order: &[Arc<Group>]) -> bool {
        same(&self.legacy_order, legacy_order) && same(&self.aggregated_order, aggregated_order)
    }
}

fn same(a: &[Arc<Group>], b: &[Arc<Group>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}

fn aggregated(groups: &[Arc<Group>]) -> Arc<Encoded> {
    const HEAD: &str =
        r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":["#;
    let body = list(HEAD, groups.iter().map(|group| group.aggregated.as_str()));
    let tags: String = groups.iter().map(|group| group.tag.as_str()).collect();
    Arc::new(Encoded::new(Document::of_parts(body, &tags, Document::AGGREGATED)))
}

/// A JSON object that ends with a list of these items, in one piece of memory.
fn list<'a>(head: &str, items: impl Iterator<Item = &'a str> + Clone) -> String {
    const TAIL: &str = "]}\n";
    let length: usize = items.clone().map(|item| item.len() + 1).sum();
    let mut text = String::with_capacity(head.len() + length + TAIL.len());
    text.push_str(head);
    for (position, item) in items.enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(item);
    }
    text.push_str(TAIL);
    text
}
