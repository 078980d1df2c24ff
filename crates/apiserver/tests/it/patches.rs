//! Patches do what kube-apiserver does, and fail as it does.

use apiserver::patch::{PatchError, json_patch, merge_patch, strategic_merge_patch};
use kube_wire::Encoding;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recordings::{
    Sequence, Step, built_in, sequences, with_defaults, without_empty, without_server_fields,
};
use apiserver::schema::types::Types;

#[test]
fn as_recorded() {
    let types = built_in();
    let sequences = sequences("patches.jsonl");
    assert!(sequences.len() >= 15, "{} sequences", sequences.len());
    let mut wrong = Vec::new();
    for sequence in &sequences {
        wrong.extend(replay(sequence, &types));
    }
    assert!(wrong.is_empty(), "{} steps:\n{}", wrong.len(), wrong.join("\n"));
}

/// The steps that went otherwise.
fn replay(sequence: &Sequence, types: &Types) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut live = Value::Null;
    for (number, step) in sequence.steps.iter().enumerate() {
        if step.verb != "create" && !step.foreign {
            let patched = patch(&live, step, types);
            if let Err(why) = check(step, &patched) {
                wrong.push(format!("{}, step {}: {}: {why}", sequence.name, number + 1, step.body));
            }
        }
        if step.done() {
            live = step.answer.clone();
        }
    }
    wrong
}

fn patch(live: &Value, step: &Step, types: &Types) -> Result<Value, PatchError> {
    let strictly = step.validation != "Ignore";
    let (document, patch) = (live.clone(), step.body.clone());
    match &*step.verb {
        "json" => json_patch(document, &patch, strictly).map(|patched| patched.document),
        "merge" => merge_patch(document, patch, strictly),
        "strategic" => {
            let Value::Object(document) = document else { panic!("no object yet") };
            strategic_merge_patch(document, patch, types, step.root(types).unwrap()).map(Value::Object)
        }
        other => panic!("{other:?} is no patch"),
    }
}

fn check(step: &Step, patched: &Result<Value, PatchError>) -> Result<(), String> {
    match patched {
        Ok(_) if step.later => {
            let refused = step.code == 422 || step.code == 400;
            if refused { Ok(()) } else { Err(format!("the server took it: {}", step.answer)) }
        }
        Ok(patched) if step.done() => {
            let theirs = without_empty(&without_server_fields(&step.answer));
            let ours = without_empty(&without_server_fields(patched));
            let ours = with_defaults(&ours, &theirs);
            if ours == theirs { Ok(()) } else { Err(format!("ours\n{ours}\ntheirs\n{theirs}")) }
        }
        Ok(_) => Err(format!("the server refused: {}", step.answer)),
        Err(error) => {
            let ours: Value = serde_json::from_slice(&error.status().encode(Encoding::Json)).unwrap();
            if ours == step.answer {
                Ok(())
            } else {
                Err(format!("{error}\nours\n{ours}\ntheirs\n{}", step.answer))
            }
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]|\\$patch|metadata|spec|finalizers", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn operation() -> impl Strategy<Value = Value> {
    let kind = prop_oneof!["add", "remove", "replace", "move", "copy", "test", "x"];
    let path = "(/(a|b|c|-|0|1|-1|~0|~1|))?(/(a|b|c|-|0|1|-1|))?(/(a|0))?";
    (kind, path, path, value())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

fn without_nulls_in_lists(value: &Value, in_list: bool) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !in_list || !value.is_null());
            Value::Object(
                kept.map(|(name, value)| (name.clone(), without_nulls_in_lists(value, in_list))).collect(),
            )
        }
        Value::Array(items) => items.iter().map(|item| without_nulls_in_lists(item, true)).collect(),
        other => other.clone(),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("spec".to_owned(), other)]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// No JSON patch makes a panic, and a test of the result holds.
    #[test]
    fn prop_json_patch(document in value(), operations in prop::collection::vec(operation(), 0..8)) {
        if let Ok(patched) = json_patch(document, &Value::from(operations), false) {
            let test = json!([{"op": "test", "path": "", "value": patched.document}]);
            prop_assert!(json_patch(patched.document, &test, true).is_ok());
        }
    }

    /// What is no JSON patch is refused.
    #[test]
    fn prop_json_patch_reads_anything(document in value(), patch in value(), strictly: bool) {
        let _ = json_patch(document, &patch, strictly);
    }

    /// A merge patch that is carried out twice does no more than once. The exception is kube-apiserver's: a
    /// list that takes the place of an object keeps the nulls in its elements, and loses them then.
    #[test]
    fn prop_merge_patch(document in value(), patch in value(), strictly: bool) {
        let patch = without_nulls_in_lists(&patch, false);
        if let Ok(once) = merge_patch(document, patch.clone(), strictly) {
            prop_assert_eq!(merge_patch(once.clone(), patch, strictly).unwrap(), once);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No strategic merge patch makes a panic.
    #[test]
    fn prop_strategic_merge_patch(document in value(), patch in value()) {
        thread_local!(static TYPES: Types = built_in());
        TYPES.with(|types| {
            let root = types.kind("v1", "ConfigMap").unwrap();
            let _ = strategic_merge_patch(object(document), patch, types, root);
        });
    }
}

/// A patch cannot make a document that could not be read again, nor one without bounds.
#[test]
fn limits() {
    let deeper = vec![json!({"op": "copy", "from": "/a", "path": "/a/b"}); 200];
    let failed = json_patch(json!({"a": {}}), &Value::from(deeper), true).unwrap_err();
    assert_eq!(failed, PatchError::TooDeep);
    let nested = (0..200).fold(String::new(), |path, _| path + "/a");
    let add = json!([{"op": "add", "path": nested, "value": 1}]);
    assert_eq!(json_patch(json!({"a": {}}), &add, true).unwrap_err(), PatchError::TooDeep);

    let larger = vec![json!({"op": "copy", "from": "/a", "path": "/b/-"}); 400];
    let failed =
        json_patch(json!({"a": "x".repeat(10_000), "b": []}), &Value::from(larger), true).unwrap_err();
    assert!(matches!(failed, PatchError::CopiesTooMuch(_)), "{failed}");

    let many = vec![json!({"op": "test", "path": "/a", "value": 1}); 10_001];
    let failed = json_patch(json!({"a": 1}), &Value::from(many), true).unwrap_err();
    let status = failed.status();
    assert_eq!(status.code, 413);
    assert_eq!(
        status.message,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
}
