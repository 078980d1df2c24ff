//! Types out of OpenAPI definitions, read as kube-apiserver reads its own.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::{Atom, Field, ListRelationship, ListType, MapType, PatchMeta, Scalar, TypeId, Types};

/// Written as a number or as text.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// Anything, taken as a whole.
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
/// Nesting of schemas inside one definition.
const MAX_DEPTH: usize = 128;

/// Why definitions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenApiError {
    /// A definition breaks a rule.
    #[error("definition {name}: {why}")]
    Definition {
        /// The definition.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// Reads the definitions, by name, of an OpenAPI document: `components.schemas` of version 3 or `definitions`
/// of version 2. With `preserve_unknown_fields`, objects may have fields that are not declared.
///
/// # Errors
/// When a definition names one that is not there, or has a list type, map type or type that does not exist.
pub fn read_definitions(
    definitions: &Map<String, Value>,
    preserve_unknown_fields: bool,
) -> Result<Types, OpenApiError> {
    let mut types = Types::empty();
    let (untyped, deduced) = types.add_common();
    let mut named = HashMap::new();
    for (name, schema) in definitions {
        let id = types.add(Atom::default());
        named.insert(name.clone(), id);
        types.names.insert(id, name.clone());
        for (api_version, kind) in kinds(schema) {
            types.kinds.insert((api_version, kind), id);
        }
    }
    let mut reader = Reader { types, named, untyped, deduced, overridden: Vec::new() };
    for (name, schema) in definitions {
        let because = |why| OpenApiError::Definition { name: name.clone(), why };
        let atom = match &**name {
            QUANTITY => Atom { scalar: Some(Scalar::Untyped), ..Atom::default() },
            RAW_EXTENSION => reader.types.atom(untyped).clone(),
            _ => reader.schema(schema, preserve_unknown_fields, 0).map_err(because)?,
        };
        reader.types.set(reader.named[name], atom);
    }
    Ok(reader.finish())
}

fn kinds(schema: &Value) -> Vec<(String, String)> {
    let text = |kind: &Value, name: &str| kind[name].as_str().map(str::to_owned);
    let all = schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten();
    let read = all.filter_map(|kind| {
        let (group, version) = (text(kind, "group")?, text(kind, "version")?);
        let api_version = if group.is_empty() { version } else { format!("{group}/{version}") };
        Some((api_version, text(kind, "kind")?))
    });
    read.collect()
}

struct Reader {
    types: Types,
    named: HashMap<String, TypeId>,
    untyped: TypeId,
    deduced: TypeId,
    /// A copy of a named type with another map type, to be made when all are read.
    overridden: Vec<(TypeId, TypeId, bool)>,
}

impl Reader {
    fn finish(mut self) -> Types {
        for (copy, original, atomic) in self.overridden {
            let mut atom = self.types.atom(original).clone();
            if let Some(map) = &mut atom.map {
                map.atomic = atomic;
            }
            self.types.set(copy, atom);
            if let Some(name) = self.types.names.get(&original).cloned() {
                self.types.names.insert(copy, name);
            }
        }
        self.types
    }

    fn schema(&mut self, schema: &Value, preserve: bool, depth: usize) -> Result<Atom, String> {
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} schemas inside each other"));
        }
        let preserve = preserve || schema["x-kubernetes-preserve-unknown-fields"] == true;
        let kind = schema["type"].as_str().unwrap_or_default();
        let scalar = |scalar| Ok(Atom { scalar: Some(scalar), ..Atom::default() });
        match kind {
            "" => Ok(Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve, depth)?),
                map: Some(self.map(schema, preserve, depth)?),
            }),
            "object" => Ok(Atom { map: Some(self.map(schema, preserve, depth)?), ..Atom::default() }),
            "array" => Ok(Atom { list: Some(self.list(schema, preserve, depth)?), ..Atom::default() }),
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" => match schema["format"].as_str().unwrap_or_default() {
                "" | "byte" => scalar(Scalar::String),
                _ => scalar(Scalar::Untyped),
            },
            other => Err(format!("unrecognized type {other:?}")),
        }
    }

    /// The type of a place that has a schema: a reference or one of its own.
    fn place(&mut self, schema: &Value, preserve: bool, depth: usize) -> Result<TypeId, String> {
        let reference =
            schema["$ref"].as_str().or_else(|| match schema["allOf"].as_array().map(Vec::as_slice) {
                Some([one]) => one["$ref"].as_str(),
                _ => None,
            });
        let Some(reference) = reference else {
            let atom = self.schema(schema, preserve, depth + 1)?;
            return Ok(self.types.add(atom));
        };
        let name = reference.rsplit('/').next().unwrap_or_default();
        let id = *self.named.get(name).ok_or_else(|| format!("no definition {name}"))?;
        let Some(atomic) = map_type(schema)? else { return Ok(id) };
        let copy = self.types.add(Atom::default());
        self.overridden.push((copy, id, atomic));
        Ok(copy)
    }

    fn map(&mut self, schema: &Value, preserve: bool, depth: usize) -> Result<MapType, String> {
        let mut fields = BTreeMap::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let type_id = self.place(field, preserve, depth)?;
            let default = field.get("default").cloned();
            fields.insert(name.clone(), Field { type_id, default, patch: patch_meta(field) });
        }
        let element = match &schema["additionalProperties"] {
            Value::Null if preserve || fields.is_empty() => Some(self.deduced),
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(self.deduced),
            element => Some(self.place(element, preserve, depth)?),
        };
        Ok(MapType { fields, element, atomic: map_type(schema)?.unwrap_or(false) })
    }

    fn list(&mut self, schema: &Value, preserve: bool, depth: usize) -> Result<ListType, String> {
        let element = match &schema["items"] {
            Value::Null if schema["type"] == "array" => {
                return Err("`items` must be specified on arrays".to_owned());
            }
            Value::Null => self.untyped,
            element => self.place(element, preserve, depth)?,
        };
        Ok(ListType { element, relationship: relationship(schema)? })
    }
}

fn patch_meta(field: &Value) -> PatchMeta {
    let strategies = field["x-kubernetes-patch-strategy"].as_str().unwrap_or_default();
    let strategy = strategies.split(',').find(|word| *word != "retainKeys").unwrap_or_default();
    let merge_key = field["x-kubernetes-patch-merge-key"].as_str().unwrap_or_default();
    PatchMeta { strategy: strategy.to_owned(), merge_key: merge_key.to_owned() }
}

/// Whether a map is one value; none when the schema does not say.
fn map_type(schema: &Value) -> Result<Option<bool>, String> {
    match &schema["x-kubernetes-map-type"] {
        Value::Null => Ok(None),
        Value::String(word) if word == "atomic" => Ok(Some(true)),
        Value::String(word) if word == "granular" => Ok(Some(false)),
        other => Err(format!("unknown map type {other}")),
    }
}

fn relationship(schema: &Value) -> Result<ListRelationship, String> {
    let keys = || -> Result<_, String> {
        let keys = schema["x-kubernetes-list-map-keys"].as_array().ok_or("missing map keys")?;
        let keys: Vec<_> = keys.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        // A list with keys of which there are none is a set.
        Ok(if keys.is_empty() { ListRelationship::Set } else { ListRelationship::Keys(keys) })
    };
    match &schema["x-kubernetes-list-type"] {
        Value::Null => {}
        Value::String(word) if word == "atomic" => return Ok(ListRelationship::Atomic),
        Value::String(word) if word == "set" => return Ok(ListRelationship::Set),
        Value::String(word) if word == "map" => return keys(),
        other => return Err(format!("unknown list type {other}")),
    }
    match schema["x-kubernetes-patch-strategy"].as_str() {
        None | Some("retainKeys") => Ok(ListRelationship::Atomic),
        Some("merge" | "merge,retainKeys") => {
            let key = schema["x-kubernetes-patch-merge-key"].as_str();
            Ok(key.map_or(ListRelationship::Set, |key| ListRelationship::Keys(vec![key.to_owned()])))
        }
        Some(other) => Err(format!("unknown patch strategy {other:?}")),
    }
}
