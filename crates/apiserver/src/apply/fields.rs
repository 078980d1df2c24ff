//! Sets of fields.

mod element;
mod encoding;

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::types::{TypeId, Types};

pub use element::PathElement;
pub(super) use element::shown;
pub use encoding::InvalidFields;

/// A set of paths in objects. A path can be in it without those above or below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: BTreeSet<PathElement>,
    /// None of them is empty.
    children: BTreeMap<PathElement, FieldSet>,
}

impl FieldSet {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these paths of field names.
    pub fn of_names(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            let path: Vec<_> = path.iter().map(|name| PathElement::Field((*name).to_owned())).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds a path. That of the whole object belongs to nobody.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => drop(self.members.insert(last.clone())),
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Whether this very path is in it.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|child| child.contains(rest)),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// How many paths are in it.
    pub fn len(&self) -> usize {
        self.members.len() + self.children.values().map(Self::len).sum::<usize>()
    }

    /// What is below this element.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.children.get(element)
    }

    pub(super) fn members(&self) -> &BTreeSet<PathElement> {
        &self.members
    }

    pub(super) fn children(&self) -> &BTreeMap<PathElement, Self> {
        &self.children
    }

    /// All paths: those that end here first, then those below each element.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, above: &mut Vec<PathElement>, paths: &mut Vec<Vec<PathElement>>) {
        for member in &self.members {
            paths.push(above.iter().chain([member]).cloned().collect());
        }
        for (element, child) in &self.children {
            above.push(element.clone());
            child.collect(above, paths);
            above.pop();
        }
    }

    /// What is in one or the other.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.extend(other);
        set
    }

    fn extend(&mut self, other: &Self) {
        self.members.extend(other.members.iter().cloned());
        for (element, child) in &other.children {
            match self.children.get_mut(element) {
                Some(own) => own.extend(child),
                None => drop(self.children.insert(element.clone(), child.clone())),
            }
        }
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let both =
            |element: &PathElement, child: &Self| Some(child.intersection(other.children.get(element)?));
        Self { members, children: self.kept(both) }
    }

    /// What is not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let left = |element: &PathElement, child: &Self| match other.children.get(element) {
            Some(other) => Some(child.difference(other)),
            None => Some(child.clone()),
        };
        Self { members, children: self.kept(left) }
    }

    /// What is not in the other and not below anything in it.
    #[must_use]
    pub fn without_below(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let left = |element: &PathElement, child: &Self| match other.children.get(element) {
            _ if other.members.contains(element) => None,
            Some(other) => Some(child.without_below(other)),
            None => Some(child.clone()),
        };
        Self { members, children: self.kept(left) }
    }

    fn kept(&self, child: impl Fn(&PathElement, &Self) -> Option<Self>) -> BTreeMap<PathElement, Self> {
        let kept =
            self.children.iter().filter_map(|(element, own)| Some((element.clone(), child(element, own)?)));
        kept.filter(|(_, child)| !child.is_empty()).collect()
    }

    /// With the declared fields above its paths, too: of `a.b.c` also `a` and `a.b`, when they are declared
    /// and no entries of a map.
    #[must_use]
    pub(super) fn with_named_fields(&self, types: &Types, id: Option<TypeId>) -> Self {
        let atom = id.map(|id| types.atom(id));
        let (map, list) = (atom.and_then(|atom| atom.map.as_ref()), atom.and_then(|atom| atom.list.as_ref()));
        let mut set = Self { members: self.members.clone(), children: BTreeMap::new() };
        for (element, child) in &self.children {
            let below = match (element, map, list) {
                (PathElement::Field(name), Some(map), _) => {
                    if map.fields.contains_key(name) {
                        set.members.insert(element.clone());
                    }
                    map.entry(name)
                }
                (PathElement::Key(_), _, Some(list)) => Some(list.element),
                _ => None,
            };
            set.children.insert(element.clone(), child.with_named_fields(types, below));
        }
        set
    }
}
