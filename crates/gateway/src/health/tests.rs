use bytes::Bytes;
use http_body_util::BodyExt as _;

use super::*;

fn checks(serving: bool, log: bool) -> Checks {
    let log = Check::new("log", move || if log { Ok(()) } else { Err("logging blocked".to_owned()) });
    Checks::new(move || serving, || true, vec![log])
}

async fn text(response: Response<Body>) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn check(checks: &Checks, endpoint: Endpoint, query: &str, status: u16, expected: &str) {
    assert_eq!(text(checks.answer(endpoint, query)).await, (status, expected.to_owned()), "{query}");
}

const HOOK: &str = "[+]poststarthook/apiservice-registration-controller ok\n";

#[tokio::test]
async fn the_texts_are_upstreams() {
    let good = checks(true, true);
    check(&good, Endpoint::Healthz, "", 200, "ok").await;
    check(&good, Endpoint::Livez, "timeout=5s", 200, "ok").await;
    let verbose = format!("[+]ping ok\n{HOOK}[+]log ok\n[+]shutdown ok\nreadyz check passed\n");
    check(&good, Endpoint::Readyz, "verbose", 200, &verbose).await;
    check(&good, Endpoint::Readyz, "verbose=true", 200, &verbose).await;
    check(&good, Endpoint::Livez, "verbose", 200, &format!("[+]ping ok\n{HOOK}livez check passed\n")).await;
    let excluded = format!(
        "[+]ping excluded: ok\n{HOOK}[+]log ok\n\
         warn: some health checks cannot be excluded: no matches for \"etcd\",\"nope\"\nhealthz check passed\n"
    );
    check(&good, Endpoint::Healthz, "verbose&exclude=nope&exclude=ping&exclude=etcd", 200, &excluded).await;
    check(&good, Endpoint::Healthz, "exclude=nope", 200, "ok").await;
}

#[tokio::test]
async fn a_failure_is_verbose_and_withholds_its_reason() {
    let stopping = checks(false, true);
    let failed =
        format!("[+]ping ok\n{HOOK}[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n");
    check(&stopping, Endpoint::Readyz, "", 500, &failed).await;
    check(&stopping, Endpoint::Readyz, "exclude=shutdown", 200, "ok").await;
    check(&stopping, Endpoint::Healthz, "", 200, "ok").await;
    check(&stopping, Endpoint::Livez, "", 200, "ok").await;
}

#[tokio::test]
async fn single_checks_have_their_own_path() {
    let broken = checks(true, false);
    let one = |endpoint, name: &str| text(broken.answer_one(endpoint, name));
    assert_eq!(one(Endpoint::Readyz, "ping").await, (200, "ok".to_owned()));
    let failed = "internal server error: logging blocked\n".to_owned();
    assert_eq!(one(Endpoint::Readyz, "log").await, (500, failed));
    assert_eq!(one(Endpoint::Livez, "log").await, (404, "404 page not found\n".to_owned()));
    assert!(broken.paths().contains(&"/readyz/shutdown".to_owned()));
    assert!(!broken.paths().contains(&"/livez/shutdown".to_owned()));
}
