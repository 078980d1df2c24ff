//! Schemas of custom resources are what kube-apiserver takes them for, and values under them, too.

use std::collections::BTreeSet;

use apiserver::{
    schema::{
        prune, shape,
        structural::{check, read_schema},
        validate,
    },
    validation::{FieldError, Path},
};
use kube_wire::status::StatusCause;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::recordings::lines;

#[test]
fn as_recorded() {
    let rows = lines("schemas.jsonl");
    assert!(rows.len() >= 80, "{} rows", rows.len());
    let wrong: Vec<String> = rows.iter().flat_map(replay).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn replay(row: &Value) -> Vec<String> {
    let schema = read_schema(&row["schema"]).unwrap();
    let errors = check(&schema, &Path::new("spec").child("validation").child("openAPIV3Schema"));
    let mut wrong = Vec::new();
    let (ours, theirs) = (causes(&errors), recorded(&row["causes"]));
    if (row["code"] == 201) != ours.is_empty() || ours != theirs {
        wrong.push(format!("{}: schema\nours {ours:?}\ntheirs {theirs:?}", row["row"]));
    }
    for value in row["values"].as_array().into_iter().flatten() {
        let mut object = value["sent"].clone();
        if let Err(error) = shape(&mut object, &schema) {
            let text = format!("{}: {}", error.field, error.message());
            if value["code"] != 400 || !value["message"].as_str().unwrap().ends_with(&text) {
                wrong.push(format!("{}: refused with {text}\ntheirs {}", row["row"], value["message"]));
            }
            continue;
        }
        if value["code"] == 400 {
            wrong.push(format!("{}: not refused\ntheirs {}", row["row"], value["message"]));
        }
        let (ours, theirs) = (causes(&validate(&object, &schema)), recorded(&value["causes"]));
        let same = ours == theirs && (value["code"] != 201 || object == value["object"]);
        if !same {
            let sent = &value["sent"]["spec"];
            wrong.push(format!(
                "{}: {sent}\nours {object} {ours:?}\ntheirs {} {theirs:?}",
                row["row"], value["object"]
            ));
        }
    }
    wrong
}

/// In no order: upstream walks maps. Why a pattern is none every engine says in its own words.
fn causes(errors: &[FieldError]) -> BTreeSet<(String, String, String)> {
    let all = errors.iter().map(StatusCause::from);
    all.map(|cause| (cause.field, cause.reason, without_engine(&cause.message))).collect()
}

fn without_engine(message: &str) -> String {
    message.split(", but isn't: ").next().unwrap_or_default().to_owned()
}

fn recorded(causes: &Value) -> BTreeSet<(String, String, String)> {
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let all = causes.as_array().into_iter().flatten();
    all.map(|cause| (text(cause, "field"), text(cause, "reason"), without_engine(&text(cause, "message"))))
        .collect()
}

#[test]
fn hostile_schemas_are_bounded() {
    let deep = (0..300).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    assert!(read_schema(&deep).is_err());
    let wide: Vec<Value> = vec![json!({}); 60_000];
    assert!(read_schema(&json!({"type": "object", "anyOf": wide})).is_err());
    let schema = read_schema(&json!({"type": "object", "properties": {
        "a": {"type": "string", "pattern": "(a{1000}){1000}"}, "b": {"type": "string", "pattern": "(a*)*b"},
    }}))
    .unwrap();
    let errors = check(&schema, &Path::new("schema"));
    assert_eq!(errors.len(), 1, "{errors:?}");
    // Linear: an engine that backtracks would not come to an end here.
    assert_eq!(validate(&json!({"b": "a".repeat(100_000)}), &schema).len(), 1);
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        "object|array|string|integer|[a-c]{0,2}".prop_map(Value::from),
    ];
    let key = "type|properties|items|additionalProperties|default|nullable|anyOf|not|enum|required|pattern|a|spec|x-kubernetes-list-type|x-kubernetes-preserve-unknown-fields";
    leaf.prop_recursive(5, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// No schema and no value makes a panic; nothing unknown is left by pruning.
    #[test]
    fn prop_any_schema(schema in anything(), value in anything()) {
        if let Ok(schema) = read_schema(&schema) {
            let _ = check(&schema, &Path::new("schema"));
            let mut object = value;
            let shaped = shape(&mut object, &schema);
            if shaped.is_ok() {
                prop_assert_eq!(prune(&mut object, &schema), Vec::<String>::new());
            }
            let _ = validate(&object, &schema);
        }
    }
}
