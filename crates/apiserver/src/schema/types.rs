//! Types as patches and server-side apply see them: which lists are sets or have keys, which maps are
//! taken as a whole, what a strategic merge patch does with a field.
//!
//! They are read from the OpenAPI definitions that a server publishes, for kinds that are built in and for
//! custom resources alike.

mod custom;
mod openapi;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

pub use custom::add_custom_resource;
pub use openapi::{OpenApiError, read_definitions};

/// A type among [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(u32);

/// A set of types that may name each other.
#[derive(Clone, Debug)]
pub struct Types {
    atoms: Vec<Atom>,
    names: HashMap<TypeId, String>,
    kinds: HashMap<(String, String), TypeId>,
    /// Of what nothing is known.
    deduced: Option<TypeId>,
}

/// What a value of one type may be. Several at once when the type does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atom {
    /// A single value.
    pub scalar: Option<Scalar>,
    /// A list.
    pub list: Option<ListType>,
    /// A map or an object with declared fields.
    pub map: Option<MapType>,
}

/// A kind of single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Integer or float.
    Numeric,
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// Any of them.
    Untyped,
}

/// How a list is owned and merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListType {
    /// The type of its elements.
    pub element: TypeId,
    /// As a whole, or element by element.
    pub relationship: ListRelationship,
}

/// How the elements of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListRelationship {
    /// They are not: the list is one value.
    Atomic,
    /// By their value.
    Set,
    /// By the values of these fields.
    Keys(Vec<String>),
}

/// How a map is owned and merged.
#[derive(Clone, Debug, PartialEq)]
pub struct MapType {
    /// The declared fields.
    pub fields: BTreeMap<String, Field>,
    /// The type of every other entry; none when there may be no other.
    pub element: Option<TypeId>,
    /// Whether it is one value.
    pub atomic: bool,
}

/// A declared field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its type.
    pub type_id: TypeId,
    /// What it is when it is absent.
    pub default: Option<Value>,
    /// What a strategic merge patch does with it.
    pub patch: PatchMeta,
}

/// `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchMeta {
    /// `merge`, `replace` or nothing; `retainKeys` is of no meaning to a server.
    pub strategy: String,
    /// The field that tells list elements apart; empty for lists of single values.
    pub merge_key: String,
}

impl Types {
    /// The type of a kind, named as in an object.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.kinds.get(&(api_version.to_owned(), kind.to_owned())).copied()
    }

    /// What a type is.
    pub fn atom(&self, id: TypeId) -> &Atom {
        &self.atoms[id.0 as usize]
    }

    /// The last part of its name, as in `PodSpec`; empty when it has none.
    pub fn name(&self, id: TypeId) -> &str {
        self.names.get(&id).map_or("", |name| name.rsplit('.').next().unwrap_or_default())
    }

    /// The declared field of this name.
    pub fn field(&self, id: TypeId, name: &str) -> Option<&Field> {
        self.atom(id).map.as_ref()?.fields.get(name)
    }

    /// Whether values of this type may be anything, and nothing more is known of them.
    pub(crate) fn is_untyped(&self, id: TypeId) -> bool {
        self.deduced == Some(id) || self.atom(id).scalar == Some(Scalar::Untyped)
    }

    /// Types of which nothing is known: maps are merged, lists are one value.
    pub fn deduced() -> (Self, TypeId) {
        let mut types = Self::empty();
        let deduced = types.add_common().1;
        (types, deduced)
    }

    fn empty() -> Self {
        Self { atoms: Vec::new(), names: HashMap::new(), kinds: HashMap::new(), deduced: None }
    }

    fn add(&mut self, atom: Atom) -> TypeId {
        self.atoms.push(atom);
        // As many types as that do not fit into memory.
        TypeId(u32::try_from(self.atoms.len() - 1).unwrap_or(u32::MAX))
    }

    fn set(&mut self, id: TypeId, atom: Atom) {
        self.atoms[id.0 as usize] = atom;
    }

    /// Adds the type of what is one value, whatever it is, and the type of what nothing is known of.
    fn add_common(&mut self) -> (TypeId, TypeId) {
        let untyped = self.add(Atom::default());
        let deduced = self.add(Atom::default());
        let atom = |element: TypeId, atomic: bool| Atom {
            scalar: Some(Scalar::Untyped),
            list: Some(ListType { element: untyped, relationship: ListRelationship::Atomic }),
            map: Some(MapType { fields: BTreeMap::new(), element: Some(element), atomic }),
        };
        self.set(untyped, atom(untyped, true));
        self.set(deduced, atom(deduced, false));
        self.deduced = Some(deduced);
        (untyped, deduced)
    }
}

impl MapType {
    /// The type of the entry of this name; none when it is not declared and nothing else is allowed.
    pub fn entry(&self, name: &str) -> Option<TypeId> {
        self.fields.get(name).map(|field| field.type_id).or(self.element)
    }
}
