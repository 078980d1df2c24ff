//! Schemas of custom resources, and values under them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Server, line};

#[derive(Deserialize)]
struct Row {
    name: String,
    schema: Value,
    #[serde(default)]
    values: Vec<Value>,
}

const GROUP: &str = "schemas.example.com";

pub(super) fn record(server: &Server) -> String {
    let rows: Vec<Row> = super::rows("schemas.yaml");
    let definitions: Vec<Value> = (0..rows.len()).map(|number| definition(number, &rows[number])).collect();
    let defined: Vec<_> = definitions.iter().map(|definition| server.define(definition)).collect();
    let mut lines = String::new();
    for ((row, definition), answer) in rows.iter().zip(&definitions).zip(&defined) {
        let code = answer.code;
        let mut kept = json!({"row": row.name, "schema": row.schema, "code": code});
        if code == 201 {
            server.wait_for(definition);
            let values = row.values.iter().map(|value| create(server, definition, value));
            kept["values"] = values.collect();
        } else {
            refusal(&answer.body, &mut kept);
            assert!(row.values.is_empty(), "{}: {}", row.name, answer.body);
        }
        lines.push_str(&line(&kept));
    }
    for definition in &definitions {
        let path = format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
            definition["metadata"]["name"].as_str().unwrap()
        );
        server.send("DELETE", &path, "application/json", &json!({}));
    }
    lines
}

fn definition(number: usize, row: &Row) -> Value {
    let (plural, kind) = (format!("row{number:03}s"), format!("Row{number:03}"));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": row.schema}},
            ],
        },
    })
}

/// What becomes of an object with these members; nothing is stored.
fn create(server: &Server, definition: &Value, value: &Value) -> Value {
    let names = &definition["spec"]["names"];
    let mut object = value.clone();
    object["apiVersion"] = json!(format!("{GROUP}/v1"));
    object["kind"] = names["kind"].clone();
    if let Some(metadata) = object.as_object_mut().map(|object| object.entry("metadata").or_insert(json!({})))
    {
        metadata["name"] = json!("a");
    }
    let path = format!("/apis/{GROUP}/v1/{}?dryRun=All", names["plural"].as_str().unwrap());
    let answer = server.send("POST", &path, "application/json", &object);
    let mut shown = answer.body.clone();
    if answer.code == 201 {
        if let Some(metadata) = shown["metadata"].as_object_mut() {
            for name in ["managedFields", "uid", "creationTimestamp", "generation", "resourceVersion"] {
                metadata.remove(name);
            }
        }
        json!({"sent": object, "code": answer.code, "object": shown})
    } else {
        let mut kept = json!({"sent": object, "code": answer.code});
        refusal(&answer.body, &mut kept);
        kept
    }
}

/// Why something is refused. Upstream walks maps: causes come in another order each time, in the message, too.
fn refusal(answer: &Value, kept: &mut Value) {
    match answer["details"]["causes"].as_array() {
        Some(causes) => {
            let mut causes = causes.clone();
            causes.sort_by_key(Value::to_string);
            kept["causes"] = causes.into();
        }
        None => kept["message"] = answer["message"].clone(),
    }
}
