//! OpenAPI of the example: v3 by group version, and v2 made from the same parts.

use serde_json::{Value, json};

use super::note::{GROUP, KIND, VERSION};

/// Path of the one document below `/openapi/v3/`.
pub(super) const PATH: &str = "apis/example.trellis.dev/v1";

const COLLECTION: &str = "/apis/example.trellis.dev/v1/namespaces/{namespace}/notes";
const ITEM: &str = "/apis/example.trellis.dev/v1/namespaces/{namespace}/notes/{name}";
const EVERYWHERE: &str = "/apis/example.trellis.dev/v1/notes";
const NOTE: &str = "dev.trellis.example.v1.Note";
const NOTE_LIST: &str = "dev.trellis.example.v1.NoteList";

/// Which of the two forms a part is written for; they differ in where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    V2,
    V3,
}

impl Form {
    fn reference(self, name: &str) -> Value {
        let place = if self == Self::V2 { "#/definitions/" } else { "#/components/schemas/" };
        json!({ "$ref": format!("{place}{name}") })
    }

    fn parameter(self, place: &str, name: &str, kind: &str, description: &str) -> Value {
        let mut parameter =
            json!({"in": place, "name": name, "required": place == "path", "description": description});
        match self {
            Self::V2 => parameter["type"] = json!(kind),
            Self::V3 => parameter["schema"] = json!({ "type": kind }),
        }
        parameter
    }

    fn answer(self, schema: &str) -> Value {
        match self {
            Self::V2 => json!({"200": {"description": "OK", "schema": self.reference(schema)}}),
            Self::V3 => {
                let content = json!({"application/json": {"schema": self.reference(schema)}});
                json!({"200": {"description": "OK", "content": content}})
            }
        }
    }
}

/// The v3 document.
pub(super) fn v3() -> Value {
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Trellis example", "version": "v1" },
        "paths": paths(Form::V3),
        "components": { "schemas": schemas(Form::V3) },
    })
}

/// The v2 document.
pub(super) fn v2() -> Value {
    json!({
        "swagger": "2.0",
        "info": { "title": "Trellis example", "version": "v1" },
        "paths": paths(Form::V2),
        "definitions": schemas(Form::V2),
    })
}

/// The v3 index; `hash` is that of the document.
pub(super) fn v3_index(hash: &str) -> Value {
    json!({"paths": { PATH: { "serverRelativeURL": format!("/openapi/v3/{PATH}?hash={hash}") } }})
}

fn paths(form: Form) -> Value {
    json!({
        EVERYWHERE: { "get": operation(form, "list", "listNoteForAllNamespaces", &selectors(form)) },
        COLLECTION: {
            "parameters": [form.parameter("path", "namespace", "string", "Namespace of the notes")],
            "get": operation(form, "list", "listNamespacedNote", &selectors(form)),
            "post": operation(form, "post", "createNamespacedNote", &writing(form)),
            "delete": operation(form, "deletecollection", "deleteCollectionNamespacedNote", &selectors(form)),
        },
        ITEM: {
            "parameters": [
                form.parameter("path", "namespace", "string", "Namespace of the note"),
                form.parameter("path", "name", "string", "Name of the note"),
            ],
            "get": operation(form, "get", "readNamespacedNote", &[]),
            "put": operation(form, "put", "replaceNamespacedNote", &writing(form)),
            "patch": operation(form, "patch", "patchNamespacedNote", &patching(form)),
            "delete": operation(form, "delete", "deleteNamespacedNote", &[]),
        },
    })
}

fn operation(form: Form, action: &str, id: &str, parameters: &[Value]) -> Value {
    let schema = if action == "list" { NOTE_LIST } else { NOTE };
    let mut operation = json!({
        "operationId": id,
        "tags": ["exampleTrellisDev_v1"],
        "parameters": parameters,
        "responses": form.answer(schema),
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": { "group": GROUP, "version": VERSION, "kind": KIND },
    });
    let body = match action {
        "post" | "put" => json!({"application/json": {"schema": form.reference(NOTE)}}),
        "patch" => {
            let any = json!({"schema": {"type": "object"}});
            json!({
                "application/json-patch+json": any,
                "application/merge-patch+json": any,
                "application/apply-patch+yaml": any,
            })
        }
        _ => return operation,
    };
    match form {
        Form::V3 => operation["requestBody"] = json!({"required": true, "content": body}),
        Form::V2 => {
            operation["consumes"] =
                body.as_object().into_iter().flatten().map(|(kind, _)| json!(kind)).collect();
            let schema = if action == "patch" { json!({"type": "object"}) } else { form.reference(NOTE) };
            if let Some(parameters) = operation["parameters"].as_array_mut() {
                parameters.push(json!({"in": "body", "name": "body", "required": true, "schema": schema}));
            }
        }
    }
    operation
}

fn selectors(form: Form) -> Vec<Value> {
    vec![
        form.parameter("query", "labelSelector", "string", "Labels that the notes must have"),
        form.parameter("query", "fieldSelector", "string", "metadata.name or metadata.namespace"),
        form.parameter("query", "resourceVersion", "string", "Where a watch begins"),
        form.parameter("query", "timeoutSeconds", "integer", "How long a watch lasts"),
        form.parameter("query", "watch", "boolean", "Whether changes are wanted instead of a list"),
    ]
}

fn writing(form: Form) -> Vec<Value> {
    vec![
        form.parameter("query", "dryRun", "string", "All: nothing is kept"),
        form.parameter("query", "fieldManager", "string", "Who owns the fields that are written"),
        form.parameter("query", "fieldValidation", "string", "Ignore, Warn or Strict"),
    ]
}

fn patching(form: Form) -> Vec<Value> {
    let mut parameters = writing(form);
    parameters.push(form.parameter("query", "force", "boolean", "Whether an apply takes fields from others"));
    parameters
}

fn schemas(form: Form) -> Value {
    let kind = |kind: &str| json!([{ "group": GROUP, "version": VERSION, "kind": kind }]);
    let text = |description: &str| json!({"type": "string", "description": description});
    let type_meta = json!({
        "apiVersion": text("Version of the form of this object"),
        "kind": text("Kind of this object"),
    });
    let mut note = json!({
        "type": "object",
        "description": "A note: a text with an author.",
        "required": ["spec"],
        "properties": type_meta,
        "x-kubernetes-group-version-kind": kind(KIND),
    });
    note["properties"]["metadata"] = json!({"type": "object", "description": "Standard object metadata"});
    note["properties"]["spec"] = spec();
    note["properties"]["status"] = json!({
        "type": "object",
        "description": "What the server says about the note",
        "properties": {
            "author": text("Who wrote it first, as the door told the server"),
            "words": {"type": "integer", "format": "int64", "description": "How long it is"},
        },
    });
    let mut list = json!({
        "type": "object",
        "description": "Notes.",
        "required": ["items"],
        "properties": type_meta,
        "x-kubernetes-group-version-kind": kind("NoteList"),
    });
    list["properties"]["metadata"] = json!({"type": "object", "description": "Standard list metadata"});
    list["properties"]["items"] =
        json!({"type": "array", "description": "The notes", "items": form.reference(NOTE)});
    json!({ NOTE: note, NOTE_LIST: list })
}

fn spec() -> Value {
    json!({
        "type": "object",
        "description": "What the author says",
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "description": "The text, at most 64 KiB"},
            "tags": {
                "type": "array",
                "description": "What it is about, at most 32 words",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "atomic",
            },
            "pinned": {"type": "boolean", "description": "Whether it stays on top"},
        },
    })
}
