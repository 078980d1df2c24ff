//! Discovery documents in every encoding, as upstream writes them.

use kube_wire::{Encoding, discovery::encode};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::golden;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    name: String,
    #[serde(rename = "JSON")]
    json: String,
    pretty: String,
    #[serde(rename = "YAML")]
    yaml: String,
    protobuf: String,
}

fn check(case: &Case) {
    let text = |encoding| String::from_utf8(encode(case.json.as_bytes(), encoding).unwrap()).unwrap();
    assert_eq!(text(Encoding::Json), case.json, "{}", case.name);
    assert_eq!(text(Encoding::JsonPretty), case.pretty, "{}", case.name);
    // Which strings need quotes is each writer's own judgement.
    assert_eq!(read(&text(Encoding::Yaml)), read(&case.yaml), "{}", case.name);
    let protobuf = encode(case.json.as_bytes(), Encoding::Protobuf).unwrap();
    let hex: String = protobuf.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, case.protobuf, "{}", case.name);
}

fn read(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

#[test]
fn every_encoding_is_upstreams() {
    golden::cases("discovery_document").iter().for_each(check);
}

#[test]
fn what_is_no_discovery_document_has_no_protobuf_form() {
    for json in ["", "{}", "[]", r#"{"kind":"Pod"}"#, r#"{"kind":"APIGroupList","groups":1}"#] {
        assert_eq!(encode(json.as_bytes(), Encoding::Protobuf), None, "{json}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ -~]{0,6}", inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

proptest! {
    /// However odd the strings, only white space differs.
    #[test]
    fn indentation_changes_nothing(value in value()) {
        let compact = value.to_string();
        let indented = encode(compact.as_bytes(), Encoding::JsonPretty).unwrap();
        prop_assert_eq!(&serde_json::from_slice::<Value>(&indented).unwrap(), &value);
        prop_assert_eq!(indented, serde_json::to_vec_pretty(&value).unwrap());
    }
}
