//! Who set which field: `metadata.managedFields`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    apply::{Conversion, ConversionError, FieldManager, FieldSet, keep_times},
    engine::{Call, Subresource},
    object::edit_metadata,
    openapi,
    resource::{Definition, Fields},
    schema::types::{TypeId, Types, read_definitions},
};

/// What has to be known of a kind to keep its managed fields.
#[derive(Debug)]
pub(crate) struct Ownership {
    types: Types,
    /// What a request for the object does not reach, by version.
    beside_object: BTreeMap<String, FieldSet>,
    /// What a request for the status does not reach, by version.
    beside_status: BTreeMap<String, FieldSet>,
}

impl Ownership {
    pub(crate) fn new(definition: &Definition) -> Self {
        let mut schemas = openapi::shared_schemas();
        let (mut beside_object, mut beside_status) = (BTreeMap::new(), BTreeMap::new());
        for version in &definition.versions {
            schemas.extend(openapi::kind_schemas(definition, version));
            if definition.status {
                let api_version = definition.api_version(version);
                let fields = version.schema.get("properties").and_then(Value::as_object);
                let names = fields.into_iter().flat_map(Map::keys).map(String::as_str);
                let names = names.chain(["metadata"]).filter(|name| *name != "status");
                let names: Vec<[&str; 1]> = names.map(|name| [name]).collect();
                let names: Vec<&[&str]> = names.iter().map(|name| &name[..]).collect();
                beside_status.insert(api_version.clone(), FieldSet::of_names(&names));
                beside_object.insert(api_version, FieldSet::of_names(&[&["status"]]));
            }
        }
        let types = read_definitions(&schemas, false).unwrap_or_else(|error| {
            // Then everything is taken as a whole, which is always right and never precise.
            tracing::warn!(resource = definition.qualified_name(), %error, "a schema says no types");
            Types::deduced().0
        });
        Self { types, beside_object, beside_status }
    }

    pub(crate) fn types(&self) -> &Types {
        &self.types
    }

    /// The type of the objects of a request.
    pub(crate) fn root(&self, call: &Call<'_>) -> Option<TypeId> {
        self.types.kind(&call.definition.api_version(call.version), &call.definition.names.kind)
    }

    /// An object in which nothing is set.
    pub(crate) fn empty(&self, call: &Call<'_>) -> Value {
        let (kind, api_version) = (&call.definition.names.kind, call.definition.api_version(call.version));
        match call.definition.unstructured {
            true => json!({ "apiVersion": api_version, "kind": kind }),
            false => json!({ "apiVersion": api_version, "kind": kind, "metadata": {} }),
        }
    }

    pub(crate) fn manager<'a>(
        &'a self,
        call: &Call<'a>,
        api_version: &'a str,
        empty: &'a Value,
    ) -> FieldManager<'a> {
        FieldManager {
            types: &self.types,
            conversion: call.definition,
            api_version,
            kind: &call.definition.names.kind,
            subresource: call.subresource.as_str(),
            ignored: match call.subresource {
                Subresource::Status => &self.beside_status,
                _ => &self.beside_object,
            },
            empty,
        }
    }
}

impl Conversion for Definition {
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
        let version = |name: &str| {
            let found = self.versions.iter().find(|version| self.api_version(version) == name);
            found.ok_or_else(|| ConversionError::NoVersion(name.to_owned()))
        };
        let (from, to) = (version(object["apiVersion"].as_str().unwrap_or_default())?, version(api_version)?);
        let Value::Object(fields) = object.clone() else {
            return Err(ConversionError::Failed("it is no object".to_owned()));
        };
        let failed = |status: kube_wire::Status| ConversionError::Failed(status.to_string());
        let stored = self.to_stored(from, fields).map_err(failed)?;
        Ok(Value::Object(self.of_stored(to, stored).map_err(failed)?))
    }
}

/// Notes who made a new object, which has its defaults.
pub(crate) fn on_create(call: &Call<'_>, fields: &mut Fields, now: &str) {
    let empty = call.definition.ownership().empty(call);
    track(call, fields, &empty, now);
}

/// Notes who changed what of an object, which has its defaults.
pub(crate) fn on_update(call: &Call<'_>, fields: &mut Fields, old: &Fields, now: &str) {
    let Ok(old) = call.definition.of_stored(call.version, old.clone()) else { return };
    track(call, fields, &Value::Object(old), now);
}

fn track(call: &Call<'_>, fields: &mut Fields, live: &Value, now: &str) {
    let Ok(new) = call.definition.of_stored(call.version, fields.clone()) else { return };
    let ownership = call.definition.ownership();
    let (empty, api_version) = (ownership.empty(call), call.definition.api_version(call.version));
    let manager = ownership.manager(call, &api_version, &empty);
    let mut tracked = manager.update(live, &Value::Object(new), call.manager, now);
    let mut entries = tracked["metadata"]["managedFields"].take();
    if call.subresource == Subresource::Scale {
        timeless_scales(&mut entries);
    }
    edit_metadata(fields, |metadata| match entries {
        Value::Null => metadata.remove("managedFields"),
        entries => metadata.insert("managedFields".to_owned(), entries),
    });
}

/// Upstream moves what is owned of a scale into the object without the time, and what has no time is first.
fn timeless_scales(entries: &mut Value) {
    let Value::Array(entries) = entries else { return };
    for entry in entries.iter_mut().filter(|entry| entry["subresource"] == "scale") {
        if let Value::Object(entry) = entry {
            entry.remove("time");
        }
    }
    // Among those with an operation alike; applies are before updates.
    entries.sort_by_key(|entry| (entry["operation"] != "Apply", entry.get("time").is_some()));
}

/// Whether nothing has changed that would be worth a write: times alone are not.
pub(crate) fn same(fields: &mut Fields, old: &Fields) -> bool {
    let mut new = Value::Object(std::mem::take(fields));
    keep_times(&mut new, &Value::Object(old.clone()));
    if let Value::Object(new) = new {
        *fields = new;
    }
    fields == old
}
