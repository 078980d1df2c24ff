//! What a merge promises whatever the documents are.

use std::collections::BTreeMap;

use catalog::openapi::{encode_v2, v2_to_v3};
use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};

use crate::openapi_support::Federation;

/// Definitions by name: a type, and references to others, all of which are there.
fn definitions() -> impl Strategy<Value = BTreeMap<String, (u8, Vec<String>)>> {
    let name = || proptest::sample::select(&["A", "B", "C", "D", "A_v2"][..]).prop_map(str::to_owned);
    collection::btree_map(name(), (0u8..3, collection::vec(name(), 0..3)), 0..6).prop_map(|mut given| {
        let named: Vec<_> = given.values().flat_map(|(_, names)| names.clone()).collect();
        for name in named {
            given.entry(name).or_default();
        }
        given
    })
}

fn document(group: &str, definitions: &BTreeMap<String, (u8, Vec<String>)>) -> Value {
    let reference = |name: &String| json!({"$ref": format!("#/definitions/{name}")});
    let definition = |(kind, names): &(u8, Vec<String>)| {
        let fields: Map<_, _> =
            names.iter().enumerate().map(|(n, name)| (format!("p{n}"), reference(name))).collect();
        json!({"title": kind.to_string(), "properties": fields})
    };
    let paths: Map<_, _> = definitions
        .keys()
        .map(|name| (format!("/apis/{group}/v1/{name}"), json!({"get": {"schema": reference(name)}})))
        .collect();
    let definitions: Map<_, _> =
        definitions.iter().map(|(name, given)| (name.clone(), definition(given))).collect();
    json!({"swagger": "2.0", "paths": paths, "definitions": definitions})
}

/// The value with references replaced by what they mean, down to a depth at which circles must differ
/// if they differ at all.
fn unfolded(value: &Value, document: &Value, depth: usize) -> Value {
    match value {
        Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
            Some(_) if depth == 0 => json!("…"),
            Some(reference) => {
                let name = reference.strip_prefix("#/definitions/").expect("a definition");
                match document["definitions"].get(name) {
                    Some(definition) => unfolded(definition, document, depth - 1),
                    None => json!("dangling"),
                }
            }
            None => {
                fields.iter().map(|(key, value)| (key.clone(), unfolded(value, document, depth))).collect()
            }
        },
        other => other.clone(),
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(
            &["#/definitions/A", "#/parameters/p", "body", "query", "file", "2.0", "object", "é"][..]
        )
        .prop_map(Value::from),
    ];
    let keys = &[
        "$ref",
        "properties",
        "items",
        "allOf",
        "additionalProperties",
        "type",
        "in",
        "schema",
        "parameters",
        "responses",
        "get",
        "post",
        "200",
        "default",
        "x-a",
        "headers",
        "enum",
        "consumes",
        "description",
        "required",
    ][..];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::btree_map(proptest::sample::select(keys), inner, 0..5)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn every_path_means_what_its_server_meant(servers in collection::vec(definitions(), 1..5)) {
        let documents: Vec<_> =
            servers.iter().enumerate().map(|(n, given)| document(&format!("g{n}"), given)).collect();
        let mut federation = Federation::default();
        for (n, document) in documents.iter().enumerate() {
            federation = federation.with(&format!("s{n}"), &[&format!("g{n}")], &document.to_string());
        }
        let merged = federation.merged();
        for document in &documents {
            for (path, item) in document["paths"].as_object().into_iter().flatten() {
                prop_assert_eq!(unfolded(&merged["paths"][path], &merged, 7), unfolded(item, document, 7), "{}", path);
            }
        }
    }

    #[test]
    fn nothing_panics_on_strange_documents(path in json_value(), definition in json_value(), parameter in json_value(), rest in json_value()) {
        let document = json!({
            "swagger": "2.0", "info": rest, "securityDefinitions": rest, "consumes": null,
            "paths": {"/apis/g/v1/x": path, "x-y": rest},
            "definitions": {"A": definition}, "parameters": {"p": parameter}, "responses": {"r": path},
        }).to_string();
        let merged = Federation::default().with("a", &["g"], &document).with("core", &[], &document).merge();
        prop_assert!(merged.is_ok_and(|merged| merged.protobuf().is_ok()));
        prop_assert!(encode_v2(document.as_bytes()).is_ok());
        prop_assert!(v2_to_v3(document.as_bytes(), "g", "v1").is_ok_and(|found| found.is_some()));
    }

    #[test]
    fn nothing_panics_on_what_is_no_document(text in "[{}\\[\\]\",:a0. -]{0,60}", cut in 0usize..200) {
        let _ = encode_v2(text.as_bytes());
        let whole = include_bytes!("../golden/swagger.json");
        prop_assert!(encode_v2(&whole[..cut]).is_err());
    }
}
