//! When two definitions of the same name are the same: when they say the same, and everything that
//! they refer to, directly or not, says the same too. References may go in circles.

use std::collections::HashMap;

use serde_json::Value;
use sha2::{Digest, Sha512};

use super::gvk;

/// The identity of a definition with all that it refers to.
pub(super) type Identity = [u8; 32];

/// The hash of a definition alone: the order of keys does not count, nor do the kinds it describes.
pub(super) fn content(definition: &Value) -> Identity {
    let mut hash = Sha512::new();
    match definition {
        Value::Object(fields) => object(fields.iter().filter(|(key, _)| *key != gvk::KEY), &mut hash),
        other => value(other, &mut hash),
    }
    finish(hash)
}

fn value(value_: &Value, hash: &mut Sha512) {
    match value_ {
        Value::Object(fields) => object(fields.iter(), hash),
        Value::Array(items) => {
            hash.update([b'[']);
            hash.update(items.len().to_le_bytes());
            items.iter().for_each(|item| value(item, hash));
        }
        Value::String(text) => string(text, hash),
        Value::Null => hash.update([b'0']),
        Value::Bool(flag) => hash.update([b'b', u8::from(*flag)]),
        Value::Number(number) => {
            hash.update([b'n']);
            string(&number.to_string(), hash);
        }
    }
}

fn object<'v>(fields: impl Iterator<Item = (&'v String, &'v Value)>, hash: &mut Sha512) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(key, _)| *key);
    hash.update([b'{']);
    hash.update(fields.len().to_le_bytes());
    for (key, field) in fields {
        string(key, hash);
        value(field, hash);
    }
}

fn string(text: &str, hash: &mut Sha512) {
    hash.update([b's']);
    hash.update(text.len().to_le_bytes());
    hash.update(text);
}

fn finish(hash: Sha512) -> Identity {
    let mut identity = Identity::default();
    identity.copy_from_slice(&hash.finalize()[..32]);
    identity
}

/// A node of the graph of references.
pub(super) struct Node {
    /// Hash of name and content.
    pub(super) own: Identity,
    /// Nodes that it refers to.
    pub(super) targets: Vec<usize>,
}

/// The identity of each node with all that it reaches. Nodes that reach each other share one.
///
/// Takes time in proportion to nodes and references, whatever their shape, and no stack.
pub(super) fn closures(nodes: &[Node]) -> Vec<Identity> {
    let order = finish_order(nodes);
    let mut sources = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        node.targets.iter().for_each(|to| sources[*to].push(from));
    }
    let mut component = vec![usize::MAX; nodes.len()];
    let mut components = Vec::new();
    for root in order.into_iter().rev() {
        if component[root] == usize::MAX {
            components.push(spread(root, components.len(), &sources, &mut component));
        }
    }
    // A component comes before those that it refers to, so they are hashed from the end.
    let mut hashes: HashMap<usize, Identity> = HashMap::with_capacity(components.len());
    for (number, members) in components.iter().enumerate().rev() {
        let hash = hash_component(members, number, nodes, &component, &hashes);
        hashes.insert(number, hash);
    }
    component.iter().map(|number| hashes.get(number).copied().unwrap_or_default()).collect()
}

/// Nodes in the order in which a depth-first search leaves them.
fn finish_order(nodes: &[Node]) -> Vec<usize> {
    let mut seen = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    for root in 0..nodes.len() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match nodes[*node].targets.get(*next) {
                Some(target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*target], true) {
                        stack.push((*target, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// The nodes without a component that reach `root`, which is also all that `root` reaches of them.
fn spread(root: usize, number: usize, sources: &[Vec<usize>], component: &mut [usize]) -> Vec<usize> {
    component[root] = number;
    let mut members = vec![root];
    let mut next = 0;
    while let Some(node) = members.get(next).copied() {
        next += 1;
        for source in &sources[node] {
            if component[*source] == usize::MAX {
                component[*source] = number;
                members.push(*source);
            }
        }
    }
    members
}

fn hash_component(
    members: &[usize],
    number: usize,
    nodes: &[Node],
    component: &[usize],
    hashes: &HashMap<usize, Identity>,
) -> Identity {
    let mut own: Vec<_> = members.iter().map(|member| nodes[*member].own).collect();
    let outside = members.iter().flat_map(|member| &nodes[*member].targets).map(|target| component[*target]);
    let mut reached: Vec<_> =
        outside.filter(|other| *other != number).filter_map(|other| hashes.get(&other).copied()).collect();
    own.sort_unstable();
    reached.sort_unstable();
    reached.dedup();
    let mut hash = Sha512::new();
    hash.update(own.len().to_le_bytes());
    own.iter().chain(&reached).for_each(|part| hash.update(part));
    finish(hash)
}

/// The hash of a name and a content.
pub(super) fn named(section: &str, name: &str, content: Identity) -> Identity {
    let mut hash = Sha512::new();
    string(section, &mut hash);
    string(name, &mut hash);
    hash.update(content);
    finish(hash)
}
