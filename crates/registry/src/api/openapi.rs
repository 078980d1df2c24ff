//! OpenAPI v3 of the two groups: enough for kubectl explain and for clients that look up patch types.

use serde_json::{Map, Value, json};

use super::schema;
use crate::object::Resource;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The document of one group version.
pub(super) fn document(resource: Resource) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Trellis", "version": resource.version() },
        "paths": paths(resource),
        "components": { "schemas": schemas(resource) },
    })
}

/// The Swagger 2.0 document of both.
pub(super) fn swagger() -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    for resource in Resource::ALL {
        paths.extend(swagger_paths(resource));
        definitions.extend(schemas(resource));
    }
    let mut document = json!({
        "swagger": "2.0",
        "info": { "title": "Trellis", "version": "v1" },
        "paths": paths,
        "definitions": definitions,
    });
    redirect(&mut document);
    document
}

fn name_of(resource: Resource) -> String {
    let mut reversed: Vec<&str> = resource.group().split('.').collect();
    reversed.reverse();
    format!("{}.{}.{}", reversed.join("."), resource.version(), resource.kind())
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn gvk(resource: Resource, kind: &str) -> Value {
    json!([{ "group": resource.group(), "kind": kind, "version": resource.version() }])
}

fn schemas(resource: Resource) -> Map<String, Value> {
    let name = name_of(resource);
    let (spec, status, description) = match resource {
        Resource::ApiServer => (schema::spec(), schema::status(), schema::DESCRIPTION),
        Resource::ApiService => (
            schema::api_service_spec(),
            schema::api_service_status(),
            "APIService represents a server for a particular GroupVersion. Name must be \"version.group\".",
        ),
    };
    let api_version = json!({ "type": "string", "description": "APIVersion defines the versioned schema of this representation of an object." });
    let kind = json!({ "type": "string", "description": "Kind is a string value representing the REST resource this object represents." });
    let object = json!({
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {
            "apiVersion": api_version, "kind": kind, "metadata": reference(META), "spec": spec, "status": status,
        },
        "x-kubernetes-group-version-kind": gvk(resource, resource.kind()),
    });
    let list_kind = format!("{}List", resource.kind());
    let list = json!({
        "type": "object",
        "description": format!("A list of {} objects.", resource.kind()),
        "required": ["items"],
        "properties": {
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": reference(LIST_META),
            "items": { "type": "array", "items": reference(&name) },
        },
        "x-kubernetes-group-version-kind": gvk(resource, &list_kind),
    });
    Map::from_iter([
        (name.clone(), object),
        (format!("{name}List"), list),
        (META.to_owned(), object_meta()),
        (
            LIST_META.to_owned(),
            json!({
                "type": "object",
                "description": "Metadata of a list.",
                "properties": { "resourceVersion": { "type": "string" }, "continue": { "type": "string" } },
            }),
        ),
    ])
}

fn object_meta() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let map = |description: &str| json!({ "type": "object", "additionalProperties": { "type": "string" }, "description": description });
    json!({
        "type": "object",
        "description": "Metadata that all objects have.",
        "properties": {
            "name": text("Name, unique among the objects of the kind."),
            "generateName": text("Prefix of a name that is made up when none is given."),
            "labels": map("Labels, for selection."),
            "annotations": map("Annotations, for everything else."),
            "uid": text("Unique in time and space."),
            "resourceVersion": text("Changes with every change of the object."),
            "generation": { "type": "integer", "format": "int64", "description": "Counts changes of spec." },
            "creationTimestamp": { "type": "string", "format": "date-time", "description": "When the object was made." },
            "managedFields": { "type": "array", "items": { "type": "object" }, "description": "Who set which field." },
        },
    })
}

fn collection_path(resource: Resource) -> String {
    format!("/apis/{}/{}", resource.api_version(), resource.plural())
}

fn paths(resource: Resource) -> Value {
    let name = name_of(resource);
    let operation = |action: &str, answer: &str| {
        json!({
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": { "group": resource.group(), "kind": resource.kind(), "version": resource.version() },
            "responses": { "200": { "description": "OK", "content": { "application/json": { "schema": reference(answer) } } } },
        })
    };
    let with_body = |mut operation: Value, types: &[&str]| {
        let content: Map<String, Value> =
            types.iter().map(|media| ((*media).to_owned(), json!({ "schema": reference(&name) }))).collect();
        operation["requestBody"] = json!({ "content": content });
        operation
    };
    let parameter =
        |name: &str, kind: &str| json!({ "name": name, "in": "query", "schema": { "type": kind } });
    let options = |mut operation: Value| {
        operation["parameters"] = json!([
            parameter("dryRun", "string"),
            parameter("fieldManager", "string"),
            parameter("fieldValidation", "string"),
            parameter("force", "boolean"),
        ]);
        operation
    };
    let list = format!("{name}List");
    let patches =
        ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
    let mut paths = Map::new();
    paths.insert(
        collection_path(resource),
        json!({
            "get": operation("list", &list),
            "post": options(with_body(operation("post", &name), &["application/json", "application/yaml"])),
            "delete": operation("deletecollection", &list),
        }),
    );
    paths.insert(format!("{}/{{name}}", collection_path(resource)), json!({
        "get": operation("get", &name),
        "put": options(with_body(operation("put", &name), &["application/json", "application/yaml"])),
        "patch": options(with_body(operation("patch", &name), &patches)),
        "delete": operation("delete", &name),
        "parameters": [{ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } }],
    }));
    paths.insert(format!("{}/{{name}}/status", collection_path(resource)), json!({
        "get": operation("get", &name),
        "parameters": [{ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } }],
    }));
    Value::Object(paths)
}

fn swagger_paths(resource: Resource) -> Map<String, Value> {
    let name = name_of(resource);
    let operation = |id: &str, action: &str, answer: &str| {
        json!({
            "operationId": format!("{id}{}{}", resource.kind(), resource.version()),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": { "group": resource.group(), "kind": resource.kind(), "version": resource.version() },
            "produces": ["application/json"],
            "responses": { "200": { "description": "OK", "schema": reference(answer) } },
        })
    };
    let with_body = |mut operation: Value, types: &[&str]| {
        operation["consumes"] = json!(types);
        operation["parameters"] =
            json!([{ "in": "body", "name": "body", "required": true, "schema": reference(&name) }]);
        operation
    };
    let list = format!("{name}List");
    let patches =
        ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
    Map::from_iter([
        (
            collection_path(resource),
            json!({
                "get": operation("list", "list", &list),
                "post": with_body(operation("create", "post", &name), &["application/json"]),
            }),
        ),
        (
            format!("{}/{{name}}", collection_path(resource)),
            json!({
                "get": operation("read", "get", &name),
                "put": with_body(operation("replace", "put", &name), &["application/json"]),
                "patch": with_body(operation("patch", "patch", &name), &patches),
                "delete": operation("delete", "delete", &name),
                "parameters": [{ "name": "name", "in": "path", "required": true, "type": "string" }],
            }),
        ),
    ])
}

/// References of OpenAPI v3 in the form of v2.
fn redirect(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                match inner {
                    Value::String(target) if name == "$ref" => {
                        *target = target.replace("#/components/schemas/", "#/definitions/");
                    }
                    inner => redirect(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redirect),
        _ => {}
    }
}
