//! What kube-apiserver answered, as the tests of the workspace recorded it.

use std::path::Path;

use apiserver::schema::types::{TypeId, Types, read_definitions};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Steps on one object.
pub struct Sequence {
    pub name: String,
    pub steps: Vec<Step>,
}

/// A request and the answer to it.
#[derive(Deserialize)]
pub struct Step {
    pub verb: String,
    pub api_version: String,
    pub kind: String,
    pub body: Value,
    pub code: u16,
    pub answer: Value,
    /// The user agent.
    pub agent: String,
    #[serde(default)]
    pub manager: String,
    #[serde(default)]
    pub subresource: String,
    #[serde(default)]
    pub force: bool,
    #[serde(default)]
    pub validation: String,
    /// What comes after a patch refuses it.
    #[serde(default)]
    pub later: bool,
    /// Refused before the patch is looked at.
    #[serde(default)]
    pub foreign: bool,
}

/// The lines of a record.
pub fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(file);
    let text = fs_err::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sequences of a record.
pub fn sequences(file: &str) -> Vec<Sequence> {
    let mut sequences: Vec<Sequence> = Vec::new();
    for line in lines(file) {
        match line["sequence"].as_str() {
            Some(name) => {
                sequences.push(Sequence { name: name.to_owned(), steps: Vec::new() });
            }
            None => sequences.last_mut().unwrap().steps.push(serde_json::from_value(line).unwrap()),
        }
    }
    sequences
}

/// The definitions of the kinds that are built in.
pub fn definitions() -> Map<String, Value> {
    let pairs = lines("definitions.jsonl").into_iter();
    pairs.map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].clone())).collect()
}

/// Their types.
pub fn built_in() -> Types {
    read_definitions(&definitions(), false).unwrap()
}

/// What records are made from.
pub fn yaml(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(file);
    serde_saphyr::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

impl Step {
    /// The type of the object, where the kind is built in.
    pub fn root(&self, types: &Types) -> Option<TypeId> {
        types.kind(&self.api_version, &self.kind)
    }

    pub fn done(&self) -> bool {
        self.code < 300
    }
}

/// An object without what the server alone writes.
pub fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for name in [
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "managedFields",
            "deletionTimestamp",
        ] {
            metadata.remove(name);
        }
    }
    object
}

/// `object` with what `server` filled in: fields that are not there. What else is different stays so.
pub fn with_defaults(object: &Value, server: &Value) -> Value {
    match (object, server) {
        (Value::Object(object), Value::Object(server)) => {
            let mut filled = object.clone();
            for (name, value) in server {
                let filled = filled.entry(name.clone()).or_insert_with(|| value.clone());
                *filled = with_defaults(filled, value);
            }
            Value::Object(filled)
        }
        (Value::Array(object), Value::Array(server)) if object.len() == server.len() => {
            object.iter().zip(server).map(|(object, server)| with_defaults(object, server)).collect()
        }
        // A null is as good as nothing, where there is a default.
        (Value::Null, default) => default.clone(),
        (other, _) => other.clone(),
    }
}

/// Without what an object that is built in does not write when it is empty.
pub fn without_empty(value: &Value) -> Value {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(kept.filter(|(_, value)| !empty(value)).collect())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}
