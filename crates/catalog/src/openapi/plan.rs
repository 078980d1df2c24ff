//! What of one server's document goes into the merged one, and under which names.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Claim, OpenApiError, Owner, gvk,
    identity::{self, Node},
    names::Names,
    parts::{Parts, Piece, Section},
    refs::{self, Renames},
};

/// The plan for one document.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Components to be written, by their number in the document.
    pub(super) emitted: HashMap<usize, Emitted>,
    pub(super) renames: Renames,
}

/// A component to be written.
#[derive(Debug)]
pub(super) struct Emitted {
    pub(super) suffix: String,
    /// The kinds that it may describe, when those in the document are not right.
    pub(super) kinds: Option<gvk::Kinds>,
}

/// Kinds that later servers add to definitions of earlier ones, by the name of the definition.
pub(super) type MoreKinds = HashMap<String, gvk::Kinds>;

/// The paths that the server owns.
pub(super) fn owned_paths<'p, 'a>(
    parts: &'p Parts<'a>,
    owner: &'p dyn Owner,
) -> impl Iterator<Item = &'p Piece<'a>> {
    parts.paths.iter().filter(|path| path.name.starts_with('/') && owner.owns(Claim::of(&path.name)))
}

/// Plans a document, and takes note of its names and kinds.
pub(super) fn plan(
    parts: &Parts<'_>,
    owner: &dyn Owner,
    names: &mut Names,
    more: &mut MoreKinds,
) -> Result<Plan, OpenApiError> {
    let graph = Graph::read(parts)?;
    let reached = graph.reached(parts, owner)?;
    let mut nodes = Vec::with_capacity(reached.len());
    let mut kinds = Vec::with_capacity(reached.len());
    for number in &reached {
        let (section, piece) = &parts.components[*number];
        let value: Value = serde_json::from_str(piece.text.get())?;
        let own = identity::named(section.key(), &piece.name, identity::content(&value));
        nodes.push(Node { own, targets: graph.targets[*number].clone() });
        kinds.push(if *section == Section::Definitions { gvk::read(&value) } else { gvk::Kinds::new() });
    }
    renumber(&mut nodes, &reached, parts.components.len());
    let identities = identity::closures(&nodes);

    let mut plan = Plan::default();
    for ((number, identity), kinds) in reached.into_iter().zip(identities).zip(kinds) {
        let (section, piece) = &parts.components[number];
        let taken = |name: &str| graph.index.contains_key(&(*section, name));
        let given = names.give(*section, &piece.name, identity, taken);
        let before = kinds.len();
        let kinds = if owner.is_core() { kinds } else { gvk::owned(kinds, owner) };
        let full = format!("{}{}", piece.name, given.suffix);
        if given.new {
            let kinds = (kinds.len() != before).then_some(kinds);
            plan.emitted.insert(number, Emitted { suffix: given.suffix.clone(), kinds });
        } else if !kinds.is_empty() {
            more.entry(full).or_default().extend(kinds);
        }
        if !given.suffix.is_empty() {
            plan.renames.insert((*section, piece.name.clone().into_owned()), given.suffix);
        }
    }
    Ok(plan)
}

/// The references between the components of a document.
struct Graph<'p> {
    index: HashMap<(Section, &'p str), usize>,
    targets: Vec<Vec<usize>>,
}

impl<'p> Graph<'p> {
    fn read(parts: &'p Parts<'_>) -> Result<Self, OpenApiError> {
        let components = parts.components.iter().enumerate();
        let index: HashMap<_, _> =
            components.map(|(number, (section, piece))| ((*section, &*piece.name), number)).collect();
        let mut graph = Self { index, targets: Vec::with_capacity(parts.components.len()) };
        for (_, piece) in &parts.components {
            let targets = graph.targets_of(piece)?;
            graph.targets.push(targets);
        }
        Ok(graph)
    }

    fn targets_of(&self, piece: &Piece<'_>) -> Result<Vec<usize>, OpenApiError> {
        let references = refs::collect(piece.text)?;
        let found = references.iter().filter_map(|(section, name)| self.index.get(&(*section, &**name)));
        let mut targets: Vec<_> = found.copied().collect();
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    /// The components that the owned paths need, and for the core also those that nothing refers to,
    /// in the document's order.
    fn reached(&self, parts: &Parts<'_>, owner: &dyn Owner) -> Result<Vec<usize>, OpenApiError> {
        let mut stack = Vec::new();
        for path in owned_paths(parts, owner) {
            stack.extend(self.targets_of(path)?);
        }
        if owner.is_core() {
            stack.extend(self.unused(parts)?);
        }
        let mut seen = vec![false; self.targets.len()];
        while let Some(number) = stack.pop() {
            if !std::mem::replace(&mut seen[number], true) {
                stack.extend(&self.targets[number]);
            }
        }
        Ok((0..seen.len()).filter(|number| seen[*number]).collect())
    }

    fn unused(&self, parts: &Parts<'_>) -> Result<Vec<usize>, OpenApiError> {
        let mut used = vec![false; self.targets.len()];
        self.targets.iter().flatten().for_each(|target| used[*target] = true);
        for path in &parts.paths {
            self.targets_of(path)?.into_iter().for_each(|target| used[target] = true);
        }
        Ok((0..used.len()).filter(|number| !used[*number]).collect())
    }
}

/// Targets by their place among the reached instead of their number in the document.
fn renumber(nodes: &mut [Node], reached: &[usize], components: usize) {
    let mut place = vec![None; components];
    reached.iter().enumerate().for_each(|(at, number)| place[*number] = Some(at));
    for node in nodes {
        node.targets = node.targets.iter().filter_map(|target| place[*target]).collect();
    }
}
