//! Version 3 documents made of Swagger.

use catalog::openapi::v2_to_v3;
use expect_test::expect;
use serde_json::{Value, json};

fn convert(document: &Value, group: &str, version: &str) -> Value {
    let text =
        v2_to_v3(document.to_string().as_bytes(), group, version).expect("converted").expect("some path");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn everything_in_its_new_place() {
    let document: Value = serde_json::from_str(include_str!("../golden/swagger.json")).expect("JSON");
    let converted = convert(&document, "g", "v1");
    let text = serde_json::to_string_pretty(&converted).expect("text") + "\n";
    expect_test::expect_file!["../golden/openapi3.json"].assert_eq(&text);
}

#[test]
fn only_the_group_version_and_what_it_needs() {
    let item = |definition: &str| json!({"get": {"responses": {"200": {"description": "", "schema": {"$ref": format!("#/definitions/{definition}")}}}}});
    let document = json!({
        "swagger": "2.0",
        "paths": {
            "/apis/g/v1/": item("A"), "/apis/g/v1/x": item("A"), "/apis/g/v2/x": item("C"), "/apis/g/": item("C"),
            "/api/v1/pods": item("C"),
        },
        "definitions": {"A": {"items": {"$ref": "#/definitions/B"}}, "B": {"items": {"$ref": "#/definitions/A"}}, "C": {}},
    });
    let converted = convert(&document, "g", "v1");
    let keys = |value: &Value| value.as_object().expect("object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&converted["paths"]), ["/apis/g/v1/", "/apis/g/v1/x"]);
    assert_eq!(keys(&converted["components"]["schemas"]), ["A", "B"]);
    assert_eq!(keys(&convert(&document, "", "v1")["paths"]), ["/api/v1/pods"]);
    assert!(v2_to_v3(document.to_string().as_bytes(), "h", "v1").expect("readable").is_none());
}

#[test]
fn references_have_no_siblings() {
    let document = json!({
        "swagger": "2.0",
        "paths": {"/apis/g/v1/x": {"post": {
            "parameters": [{"in": "body", "name": "body", "schema": {"$ref": "#/definitions/A", "description": "d"}}],
            "responses": {"200": {"description": ""}},
        }}},
        "definitions": {"A": {"properties": {"$ref": {"type": "string"}, "a": {"$ref": "#/definitions/A", "default": {}}}}},
    });
    let converted = convert(&document, "g", "v1");
    expect![[
        r##"{"content":{"*/*":{"schema":{"allOf":[{"$ref":"#/components/schemas/A"}],"description":"d"}}}}"##
    ]]
    .assert_eq(&converted["paths"]["/apis/g/v1/x"]["post"]["requestBody"].to_string());
    expect![[
        r##"{"$ref":{"type":"string"},"a":{"allOf":[{"$ref":"#/components/schemas/A"}],"default":{}}}"##
    ]]
    .assert_eq(&converted["components"]["schemas"]["A"]["properties"].to_string());
}
