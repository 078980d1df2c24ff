use std::{panic::catch_unwind, time::Duration};

use testkit::{Act, Client, FakeServer, Target, fold_cgi, fold_cgi_name, golden};

#[test]
fn look_alikes_fold_into_one() {
    for name in ["X-Remote-User", "x_remote_user", "X.Remote-User", "x-remote_USER"] {
        assert_eq!(fold_cgi_name(name), "HTTP_X_REMOTE_USER");
    }
    let folded = fold_cgi([("A-b", &b"1"[..]), ("c", b"2"), ("a_B", b"3")]);
    assert_eq!(folded["HTTP_A_B"], [b"1".to_vec(), b"3".to_vec()]);
    assert_eq!(folded.len(), 2);
}

#[test]
fn a_golden_file_that_differs_or_is_missing_fails() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.golden");
    std::fs::write(&path, "a\nb\n").unwrap();
    golden(&path, "a\nb\n");
    for (path, actual) in [(path.clone(), "a\nc\n"), (path, "a\n"), (dir.path().join("none"), "")] {
        assert!(catch_unwind(|| golden(path, actual)).is_err(), "{actual:?}");
    }
}

#[test]
fn acts_are_written_as_text() {
    let cases = [
        ("hang", Act::Hang),
        ("drip:20", Act::Drip(Duration::from_millis(20))),
        ("many-groups:3", Act::ManyGroups(3)),
        ("redirect:https://a:1/b", Act::Redirect("https://a:1/b".to_owned())),
    ];
    for (text, act) in cases {
        assert_eq!(text.parse(), Ok(act));
    }
    for wrong in ["", "hangs", "drip", "drip:x", "status:70000"] {
        assert!(wrong.parse::<Act>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn everything_can_stand_below_a_prefix() {
    let server = FakeServer::builder().prefix("/pre").start().await;
    let mut client = Client::http1(&Target::clear(server.address())).await.unwrap();
    assert_eq!(client.get("/pre/apis", &[]).await.json()["kind"], "APIGroupList");
    assert_eq!(client.get("/apis", &[]).await.status, 404);
    let all = "/pre/apis/wardle.example.com/v1/namespaces/a/flunders";
    assert_eq!(client.request("POST", all, &[], r#"{"metadata":{"name":"x"}}"#).await.status, 201);
    assert_eq!(client.get(&format!("{all}/x"), &[]).await.status, 200);
    let list = client.get("/pre/apis/wardle.example.com/v1/flunders", &[]).await;
    assert_eq!(list.json()["items"][0]["metadata"]["name"], "x");
}
