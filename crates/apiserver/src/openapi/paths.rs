//! The operations of a resource.

use kube_wire::discovery::v1::group_version;
use serde_json::{Map, Value, json};

use super::{META, list_schema_name, schema_name};
use crate::resource::{Definition, Version};

const PATCHES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];
const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// All paths of a version of a resource, in the form of version 3.
pub(super) fn of(definition: &Definition, version: &Version) -> Map<String, Value> {
    let root = match &*definition.group {
        "" => format!("/api/{}", version.name),
        group => format!("/apis/{}", group_version(group, &version.name)),
    };
    let plural = &definition.names.plural;
    let resource = Resource { definition, version };
    let mut paths = Map::new();
    let collection = match definition.namespaced() {
        true => format!("{root}/namespaces/{{namespace}}/{plural}"),
        false => format!("{root}/{plural}"),
    };
    if definition.namespaced() {
        let mut everywhere = Map::new();
        everywhere.extend(resource.operation("list", "", "get", "AllNamespaces"));
        add(&mut paths, format!("{root}/{plural}"), everywhere, &[]);
    }
    let place: &[&str] = if definition.namespaced() { &["namespace"] } else { &[] };
    let named: &[&str] = if definition.namespaced() { &["name", "namespace"] } else { &["name"] };
    let mut all = Map::new();
    for (verb, method) in [("list", "get"), ("create", "post"), ("deletecollection", "delete")] {
        all.extend(resource.operation(verb, "", method, ""));
    }
    add(&mut paths, collection.clone(), all, place);
    let mut subresources = vec![""];
    subresources.extend(definition.status.then_some("status"));
    subresources.extend(definition.scale.is_some().then_some("scale"));
    for subresource in subresources {
        let mut one = Map::new();
        for (verb, method) in [("get", "get"), ("update", "put"), ("patch", "patch"), ("delete", "delete")] {
            if verb != "delete" || subresource.is_empty() {
                one.extend(resource.operation(verb, subresource, method, ""));
            }
        }
        let path = format!("{collection}/{{name}}/{subresource}");
        add(&mut paths, path.trim_end_matches('/').to_owned(), one, named);
    }
    for action in &definition.actions {
        let method = if action.creates { "post" } else { "put" };
        let one = resource.operation(action.verb(), &action.name, method, "");
        add(&mut paths, format!("{collection}/{{name}}/{}", action.name), one.into_iter().collect(), named);
    }
    paths
}

fn add(paths: &mut Map<String, Value>, path: String, mut item: Map<String, Value>, place: &[&str]) {
    if item.is_empty() {
        return;
    }
    let mut parameters: Vec<Value> = place
        .iter()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    parameters.push(query("pretty", "string"));
    item.insert("parameters".to_owned(), parameters.into());
    paths.insert(path, item.into());
}

fn query(name: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": { "type": kind, "uniqueItems": true } })
}

struct Resource<'d> {
    definition: &'d Definition,
    version: &'d Version,
}

impl Resource<'_> {
    /// One operation under its method; none when the resource has no such verb.
    fn operation(&self, verb: &str, subresource: &str, method: &str, scope: &str) -> Option<(String, Value)> {
        let definition = self.definition;
        let action = definition.action(subresource);
        if action.is_none() && !definition.allows(verb) {
            return None;
        }
        let other = action.and_then(|action| action.kind.as_ref());
        let own = reference(&match (subresource, other) {
            (_, Some(kind)) => schema_name(kind, kind.stored_version()),
            ("scale", None) => SCALE.to_owned(),
            _ => schema_name(definition, self.version),
        });
        let (what, id) = match verb {
            "list" => ("list", "list"),
            "create" => ("post", "create"),
            "deletecollection" => ("deletecollection", "deleteCollection"),
            "update" => ("put", "replace"),
            "patch" => ("patch", "patch"),
            "delete" => ("delete", "delete"),
            _ => ("get", "read"),
        };
        let kind = match (subresource, other) {
            (_, Some(kind)) => json!({ "group": kind.group, "version": kind.stored_version().name,
                "kind": kind.names.kind }),
            ("scale", None) => json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" }),
            _ => json!({ "group": definition.group, "version": self.version.name,
                "kind": definition.names.kind }),
        };
        let answer = match verb {
            "list" => reference(&list_schema_name(definition, self.version)),
            "delete" | "deletecollection" => reference(&format!("{META}.Status")),
            _ => own.clone(),
        };
        let place = if definition.namespaced() && scope.is_empty() { "Namespaced" } else { "" };
        let mut operation = json!({
            "operationId": format!(
                "{id}{}{}{place}{}{}{scope}",
                camel(&definition.group), camel(&self.version.name), definition.names.kind, camel(subresource)
            ),
            "tags": [format!("{}_{}", definition.group.replace('.', "_"), self.version.name)],
            "parameters": parameters(verb),
            "responses": {
                "200": response("OK", &answer),
                "401": { "description": "Unauthorized" },
            },
            "x-kubernetes-action": what,
            "x-kubernetes-group-version-kind": kind,
        });
        if verb == "create" {
            operation["responses"]["201"] = response("Created", &answer);
            operation["responses"]["202"] = response("Accepted", &answer);
        }
        if verb == "delete" {
            operation["responses"]["202"] = response("Accepted", &answer);
        }
        let body = match verb {
            "create" | "update" => Some((own, ["application/json", "application/yaml"].as_slice(), true)),
            "patch" => Some((reference(&format!("{META}.Patch")), PATCHES.as_slice(), true)),
            "delete" | "deletecollection" => {
                Some((reference(&format!("{META}.DeleteOptions")), ["application/json"].as_slice(), false))
            }
            _ => None,
        };
        if let Some((schema, types, required)) = body {
            let content = types.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": schema })));
            let content: Map<_, _> = content.collect();
            operation["requestBody"] = json!({ "content": content });
            if required {
                operation["requestBody"]["required"] = true.into();
            }
        }
        Some((method.to_owned(), operation))
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn response(description: &str, schema: &Value) -> Value {
    let content =
        json!({ "application/json": { "schema": schema }, "application/yaml": { "schema": schema } });
    json!({ "description": description, "content": content })
}

fn parameters(verb: &str) -> Vec<Value> {
    const SELECT: [(&str, &str); 10] = [
        ("allowWatchBookmarks", "boolean"),
        ("continue", "string"),
        ("fieldSelector", "string"),
        ("labelSelector", "string"),
        ("limit", "integer"),
        ("resourceVersion", "string"),
        ("resourceVersionMatch", "string"),
        ("sendInitialEvents", "boolean"),
        ("timeoutSeconds", "integer"),
        ("watch", "boolean"),
    ];
    const WRITE: [(&str, &str); 3] =
        [("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
    const DELETE: [(&str, &str); 4] = [
        ("dryRun", "string"),
        ("gracePeriodSeconds", "integer"),
        ("orphanDependents", "boolean"),
        ("propagationPolicy", "string"),
    ];
    let names: Vec<(&str, &str)> = match verb {
        "list" => SELECT.to_vec(),
        "create" | "update" => WRITE.to_vec(),
        "patch" => WRITE.into_iter().chain([("force", "boolean")]).collect(),
        "delete" => DELETE.to_vec(),
        "deletecollection" => DELETE.into_iter().chain(SELECT).collect(),
        _ => Vec::new(),
    };
    names.into_iter().map(|(name, kind)| query(name, kind)).collect()
}

/// `library.example.com` as `LibraryExampleCom`; the part of upstream's groups that they all share is left out.
fn camel(text: &str) -> String {
    let parts = text.trim_end_matches(".k8s.io").split('.').filter(|part| !part.is_empty());
    parts.fold(String::new(), |mut out, part| {
        let mut letters = part.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        out.extend(letters);
        out
    })
}

/// Paths of version 3 as those of version 2.
pub(super) fn to_v2(paths: Map<String, Value>) -> Value {
    let mut paths = Value::Object(paths);
    for item in paths.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        for (method, operation) in item {
            match operation {
                Value::Array(parameters) if method == "parameters" => {
                    parameters.iter_mut().for_each(flat_parameter);
                }
                _ => operation_to_v2(operation),
            }
        }
    }
    super::schema::to_v2(&mut paths);
    paths
}

fn operation_to_v2(operation: &mut Value) {
    let Value::Object(fields) = operation else { return };
    let mut parameters = match fields.remove("parameters") {
        Some(Value::Array(parameters)) => parameters,
        _ => Vec::new(),
    };
    parameters.iter_mut().for_each(flat_parameter);
    if let Some(body) = fields.remove("requestBody") {
        let content = body["content"].as_object();
        let types: Vec<_> = content.into_iter().flat_map(Map::keys).cloned().collect();
        let schema = content.and_then(|content| content.values().next()).map(|one| one["schema"].clone());
        let mut parameter = json!({ "name": "body", "in": "body", "schema": schema });
        if body["required"] == true {
            parameter["required"] = true.into();
        }
        parameters.insert(0, parameter);
        fields.insert("consumes".to_owned(), types.into());
    }
    fields.insert("produces".to_owned(), json!(["application/json", "application/yaml"]));
    fields.insert("schemes".to_owned(), json!(["https"]));
    fields.insert("parameters".to_owned(), parameters.into());
    let responses = fields.get_mut("responses").and_then(Value::as_object_mut);
    for response in responses.into_iter().flat_map(Map::values_mut) {
        let schema = response["content"]["application/json"]["schema"].take();
        if let Value::Object(response) = response {
            response.remove("content");
            if !schema.is_null() {
                response.insert("schema".to_owned(), schema);
            }
        }
    }
}

fn flat_parameter(parameter: &mut Value) {
    let schema = parameter["schema"].take();
    if let (Value::Object(parameter), Value::Object(schema)) = (parameter, schema) {
        parameter.remove("schema");
        parameter.extend(schema);
    }
}
