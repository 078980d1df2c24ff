//! Who a caller is, as the door and a backend see it.

use catalog::IdentityMode;
use pki::Leaf;
use testkit::{Client, Recorded, Target};

use crate::door::{Backend, Door, FLUNDERS, backend};

/// Header lines.
type Lines<'a> = &'a [(&'a str, &'a str)];

/// `user|groups` as the backend's framework would tell them.
pub(crate) fn told(seen: &Recorded) -> String {
    let cgi = seen.cgi();
    let all = |name: &str| {
        let values = cgi.get(name).map(Vec::as_slice).unwrap_or_default();
        let values: Vec<_> = values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        values.join(",")
    };
    format!("{}|{}", all("HTTP_X_REMOTE_USER"), all("HTTP_X_REMOTE_GROUP"))
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_arrive_as_who_they_are() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let front = door.anonymous().identity(pki.front_proxy("front"));
    let root = ("x-remote-user", "root");
    let cases: &[(&str, Target, Lines, &str)] = &[
        ("certificate", door.alice(), &[], "alice|dev,system:authenticated"),
        (
            "certificate, and a wish",
            door.alice(),
            &[root, ("x_remote_user", "root")],
            "alice|dev,system:authenticated",
        ),
        (
            "token",
            door.anonymous(),
            &[("authorization", "Bearer secret-token")],
            "tokenuser|a,b,system:authenticated",
        ),
        (
            "front proxy",
            front.clone(),
            &[root, ("x-remote-group", "wheel")],
            "root|wheel,system:authenticated",
        ),
        (
            "impersonation",
            door.admin(),
            &[("impersonate-user", "ann"), ("impersonate-group", "ops")],
            "ann|ops,system:authenticated",
        ),
        (
            "front proxy that impersonates",
            front,
            &[root, ("x-remote-group", "system:masters"), ("impersonate-user", "ann")],
            "ann|system:authenticated",
        ),
    ];
    for (what, target, headers, expected) in cases {
        for mut client in [Client::http1(target).await.unwrap(), Client::http2(target).await.unwrap()] {
            let reply = client.get(FLUNDERS, headers).await;
            assert_eq!(reply.status, 200, "{what}: {}", reply.text());
            let seen = server.last_request();
            assert_eq!(told(&seen), *expected, "{what}");
            assert!(
                seen.headers.iter().all(|(name, _)| !name.contains("impersonate")),
                "{what}: {:?}",
                seen.headers
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_statuses() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let stranger = pki.unknown_ca.issue(&Leaf::client("alice").organization("system:masters")).unwrap();
    let stranger = door.anonymous().identity(stranger);
    let wrong = [("authorization", "Bearer wrong-token")];
    let cases: &[(&str, Target, Lines, u16, &str)] = &[
        ("nobody", door.anonymous(), &[], 401, "Unauthorized"),
        ("wrong token", door.anonymous(), &wrong, 401, "Unauthorized"),
        ("certificate of a stranger", stranger, &[], 401, "Unauthorized"),
        ("nobody who names himself", door.anonymous(), &[("x-remote-user", "root")], 401, "Unauthorized"),
        (
            "impersonation that is not allowed",
            door.alice(),
            &[("impersonate-user", "admin")],
            403,
            "users \"admin\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the \
             cluster scope: without a core API server, only the group system:masters may",
        ),
        (
            "impersonation of nobody",
            door.admin(),
            &[("impersonate-group", "dev")],
            400,
            "requested impersonation of groups without impersonating a user name",
        ),
        (
            "unknown impersonation",
            door.admin(),
            &[("impersonate-user", "ann"), ("impersonate-role", "x")],
            400,
            "unknown impersonation header \"impersonate-role\"",
        ),
    ];
    for (what, target, headers, code, message) in cases {
        for mut client in [Client::http1(target).await.unwrap(), Client::http2(target).await.unwrap()] {
            for path in [FLUNDERS, "/apis"] {
                let reply = client.get(path, headers).await;
                assert_eq!(reply.status.as_u16(), *code, "{what}: {}", reply.text());
                let status = reply.json();
                assert_eq!(
                    (&status["kind"], &status["message"]),
                    (&"Status".into(), &(*message).into()),
                    "{what}"
                );
                assert_eq!(reply.headers.contains_key("www-authenticate"), *code == 401, "{what}");
            }
        }
    }
    assert!(server.requests().is_empty(), "nothing of this reached the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_passes_a_token_through_passes_the_wish_to_act_as_another_too() {
    let (pki, server) = backend().await;
    let backend =
        Backend::wardle(&pki, &[&server]).changed(|server| server.identity = IdentityMode::PassThrough);
    let door = Door::start(&pki, vec![backend]).await;
    let mut client = Client::http2(&door.admin()).await.unwrap();
    let headers = [("authorization", "Bearer own"), ("impersonate-user", "ann"), ("x-remote-user", "root")];
    assert_eq!(client.get(FLUNDERS, &headers).await.status, 200);
    let seen = server.last_request();
    assert_eq!(
        (seen.header("authorization"), seen.header("impersonate-user")),
        ("Bearer own".into(), "ann".into())
    );
    assert_eq!(told(&seen), "|");
}
