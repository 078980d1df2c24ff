//! Registrations on disk.

use std::os::unix::fs::PermissionsExt as _;

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{COLLECTION, Door};

fn names(list: &Value) -> Vec<String> {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_survive_with_identity_and_versions_go_on() {
    let door = Door::start();
    let one = door.register("one", "https://127.0.0.1:1").await;
    let version =
        |value: &Value| value["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let door = door.restart().await;
    let (status, again) = door.get(&format!("{COLLECTION}/one")).await;
    assert_eq!(status, StatusCode::OK);
    for field in ["uid", "creationTimestamp", "generation", "managedFields"] {
        assert_eq!(one["metadata"][field], again["metadata"][field], "{field}");
    }
    let two = door.register("two", "https://127.0.0.1:2").await;
    assert!(version(&two) > version(&one));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_private() {
    let door = Door::start();
    door.register("one", "https://127.0.0.1:1").await;
    let file = door.state().join("registrations/apiservers/one.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(door.state()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_reported_and_its_last_good_copy_used() {
    let door = Door::start();
    for name in ["one", "two", "three"] {
        door.register(name, "https://127.0.0.1:1").await;
    }
    door.registry.shutdown().await;
    let folder = door.state().join("registrations/apiservers");
    std::fs::write(folder.join("one.json"), "{\"apiVersion\": ").unwrap();
    std::fs::write(folder.join("two.json"), "{}").unwrap();
    std::fs::remove_file(folder.join("two.json.last")).unwrap();
    let door = door.restart().await;
    let (_, list) = door.get(COLLECTION).await;
    assert_eq!(names(&list), ["one", "three"]);
    let (problems, _) = door.registry.problems();
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(text.len(), 2, "{text:#?}");
    let of = |name: &str| text.iter().find(|t| t.contains(&format!("/{name}.json"))).unwrap();
    assert!(
        of("one").contains("EOF while parsing") && of("one").contains("its last good copy is used"),
        "{text:#?}"
    );
    assert!(of("two").contains("delete it and register the server again"), "{text:#?}");
    assert_eq!(
        std::fs::read_to_string(folder.join("two.json")).unwrap(),
        "{}",
        "nothing is moved or deleted"
    );

    let (status, value) = door
        .send("PATCH", &format!("{COLLECTION}/one"), &json!({ "spec": { "url": "https://127.0.0.1:9" } }))
        .await;
    assert_eq!(status, StatusCode::OK, "{value}");
    let repaired: Value = serde_json::from_slice(&std::fs::read(folder.join("one.json")).unwrap()).unwrap();
    assert_eq!(repaired["spec"]["url"], "https://127.0.0.1:9");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_is_refused_and_nothing_is_lost() {
    let door = Door::start();
    door.register("one", "https://127.0.0.1:1").await;
    // A folder in the place of the file: not even root can write there.
    let folder = door.state().join("registrations/apiservers");
    std::fs::create_dir(folder.join("two.json")).unwrap();
    let (status, answer) = door
        .send("POST", COLLECTION, &crate::support::object("two", json!({ "url": "https://127.0.0.1:2" })))
        .await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("two.json") && message.contains("free some space"), "{message}");
    let (_, list) = door.get(COLLECTION).await;
    assert_eq!(names(&list), ["one"]);
}
