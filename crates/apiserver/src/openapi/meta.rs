//! Definitions that all kinds share.

use serde_json::{Map, Value, json};

use super::META;

const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

pub(super) fn api_version() -> Value {
    json!({ "type": "string", "description": API_VERSION })
}

pub(super) fn kind() -> Value {
    json!({ "type": "string", "description": KIND })
}

/// Puts `apiVersion` and `kind` into an object.
pub(super) fn add_type(object: &mut Value) {
    object["properties"]["apiVersion"] = api_version();
    object["properties"]["kind"] = kind();
}

/// A field of one of the shared types.
pub(super) fn reference(name: &str, description: &str) -> Value {
    let reference = json!({ "$ref": format!("#/components/schemas/{META}.{name}") });
    json!({ "allOf": [reference], "default": {}, "description": description })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn number(description: &str) -> Value {
    json!({ "type": "integer", "format": "int64", "description": description })
}

fn texts(description: &str) -> Value {
    let values = json!({ "type": "string", "default": "" });
    json!({ "type": "object", "additionalProperties": values, "description": description })
}

fn time(description: &str) -> Value {
    json!({ "allOf": [{ "$ref": format!("#/components/schemas/{META}.Time") }], "description": description })
}

fn list_of(name: &str, description: &str) -> Value {
    let items =
        json!({ "allOf": [{ "$ref": format!("#/components/schemas/{META}.{name}") }], "default": {} });
    json!({ "type": "array", "items": items, "description": description })
}

/// `meta/v1`.
pub(super) fn schemas() -> Map<String, Value> {
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| all.insert(format!("{META}.{name}"), schema);
    add("Time", json!({ "type": "string", "format": "date-time", "description": "An RFC 3339 time." }));
    add("FieldsV1", json!({ "type": "object", "description": "A set of fields, as a trie of JSON." }));
    add("ObjectMeta", object_meta());
    add("OwnerReference", owner_reference());
    add("ManagedFieldsEntry", managed_fields_entry());
    add(
        "ListMeta",
        object(
            "Metadata of a list.",
            &[],
            json!({
                "continue": text("The token of the next page."),
                "remainingItemCount": number("How many objects follow, when that is known."),
                "resourceVersion": text("From where a watch goes on."),
                "selfLink": text("Deprecated: no longer set."),
            }),
        ),
    );
    add(
        "Preconditions",
        object(
            "What must be true of an object.",
            &[],
            json!({
                "resourceVersion": text("Its resource version."),
                "uid": text("Its UID."),
            }),
        ),
    );
    let mut delete = object(
        "Options of a deletion.",
        &[],
        json!({
            "dryRun": { "type": "array", "items": { "type": "string", "default": "" },
                "description": "`All`: nothing is kept.", "x-kubernetes-list-type": "atomic" },
            "gracePeriodSeconds": number("Seconds until the object goes."),
            "orphanDependents": { "type": "boolean", "description": "Deprecated: use the PropagationPolicy." },
            "preconditions": reference("Preconditions", "What must be true of the object."),
            "propagationPolicy": text("`Orphan`, `Background` or `Foreground`."),
        }),
    );
    add_type(&mut delete);
    add("DeleteOptions", delete);
    add(
        "Patch",
        json!({ "type": "object", "description": "A change, in the form that its media type says." }),
    );
    add(
        "StatusCause",
        object(
            "One cause of a failure.",
            &[],
            json!({
                "field": text("The field."),
                "message": text("For people."),
                "reason": text("For programs."),
            }),
        ),
    );
    add(
        "StatusDetails",
        object(
            "What a status is about.",
            &[],
            json!({
                "causes": list_of("StatusCause", "Causes of a failure."),
                "group": text("API group."),
                "kind": text("Kind or resource."),
                "name": text("Name."),
                "retryAfterSeconds": { "type": "integer", "format": "int32", "description": "When to try again." },
                "uid": text("UID."),
            }),
        ),
    );
    let mut status = object(
        "The outcome of a call that returns no object.",
        &[],
        json!({
            "code": { "type": "integer", "format": "int32", "description": "The HTTP status code." },
            "details": reference("StatusDetails", "Particulars."),
            "message": text("For people."),
            "metadata": reference("ListMeta", "Standard list metadata."),
            "reason": text("For programs."),
            "status": text("`Success` or `Failure`."),
        }),
    );
    add_type(&mut status);
    status["x-kubernetes-group-version-kind"] = json!([{ "group": "", "version": "v1", "kind": "Status" }]);
    add("Status", status);
    all
}

fn object(description: &str, required: &[&str], properties: Value) -> Value {
    let mut schema = json!({ "type": "object", "description": description, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn object_meta() -> Value {
    let mut owners = list_of("OwnerReference", "Objects on which this one depends.");
    owners["x-kubernetes-list-map-keys"] = json!(["uid"]);
    owners["x-kubernetes-list-type"] = "map".into();
    owners["x-kubernetes-patch-merge-key"] = "uid".into();
    owners["x-kubernetes-patch-strategy"] = "merge".into();
    let mut managed = list_of("ManagedFieldsEntry", "Who set which field.");
    managed["x-kubernetes-list-type"] = "atomic".into();
    object(
        "Metadata of an object.",
        &[],
        json!({
            "annotations": texts("Annotations, for what is not used to select objects."),
            "creationTimestamp": time("When it was made. Set by the server."),
            "deletionGracePeriodSeconds": number("Seconds between the request and the deletion. Set by the server."),
            "deletionTimestamp": time("When its deletion was asked for. Set by the server."),
            "finalizers": { "type": "array", "items": { "type": "string", "default": "" },
                "description": "What must be done before it may go.",
                "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" },
            "generateName": text("What a name begins with that the server makes."),
            "generation": number("Counts changes of what is wanted. Set by the server."),
            "labels": texts("Labels, for the selection of objects."),
            "managedFields": managed,
            "name": text("The name, unique in the namespace. Cannot be changed."),
            "namespace": text("The namespace. Cannot be changed."),
            "ownerReferences": owners,
            "resourceVersion": text("Changes with every change of the object. Set by the server."),
            "selfLink": text("Deprecated: no longer set."),
            "uid": text("Unique over time. Set by the server."),
        }),
    )
}

fn owner_reference() -> Value {
    let required = ["apiVersion", "kind", "name", "uid"];
    let mut schema = object(
        "An object on which another depends.",
        &required,
        json!({
            "apiVersion": { "type": "string", "default": "", "description": "API version of the owner." },
            "blockOwnerDeletion": { "type": "boolean",
                "description": "Whether the owner waits for it when it is deleted in the foreground." },
            "controller": { "type": "boolean", "description": "Whether the owner is its controller." },
            "kind": { "type": "string", "default": "", "description": "Kind of the owner." },
            "name": { "type": "string", "default": "", "description": "Name of the owner." },
            "uid": { "type": "string", "default": "", "description": "UID of the owner." },
        }),
    );
    schema["x-kubernetes-map-type"] = "atomic".into();
    schema
}

fn managed_fields_entry() -> Value {
    object(
        "Fields that one manager has set.",
        &[],
        json!({
            "apiVersion": text("The version in which the fields are named."),
            "fieldsType": text("Always `FieldsV1`."),
            "fieldsV1": { "allOf": [{ "$ref": format!("#/components/schemas/{META}.FieldsV1") }],
                "description": "The fields." },
            "manager": text("Who."),
            "operation": text("`Apply` or `Update`."),
            "subresource": text("Through which subresource."),
            "time": time("When."),
        }),
    )
}

/// `autoscaling/v1` `Scale`.
pub(super) fn scale() -> Map<String, Value> {
    const SCALE: &str = "io.k8s.api.autoscaling.v1";
    let count = || json!({ "type": "integer", "format": "int32" });
    let part = |name: &str| json!({ "allOf": [{ "$ref": format!("#/components/schemas/{SCALE}.{name}") }], "default": {} });
    let mut own = object(
        "How many there are, and how many are wanted.",
        &[],
        json!({
            "metadata": reference("ObjectMeta", "Standard object's metadata."),
            "spec": part("ScaleSpec"),
            "status": part("ScaleStatus"),
        }),
    );
    add_type(&mut own);
    own["x-kubernetes-group-version-kind"] =
        json!([{ "group": "autoscaling", "version": "v1", "kind": "Scale" }]);
    let spec = object("How many are wanted.", &[], json!({ "replicas": count() }));
    let status = object(
        "How many there are.",
        &["replicas"],
        json!({ "replicas": count(), "selector": text("Which they are.") }),
    );
    [("Scale", own), ("ScaleSpec", spec), ("ScaleStatus", status)]
        .map(|(name, schema)| (format!("{SCALE}.{name}"), schema))
        .into_iter()
        .collect()
}
