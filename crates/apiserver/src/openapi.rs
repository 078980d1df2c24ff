//! OpenAPI documents, made from the schemas of the resources: version 3 for each version of a group,
//! version 2 for all together.

mod meta;
mod paths;
mod schema;

use std::{collections::BTreeMap, sync::Arc};

use kube_wire::{discovery::v1::group_version, etag};
use serde_json::{Map, Value, json};

use crate::{
    discovery::Tagged,
    resource::{Definition, Version},
};

/// What definitions are called that all kinds share.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// All documents.
#[derive(Clone, Debug)]
pub struct Documents {
    /// By path, as in `apis/example.com/v1` and `api/v1`; the hash is the tag without quotes.
    pub v3: BTreeMap<String, Tagged>,
    /// `/openapi/v3`: where the others are.
    pub index: Vec<u8>,
    /// `/openapi/v2`.
    pub v2: Tagged,
}

impl Documents {
    /// The documents of these resources.
    pub fn new(definitions: &[Arc<Definition>], title: &str, release: &str) -> Self {
        let mut groups: BTreeMap<String, Vec<(&Definition, &Version)>> = BTreeMap::new();
        for definition in definitions {
            for version in &definition.versions {
                groups.entry(path_of(definition, version)).or_default().push((definition, version));
            }
        }
        let info = json!({ "title": title, "version": release });
        let (mut v3, mut links) = (BTreeMap::new(), Map::new());
        let (mut all_paths, mut all_schemas) = (Map::new(), Map::new());
        for (path, kinds) in groups {
            let (mut paths, mut schemas) = (Map::new(), meta::schemas());
            for (definition, version) in kinds {
                schemas.extend(kind_schemas(definition, version));
                paths.extend(paths::of(definition, version));
                if definition.scale.is_some() {
                    schemas.extend(meta::scale());
                }
                for kind in definition.actions.iter().filter_map(|action| action.kind.as_ref()) {
                    schemas.extend(kind_schemas(kind, kind.stored_version()));
                }
            }
            let tagged = document(&json!({
                "openapi": "3.0.0", "info": info, "paths": paths, "components": { "schemas": schemas },
            }));
            let hash = tagged.etag.trim_matches('"');
            let url = format!("/openapi/v3/{path}?hash={hash}");
            links.insert(path.clone(), json!({ "serverRelativeURL": url }));
            v3.insert(path, tagged);
            all_paths.extend(paths);
            all_schemas.extend(schemas);
        }
        let index = serde_json::to_vec(&json!({ "paths": links })).unwrap_or_default();
        let mut swagger = json!({
            "swagger": "2.0",
            "info": info,
            "paths": paths::to_v2(all_paths),
            "definitions": all_schemas,
        });
        schema::to_v2(&mut swagger["definitions"]);
        Self { v3, index, v2: document(&swagger) }
    }
}

/// The definitions that all kinds share, by name.
pub fn shared_schemas() -> Map<String, Value> {
    meta::schemas()
}

/// The definitions of a kind and its list, by name, as in `components.schemas`.
pub fn kind_schemas(definition: &Definition, version: &Version) -> Map<String, Value> {
    let name = schema_name(definition, version);
    let kind = |kind: &str| json!([{ "group": definition.group, "version": version.name, "kind": kind }]);
    let mut schemas = Map::new();
    let mut own = schema::converted(&version.schema, &name, &mut schemas);
    meta::add_type(&mut own);
    own["properties"]["metadata"] = meta::reference("ObjectMeta", "Standard object's metadata.");
    own["x-kubernetes-group-version-kind"] = kind(&definition.names.kind);
    let list = json!({
        "description": format!("{} is a list of {}", definition.names.list_kind, definition.names.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": meta::api_version(),
            "items": { "type": "array", "description": format!("List of {}.", definition.names.plural),
                "items": { "$ref": format!("#/components/schemas/{name}") } },
            "kind": meta::kind(),
            "metadata": meta::reference("ListMeta", "Standard list metadata."),
        },
        "x-kubernetes-group-version-kind": kind(&definition.names.list_kind),
    });
    schemas.insert(list_schema_name(definition, version), list);
    schemas.insert(name, own);
    schemas
}

/// The name of a kind's definition: the group turned round, version and kind.
pub fn schema_name(definition: &Definition, version: &Version) -> String {
    let mut parts: Vec<&str> = match &*definition.group {
        "" => vec!["io", "k8s", "api", "core"],
        group => group.split('.').rev().collect(),
    };
    parts.extend([&*version.name, &*definition.names.kind]);
    parts.join(".")
}

/// The name of the definition of its list.
fn list_schema_name(definition: &Definition, version: &Version) -> String {
    let name = schema_name(definition, version);
    let folder = name.strip_suffix(&definition.names.kind).unwrap_or(&name);
    format!("{folder}{}", definition.names.list_kind)
}

fn path_of(definition: &Definition, version: &Version) -> String {
    let prefix = if definition.group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", group_version(&definition.group, &version.name))
}

fn document(value: &Value) -> Tagged {
    let json = serde_json::to_vec(value).unwrap_or_default();
    Tagged { etag: etag::strong(&json), json }
}
