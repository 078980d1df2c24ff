//! The registration API: reading, creating, updating, deleting.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{API_SERVICES, COLLECTION, Door, object, request, request_as};

const URL: &str = "https://127.0.0.1:1";

#[tokio::test(flavor = "multi_thread")]
async fn an_object_lives_from_create_to_delete() {
    let door = Door::start();
    let made = door.register("one", URL).await;
    assert_eq!(made["metadata"]["generation"], 1);
    assert!(made["metadata"]["uid"].as_str().unwrap().len() == 36, "{made}");
    assert_eq!(made["metadata"]["managedFields"][0]["fieldsV1"], json!({ "f:spec": { "f:url": {} } }));
    let path = format!("{COLLECTION}/one");

    // The status has its own versions; here it is to stand still.
    door.settled("one").await;
    let mut changed = door.get(&path).await.1;
    changed["spec"]["identity"] = json!("impersonate");
    changed["metadata"]["labels"] = json!({ "a": "b" });
    let (status, updated) = door.send("PUT", &path, &changed).await;
    assert_eq!(status, StatusCode::OK, "{updated}");
    assert_eq!(updated["metadata"]["generation"], 2);
    assert_eq!(updated["metadata"]["uid"], made["metadata"]["uid"]);

    // With the resource version of before.
    changed["spec"]["identity"] = json!("passThrough");
    let (status, conflict) = door.send("PUT", &path, &changed).await;
    assert_eq!((status, conflict["reason"].as_str()), (StatusCode::CONFLICT, Some("Conflict")));
    assert_eq!(
        conflict["message"],
        "Operation cannot be fulfilled on apiservers.federation.trellis.dev \"one\": the object has been modified; please apply your changes to the latest version and try again"
    );
    let (status, gone) = door.send("DELETE", &path, &Value::Null).await;
    assert_eq!((status, gone["status"].as_str()), (StatusCode::OK, Some("Success")));
    assert_eq!(gone["details"]["uid"], made["metadata"]["uid"]);
    let (status, missing) = door.get(&path).await;
    assert_eq!(
        (status, missing["message"].as_str()),
        (StatusCode::NOT_FOUND, Some("apiservers.federation.trellis.dev \"one\" not found"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_upstreams_codes_and_words() {
    let door = Door::start();
    door.register("one", URL).await;
    let spec = json!({ "url": URL });
    let cases = [
        ("POST", COLLECTION, object("one", spec.clone()), 409, "already exists"),
        (
            "POST",
            COLLECTION,
            object("Bad_Name", spec.clone()),
            422,
            "metadata.name: Invalid value: \"Bad_Name\"",
        ),
        (
            "POST",
            COLLECTION,
            object("two", json!({ "url": "ftp://a" })),
            422,
            "spec.url: Invalid value: \"ftp://a\"",
        ),
        ("POST", COLLECTION, json!({ "kind": "Pod" }), 400, "the kind in the data (Pod) does not match"),
        ("POST", COLLECTION, json!([]), 400, "no JSON object"),
        ("PUT", "/one", object("two", spec.clone()), 400, "does not match the name on the URL (one)"),
        ("PUT", "/none", object("none", spec.clone()), 404, "\"none\" not found"),
        ("DELETE", "/none", Value::Null, 404, "\"none\" not found"),
        ("DELETE", "/one", json!({ "preconditions": { "uid": "x" } }), 409, "Precondition failed: UID"),
        ("PATCH", "/one/status", json!({}), 405, "PATCH is not supported"),
        ("GET", "?fieldSelector=spec.url%3Da", Value::Null, 400, "field label not supported: spec.url"),
        ("POST", "?dryRun=Some", object("two", spec.clone()), 422, "dryRun"),
        (
            "POST",
            "?fieldValidation=Strict",
            object("two", json!({ "urll": URL, "url": URL })),
            400,
            "APIServer in version \"v1alpha1\" cannot be handled as a APIServer: strict decoding error: unknown field \"spec.urll\"",
        ),
    ];
    for (method, path, body, code, part) in cases {
        let path = if path.starts_with("/apis") { path.to_owned() } else { format!("{COLLECTION}{path}") };
        let (status, answer) = door.send(method, &path, &body).await;
        assert_eq!(status.as_u16(), code, "{method} {path}: {answer}");
        assert!(
            answer["message"].as_str().is_some_and(|message| message.contains(part)),
            "{method} {path}: {answer}"
        );
        assert_eq!(answer["kind"], "Status");
    }
    let (status, text) = door.get("/apis/federation.trellis.dev/v1alpha1/nothings").await;
    assert_eq!((status, text), (StatusCode::NOT_FOUND, json!("404 page not found\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_takes_masters_and_reading_an_identity() {
    let door = Door::start();
    door.register("one", URL).await;
    let path = format!("{COLLECTION}/one");
    let reader = |method: &str| request_as("jane", &["system:authenticated"], method, &path, &[], &json!({}));
    assert_eq!(door.call(reader("GET")).await.0, StatusCode::OK);
    for method in ["PUT", "PATCH", "DELETE"] {
        let (status, answer) = door.call(reader(method)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{method}");
        let message = answer["message"].as_str().unwrap();
        assert!(
            message
                .starts_with("apiservers.federation.trellis.dev \"one\" is forbidden: User \"jane\" cannot "),
            "{message}"
        );
    }
    let nobody = request_as("", &[], "GET", &path, &[], &Value::Null);
    assert_eq!(door.call(nobody).await.0, StatusCode::UNAUTHORIZED);
    let anonymous =
        request_as("system:anonymous", &["system:unauthenticated"], "GET", &path, &[], &Value::Null);
    assert_eq!(door.call(anonymous).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_changes_nothing() {
    let door = Door::start();
    let (status, answer) =
        door.send("POST", &format!("{COLLECTION}?dryRun=All"), &object("one", json!({ "url": URL }))).await;
    assert_eq!((status, answer["metadata"]["name"].as_str()), (StatusCode::CREATED, Some("one")));
    assert_eq!(door.get(&format!("{COLLECTION}/one")).await.0, StatusCode::NOT_FOUND);
    door.register("one", URL).await;
    let path = format!("{COLLECTION}/one?dryRun=All");
    door.send("PATCH", &path, &json!({ "spec": { "url": "https://127.0.0.1:2" } })).await;
    door.send("DELETE", &path, &Value::Null).await;
    assert_eq!(door.get(&format!("{COLLECTION}/one")).await.1["spec"]["url"], URL);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_are_dropped_with_a_warning() {
    let door = Door::start();
    let body = object("one", json!({ "url": URL, "identiti": "impersonate", "limits": { "conections": 5 } }));
    let response =
        door.open(request("POST", COLLECTION, &[("content-type", "application/json")], &body)).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    let warnings: Vec<_> =
        response.headers().get_all("warning").iter().map(|w| w.to_str().unwrap().to_owned()).collect();
    assert_eq!(
        warnings,
        [
            r#"299 - "unknown field \"spec.limits.conections\" (did you mean \"connections\"?)""#,
            r#"299 - "unknown field \"spec.identiti\" (did you mean \"identity\"?)""#,
        ]
    );
    let (_, made) = door.get(&format!("{COLLECTION}/one")).await;
    assert_eq!(made["spec"], json!({ "url": URL, "limits": {} }));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_select_and_take_the_form_that_is_asked_for() {
    let door = Door::start();
    for name in ["one", "two"] {
        door.register(name, URL).await;
    }
    door.send(
        "PATCH",
        &format!("{COLLECTION}/two"),
        &json!({ "metadata": { "labels": { "tier": "back" } } }),
    )
    .await;
    let names = |list: &Value| {
        list["items"].as_array().unwrap().iter().map(|o| o["metadata"]["name"].clone()).collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("", json!(["one", "two"])),
        ("?labelSelector=tier%3Dback", json!(["two"])),
        ("?labelSelector=tier!%3Dback", json!(["one"])),
        ("?fieldSelector=metadata.name%3Done", json!(["one"])),
        ("?fieldSelector=metadata.name!%3Done", json!(["two"])),
    ] {
        let (status, list) = door.get(&format!("{COLLECTION}{query}")).await;
        assert_eq!((status, json!(names(&list))), (StatusCode::OK, expected), "{query}");
        assert_eq!(list["kind"], "APIServerList");
    }
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let (_, table) = door.call(request("GET", COLLECTION, &[("accept", table)], &Value::Null)).await;
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["columnDefinitions"][0]["name"], "Name");
    assert_eq!(table["rows"][1]["cells"][0], "two");
    assert_eq!(table["rows"][1]["cells"][1], URL);
    assert_eq!(table["rows"][1]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(
        table["columnDefinitions"].as_array().unwrap().len(),
        table["rows"][0]["cells"].as_array().unwrap().len()
    );
    let metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let (_, metadata) = door.call(request("GET", COLLECTION, &[("accept", metadata)], &Value::Null)).await;
    assert!(metadata["items"][0]["spec"].is_null() && metadata["kind"] == "PartialObjectMetadataList");
    let (status, _) = door.call(request("GET", COLLECTION, &[("accept", "image/png")], &Value::Null)).await;
    assert_eq!(status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_can_be_deleted() {
    let door = Door::start();
    for name in ["one", "two"] {
        door.register(name, URL).await;
    }
    let (status, _) =
        door.send("DELETE", &format!("{COLLECTION}?fieldSelector=metadata.name%3Done"), &Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    let (_, list) = door.get(COLLECTION).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn api_services_have_kube_aggregators_conditions() {
    let door = Door::start();
    let service = |group: &str, service: Value| {
        json!({ "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": { "name": format!("v1.{group}") },
            "spec": { "group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15, "service": service } })
    };
    for object in [
        service("local.example.com", Value::Null),
        service("far.example.com", json!({ "namespace": "n", "name": "s" })),
    ] {
        let (status, made) = door.send("POST", API_SERVICES, &object).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
    }
    for (name, reason) in [("v1.local.example.com", "Local"), ("v1.far.example.com", "ServiceNotFound")] {
        let path = format!("{API_SERVICES}/{name}");
        let mut found = Value::Null;
        for _ in 0..1000 {
            found = door.get(&path).await.1["status"]["conditions"][0]["reason"].clone();
            if found == reason {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(found, reason);
    }
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let (_, table) = door.call(request("GET", API_SERVICES, &[("accept", table)], &Value::Null)).await;
    assert_eq!(table["rows"][0]["cells"][1], "n/s");
    assert_eq!(table["rows"][0]["cells"][2], "False (ServiceNotFound)");
    assert_eq!(table["rows"][1]["cells"][1], "Local");
    assert_eq!(table["rows"][1]["cells"][2], "True");
}

#[test]
fn the_crd_manifest_is_structural() {
    let manifest = registry::crd_manifest();
    let schema = &manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    check(schema, "schema");
    fn check(schema: &Value, path: &str) {
        let typed = schema["type"].is_string() || schema["x-kubernetes-int-or-string"] == true;
        assert!(typed, "{path} has no type");
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            check(inner, &format!("{path}.{name}"));
        }
        if schema["type"] == "array" {
            check(&schema["items"], &format!("{path}[]"));
        }
    }
}
