//! The registration API: patches and server-side apply.

use bytes::Bytes;
use catalog::{Body, BodyError};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use crate::support::{COLLECTION, Door};

const URL: &str = "https://127.0.0.1:1";

async fn patch(door: &Door, query: &str, content_type: &str, body: &str) -> (StatusCode, Value) {
    let request = Request::builder()
        .method("PATCH")
        .uri(format!("{COLLECTION}/one{query}"))
        .header("x-remote-user", "admin")
        .header("x-remote-group", "system:masters")
        .header("content-type", content_type)
        .body(Body::new(Full::new(Bytes::copy_from_slice(body.as_bytes())).map_err(BodyError::from)))
        .unwrap();
    door.call(request).await
}

async fn apply(door: &Door, query: &str, spec: &str) -> (StatusCode, Value) {
    let body = format!(
        "apiVersion: federation.trellis.dev/v1alpha1\nkind: APIServer\nmetadata:\n  name: one\nspec:\n{spec}"
    );
    patch(door, query, "application/apply-patch+yaml", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn json_and_merge_patches() {
    let door = Door::start();
    door.register("one", URL).await;
    let merge = "application/merge-patch+json";
    let (status, value) =
        patch(&door, "", merge, r#"{"spec":{"identity":"impersonate","limits":{"connections":5}}}"#).await;
    assert_eq!((status, &value["spec"]["limits"]["connections"]), (StatusCode::OK, &json!(5)));
    let (_, value) = patch(&door, "", merge, r#"{"spec":{"limits":null}}"#).await;
    assert_eq!(value["spec"], json!({ "url": URL, "identity": "impersonate" }));
    let json_patch = "application/json-patch+json";
    let (status, value) =
        patch(&door, "", json_patch, r#"[{"op":"test","path":"/spec/identity","value":"impersonate"},{"op":"remove","path":"/spec/identity"}]"#).await;
    assert_eq!((status, &value["spec"]), (StatusCode::OK, &json!({ "url": URL })));
    for (content_type, body, code) in [
        (json_patch, r#"[{"op":"test","path":"/spec/url","value":"x"}]"#, 422),
        (json_patch, "{}", 400),
        (merge, "[]", 400),
        (merge, r#"{"metadata":{"resourceVersion":"1"}}"#, 409),
        (merge, r#"{"metadata":{"name":"two"}}"#, 400),
        (merge, r#"{"spec":{"url":"nonsense"}}"#, 422),
        ("application/strategic-merge-patch+json", "{}", 415),
    ] {
        let (status, answer) = patch(&door, "", content_type, body).await;
        assert_eq!(status.as_u16(), code, "{content_type} {body}: {answer}");
    }
    door.settled("one").await;
    let (_, unchanged) = door.get(&format!("{COLLECTION}/one")).await;
    let (_, same) = patch(&door, "", merge, "{}").await;
    assert_eq!(unchanged["metadata"]["resourceVersion"], same["metadata"]["resourceVersion"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_creates_changes_and_withdraws() {
    let door = Door::start();
    let mine = "?fieldManager=mine";
    let (status, value) = apply(&door, mine, "  url: https://127.0.0.1:1\n  identity: impersonate\n").await;
    assert_eq!(status, StatusCode::CREATED, "{value}");
    assert_eq!(value["metadata"]["managedFields"][0]["operation"], "Apply");
    let (status, value) = apply(&door, mine, "  url: https://127.0.0.1:2\n").await;
    assert_eq!((status, &value["spec"]), (StatusCode::OK, &json!({ "url": "https://127.0.0.1:2" })));
    door.settled("one").await;
    let (_, value) = apply(&door, mine, "  url: https://127.0.0.1:2\n").await;
    let (_, same) = apply(&door, mine, "  url: https://127.0.0.1:2\n").await;
    assert_eq!(value["metadata"]["resourceVersion"], same["metadata"]["resourceVersion"]);
    assert_eq!(value["metadata"]["generation"], 2);
    let (status, answer) = apply(&door, "", "  url: https://127.0.0.1:2\n").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_respects_what_others_set() {
    let door = Door::start();
    apply(&door, "?fieldManager=mine", "  url: https://127.0.0.1:1\n  identity: impersonate\n").await;
    let (status, answer) = apply(&door, "?fieldManager=yours", "  url: https://127.0.0.1:2\n").await;
    assert_eq!((status, answer["reason"].as_str()), (StatusCode::CONFLICT, Some("Conflict")));
    assert_eq!(
        answer["message"],
        "Apply failed with 1 conflict: conflict with \"mine\" using federation.trellis.dev/v1alpha1: .spec.url"
    );
    assert_eq!(answer["details"]["causes"][0]["field"], ".spec.url");
    // The same value is shared, not fought over.
    let (status, _) =
        apply(&door, "?fieldManager=yours", "  url: https://127.0.0.1:1\n  serverName: a.example.com\n")
            .await;
    assert_eq!(status, StatusCode::OK);
    let (status, value) =
        apply(&door, "?fieldManager=yours&force=true", "  url: https://127.0.0.1:2\n").await;
    assert_eq!(status, StatusCode::OK);
    // What it no longer names goes, what others own stays.
    assert_eq!(value["spec"], json!({ "url": "https://127.0.0.1:2", "identity": "impersonate" }));
    let (status, answer) =
        apply(&door, "?fieldManager=mine", "  url: https://127.0.0.1:1\n  identity: impersonate\n").await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    // An ordinary write takes fields over.
    patch(
        &door,
        "?fieldManager=editor",
        "application/merge-patch+json",
        r#"{"spec":{"identity":"passThrough"}}"#,
    )
    .await;
    let (status, answer) = apply(&door, "?fieldManager=mine", "  identity: impersonate\n").await;
    assert!(
        status == StatusCode::CONFLICT && answer["message"].as_str().unwrap().contains("\"editor\""),
        "{answer}"
    );
}
