//! The merge of Swagger documents.

use catalog::openapi::{Claim, OpenApiError};
use serde_json::{Value, json};

use crate::openapi_support::Federation;

/// A document with these paths, each of which refers to one definition, and these definitions.
fn swagger(title: &str, paths: &[(&str, &str)], definitions: Value) -> String {
    let item = |definition: &str| json!({"get": {"responses": {"200": {"description": "OK", "schema": {"$ref": format!("#/definitions/{definition}")}}}}});
    let paths: serde_json::Map<_, _> =
        paths.iter().map(|(path, definition)| ((*path).to_owned(), item(definition))).collect();
    json!({"swagger": "2.0", "info": {"title": title, "version": "v1"}, "paths": paths, "definitions": definitions})
        .to_string()
}

/// The definition to which a path of the merged document refers.
fn definition_of<'m>(merged: &'m Value, path: &str) -> (&'m str, &'m Value) {
    let reference = merged["paths"][path]["get"]["responses"]["200"]["schema"]["$ref"].as_str().expect(path);
    let name = reference.strip_prefix("#/definitions/").expect("a definition");
    (name, &merged["definitions"][name])
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const ROOT: &str = "/apis/a/v1/things";
const OTHER: &str = "/apis/b/v1/things";

#[test]
fn paths_belong_to_their_owners() {
    let all = [
        ("/version/", "X"),
        ("/api/v1/pods", "X"),
        ("/apis/", "X"),
        ("/apis/a/", "X"),
        (ROOT, "X"),
        (OTHER, "X"),
    ];
    let text = swagger("t", &all, json!({"X": {"type": "string"}}));
    let merged = Federation::default().with("core", &[], &text).with("a", &["a"], &text).merged();
    assert_eq!(keys(&merged["paths"]), ["/api/v1/pods", "/apis/", "/apis/a/", ROOT, OTHER, "/version/"]);
    let alone = Federation::default().with("a", &["a"], &text).merged();
    assert_eq!(keys(&alone["paths"]), ["/apis/a/", ROOT]);
}

#[test]
fn what_only_foreign_paths_need_is_left_out() {
    let text = swagger(
        "t",
        &[(ROOT, "X"), (OTHER, "Y")],
        json!({"X": {"properties": {"z": {"$ref": "#/definitions/Z"}}}, "Y": {}, "Z": {}, "Unused": {}}),
    );
    let merged = Federation::default().with("a", &["a"], &text).merged();
    assert_eq!(keys(&merged["definitions"]), ["X", "Z"]);
    let core = Federation::default()
        .with("core", &[], &text)
        .with("b", &["b"], &swagger("b", &[], json!({})))
        .merged();
    assert_eq!(keys(&core["definitions"]), ["Unused", "X", "Z"]);
}

#[test]
fn equal_definitions_are_shared_whatever_the_order_of_keys() {
    let one = swagger("a", &[(ROOT, "X")], json!({"X": {"description": "d", "type": "object"}}));
    let two = format!(
        r##"{{"definitions": {{"X": {{"type": "object",  "description": "\u0064"}}}}, "swagger": "2.0",
            "paths": {{"{OTHER}": {{"get": {{"schema": {{"$ref": "#/definitions/X"}}}}}}}}}}"##
    );
    let merged = Federation::default().with("a", &["a"], &one).with("b", &["b"], &two).merged();
    assert_eq!(keys(&merged["definitions"]), ["X"]);
    assert_eq!(merged["paths"][OTHER]["get"]["schema"]["$ref"], "#/definitions/X");
    assert_eq!(merged["info"]["title"], "a");
}

#[test]
fn different_definitions_get_names_of_their_own() {
    let version = |group: &str, kind: &str| {
        swagger("t", &[(&format!("/apis/{group}/v1/things"), "X")], json!({"X": {"type": kind}}))
    };
    let merged = Federation::default()
        .with("a", &["a"], &version("a", "string"))
        .with("b", &["b"], &version("b", "object"))
        .with("c", &["c"], &version("c", "number"))
        .with("d", &["d"], &version("d", "object"))
        .merged();
    for (group, name, kind) in
        [("a", "X", "string"), ("b", "X_v2", "object"), ("c", "X_v3", "number"), ("d", "X_v2", "object")]
    {
        let (found, definition) = definition_of(&merged, &format!("/apis/{group}/v1/things"));
        assert_eq!((found, &definition["type"]), (name, &json!(kind)), "{group}");
    }
}

/// Upstream shares `X` here, and so lets server b's `X` refer to server a's `Y`.
#[test]
fn a_definition_is_only_shared_when_what_it_refers_to_is_the_same() {
    let version = |path: &str, kind: &str| {
        let x = json!({"properties": {"y": {"$ref": "#/definitions/Y"}}});
        swagger("t", &[(path, "X")], json!({"X": x, "Y": {"type": kind}}))
    };
    let merged = Federation::default()
        .with("a", &["a"], &version(ROOT, "string"))
        .with("b", &["b"], &version(OTHER, "object"))
        .merged();
    let (name, x) = definition_of(&merged, OTHER);
    assert_eq!((name, &x["properties"]["y"]["$ref"]), ("X_v2", &json!("#/definitions/Y_v2")));
    assert_eq!(merged["definitions"]["Y_v2"]["type"], "object");
    assert_eq!(definition_of(&merged, ROOT).0, "X");
}

#[test]
fn circles_are_followed() {
    let version = |path: &str, kind: &str| {
        let x = json!({"properties": {"y": {"$ref": "#/definitions/Y"}}});
        let y = json!({"properties": {"x": {"$ref": "#/definitions/X"}, "leaf": {"type": kind}}});
        swagger("t", &[(path, "X")], json!({"X": x, "Y": y}))
    };
    let merged = Federation::default()
        .with("a", &["a"], &version(ROOT, "string"))
        .with("b", &["b"], &version(OTHER, "object"))
        .with("c", &["c"], &version("/apis/c/v1/things", "string"))
        .merged();
    assert_eq!(keys(&merged["definitions"]), ["X", "X_v2", "Y", "Y_v2"]);
    assert_eq!(merged["definitions"]["Y_v2"]["properties"]["x"]["$ref"], "#/definitions/X_v2");
    assert_eq!(definition_of(&merged, "/apis/c/v1/things").0, "X");
}

#[test]
fn a_new_name_is_no_name_of_the_server_itself() {
    let one = swagger("a", &[(ROOT, "X")], json!({"X": {"type": "string"}}));
    let x = json!({"type": "object", "properties": {"own": {"$ref": "#/definitions/X_v2"}}});
    let two = swagger("b", &[(OTHER, "X")], json!({"X": x, "X_v2": {"type": "boolean"}}));
    let merged = Federation::default().with("a", &["a"], &one).with("b", &["b"], &two).merged();
    let (name, x) = definition_of(&merged, OTHER);
    assert_eq!((name, &x["properties"]["own"]["$ref"]), ("X_v3", &json!("#/definitions/X_v2")));
    assert_eq!(merged["definitions"]["X_v2"]["type"], "boolean");
}

#[test]
fn parameters_and_responses_are_renamed_too() {
    let version = |path: &str, description: &str| {
        json!({
            "swagger": "2.0",
            "paths": {path: {"get": {
                "parameters": [{"$ref": "#/parameters/p~1q"}], "responses": {"200": {"$ref": "#/responses/r"}},
            }}},
            "parameters": {"p/q": {"in": "query", "name": "p", "type": "string", "description": description}},
            "responses": {"r": {"description": description}},
        })
        .to_string()
    };
    let merged = Federation::default()
        .with("a", &["a"], &version(ROOT, "one"))
        .with("b", &["b"], &version(OTHER, "two"))
        .merged();
    let operation = &merged["paths"][OTHER]["get"];
    assert_eq!(operation["parameters"][0]["$ref"], "#/parameters/p~1q_v2");
    assert_eq!(operation["responses"]["200"]["$ref"], "#/responses/r_v2");
    assert_eq!(merged["parameters"]["p/q_v2"]["description"], "two");
    assert_eq!(merged["responses"]["r_v2"]["description"], "two");
}

const GVK: &str = "x-kubernetes-group-version-kind";

#[test]
fn kinds_of_shared_definitions_are_joined_and_foreign_ones_dropped() {
    let kind = |group: &str| json!({"group": group, "version": "v1", "kind": "DeleteOptions"});
    let one = swagger("a", &[("/api/v1/x", "D")], json!({"D": {"type": "object", GVK: [kind("")]}}));
    let two = swagger(
        "b",
        &[(OTHER, "D")],
        json!({"D": {"type": "object", GVK: [kind("b"), kind("z"), kind("")]}}),
    );
    let three =
        swagger("c", &[("/apis/c/v1/x", "D")], json!({"D": {"type": "string", GVK: [kind(""), kind("c")]}}));
    let merged = Federation::default()
        .with("core", &[], &one)
        .with("b", &["b"], &two)
        .with("c", &["c"], &three)
        .merged();
    assert_eq!(merged["definitions"]["D"][GVK], json!([kind(""), kind("b")]));
    assert_eq!(merged["definitions"]["D_v2"][GVK], json!([kind("c")]));
}

#[test]
fn pieces_that_need_no_change_keep_their_text() {
    let text = r##"{"swagger":"2.0","info":{ "title" : "T" },"paths":{"/apis/a/v1/x":{ "get" : { "b":1, "a":1e3 } }},"definitions":{}}"##;
    let merged = Federation::default().with("a", &["a"], text).merge().expect("merged");
    let body = std::str::from_utf8(&merged.json.body).expect("text");
    assert!(body.contains(r#"{ "get" : { "b":1, "a":1e3 } }"#), "{body}");
    assert!(body.contains(r#"{ "title" : "T" }"#), "{body}");
}

#[test]
fn a_broken_document_costs_only_itself() {
    let good = swagger("good", &[(OTHER, "X")], json!({"X": {}}));
    let deep = format!(r#"{{"swagger":"2.0","paths":{{"{ROOT}":{}{}}}}}"#, "[".repeat(500), "]".repeat(500));
    let wide = format!(
        r#"{{"swagger":"2.0","paths":{{"{ROOT}":{{}}}},"definitions":{{{}}}}}"#,
        (0..50_001).map(|n| format!(r#""{n}":{{}}"#)).collect::<Vec<_>>().join(",")
    );
    type Expected = fn(&OpenApiError) -> bool;
    let cases: [(&str, Expected); 5] = [
        ("{", |error| matches!(error, OpenApiError::Json(_))),
        ("{\"paths\":{}}", |error| matches!(error, OpenApiError::Version)),
        ("{\"swagger\":\"2.0\",\"paths\":[]}", |error| matches!(error, OpenApiError::Json(_))),
        (&deep, |error| matches!(error, OpenApiError::Json(_))),
        (&wide, |error| matches!(error, OpenApiError::TooMany)),
    ];
    for (broken, expected) in cases {
        let merged =
            Federation::default().with("a", &["a"], broken).with("b", &["b"], &good).merge().expect("merged");
        let [skipped] = &merged.skipped[..] else { panic!("{:?}", merged.skipped) };
        assert!(skipped.server.as_str() == "a" && expected(&skipped.error), "{skipped:?}");
        let json: Value = serde_json::from_slice(&merged.json.body).expect("JSON");
        assert_eq!(keys(&json["paths"]), [OTHER]);
        assert_eq!(json["info"]["title"], "good");
    }
}

#[test]
fn a_lost_document_is_reported() {
    let mut servers =
        Federation::default().with("a", &["a"], &swagger("a", &[(ROOT, "X")], json!({"X": {}})));
    servers.lose("a");
    let merged = servers.merge().expect("merged");
    assert!(matches!(merged.skipped[0].error, OpenApiError::Read { .. }));
}

#[test]
fn nobody_has_a_document() {
    let merged = Federation::default().merged();
    assert_eq!((&merged["swagger"], keys(&merged["paths"]).len()), (&json!("2.0"), 0));
}

#[test]
fn the_same_documents_make_the_same_bytes() {
    let servers = || {
        Federation::default()
            .with("a", &["a"], &swagger("a", &[(ROOT, "X")], json!({"X": {"type": "string"}})))
            .with("b", &["b"], &swagger("b", &[(OTHER, "X")], json!({"X": {"type": "object"}})))
    };
    let (one, two) = (servers().merge().expect("merged"), servers().merge().expect("merged"));
    assert_eq!(one.json, two.json);
    let protobuf = one.protobuf().expect("protobuf");
    assert_eq!(protobuf.etag, one.json.etag);
    assert_eq!(protobuf.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
}

#[test]
fn claims() {
    let cases = [
        ("/", Claim::Other),
        ("/api", Claim::Other),
        ("/api/", Claim::Other),
        ("/api/v1", Claim::Version("", "v1")),
        ("/api/v1/pods", Claim::Version("", "v1")),
        ("/apis", Claim::Other),
        ("/apis/", Claim::Other),
        ("/apis/g", Claim::Group("g")),
        ("/apis/g/", Claim::Group("g")),
        ("/apis/g/v1/", Claim::Version("g", "v1")),
        ("/apis/g/v1/things/{name}", Claim::Version("g", "v1")),
        ("/apis//v1", Claim::Other),
        ("/api//pods", Claim::Other),
        ("/version/", Claim::Other),
        ("/apisx/g/v1", Claim::Other),
    ];
    for (path, claim) in cases {
        assert_eq!(Claim::of(path), claim, "{path}");
    }
}
