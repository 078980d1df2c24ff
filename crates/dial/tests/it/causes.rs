//! Each way in which a server can fail has its own cause.

use std::time::Duration;

use catalog::{Cause, Endpoint, Failure, Roots, Server};
use dial::{Answer, Call, TlsSetup};
use testkit::{Act, FakeServer, Serving, TempPki};

use crate::world::{client, server, with_certificate};

async fn fails(server: Server, cause: Cause, part: &str) {
    check(client(server).call(&Call::get("/apis")).await, cause, part);
}

#[track_caller]
fn check(ended: Result<Answer, Failure>, cause: Cause, part: &str) {
    let failure = ended.expect_err(part);
    assert_eq!(failure.cause, cause, "{failure}");
    assert!(failure.detail.contains(part), "{part:?} not in {failure}");
}

#[tokio::test]
async fn of_the_certificate() {
    let pki = TempPki::new();
    let cases = [
        (
            Serving::WrongName,
            Cause::CertificateNameMismatch,
            "is for elsewhere.example.com, not for 127.0.0.1",
        ),
        (Serving::Expired, Cause::CertificateExpired, "expired at 20"),
        (Serving::NotYetValid, Cause::CertificateExpired, "not valid before 20"),
        (Serving::UnknownAuthority, Cause::UnknownAuthority, "unknown authority"),
    ];
    for (serving, cause, part) in cases {
        let fake = FakeServer::builder().tls(&pki, serving).start().await;
        fails(server(&pki, &fake), cause, part).await;
        let mut trusting = server(&pki, &fake);
        trusting.trust.skip_verification = true;
        assert_eq!(client(trusting).call(&Call::get("/healthz")).await.unwrap().status, 200);
    }
    let fake = FakeServer::builder().tls(&pki, Serving::WrongName).start().await;
    let mut named = server(&pki, &fake);
    named.trust.server_name = Some("elsewhere.example.com".to_owned());
    assert_eq!(client(named).call(&Call::get("/healthz")).await.unwrap().status, 200);
}

#[tokio::test]
async fn of_the_connection() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let mut impatient = server(&pki, &fake);
    impatient.limits.connect_timeout = Duration::from_millis(200);
    fake.half_open(true);
    fails(impatient.clone(), Cause::ConnectTimeout, "no TLS handshake within 200ms").await;
    fake.behave();
    fake.kill().await;
    fails(server(&pki, &fake), Cause::ConnectionRefused, &fake.address().to_string()).await;
    let mut lost = server(&pki, &fake);
    lost.endpoints = vec![Endpoint::Network { tls: true, host: "nowhere.invalid".to_owned(), port: 1 }];
    fails(lost, Cause::NameNotResolved, "nowhere.invalid does not resolve").await;
}

#[tokio::test]
async fn of_the_protocol() {
    let pki = TempPki::new();
    let clear = FakeServer::builder().start().await;
    let mut expecting_tls = server(&pki, &clear);
    let address = clear.address();
    expecting_tls.endpoints =
        vec![Endpoint::Network { tls: true, host: address.ip().to_string(), port: address.port() }];
    fails(expecting_tls, Cause::TlsFailed, "does not speak TLS").await;
    clear.garbage(true);
    fails(server(&pki, &clear), Cause::ProtocolError, "").await;

    let secure = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let mut expecting_clear = server(&pki, &secure);
    let address = secure.address();
    expecting_clear.endpoints =
        vec![Endpoint::Network { tls: false, host: address.ip().to_string(), port: address.port() }];
    fails(expecting_clear, Cause::ProtocolError, "").await;
}

#[tokio::test]
async fn of_our_own_credentials() {
    let pki = TempPki::new();
    for http1 in [false, true] {
        let builder = FakeServer::builder().tls(&pki, Serving::Good);
        let builder = builder.require_client(pki.front_proxy_ca.certificate_pem());
        let fake = if http1 { builder.http1_only() } else { builder }.start().await;
        fails(server(&pki, &fake), Cause::IdentityRejected, "requires a client certificate").await;
        let stranger = with_certificate(server(&pki, &fake), &pki.user("door", &[]));
        fails(stranger, Cause::IdentityRejected, "does not know the CA").await;
        let known = with_certificate(server(&pki, &fake), &pki.front_proxy("door"));
        assert_eq!(client(known).call(&Call::get("/healthz")).await.unwrap().status, 200);
        assert_eq!(fake.last_request().peer.as_deref(), Some("door"));
    }
}

#[tokio::test]
async fn of_what_cannot_be_used() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let clear = FakeServer::builder().start().await;
    let (good, other) = (pki.front_proxy("a"), pki.front_proxy("b"));
    let unusable = |change: &dyn Fn(&mut Server)| {
        let mut server = server(&pki, &fake);
        change(&mut server);
        TlsSetup::new(&server).unwrap_err()
    };
    let bundle =
        |text: &'static str| move |s: &mut Server| s.trust.roots = Roots::Pem(text.as_bytes().into());
    let cases = [
        (unusable(&bundle("")), "the CA bundle: no CERTIFICATE"),
        (unusable(&bundle("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----")), "the CA bundle"),
        (unusable(&|s| s.trust.server_name = Some("a b".to_owned())), "\"a b\" is neither"),
        (
            unusable(&|s| {
                let mixed = pki::CertifiedKey::from_pem(good.chain_pem(), other.key_pem(), "x");
                *s = with_certificate(s.clone(), &mixed);
            }),
            "does not match",
        ),
    ];
    for (failure, part) in cases {
        check(Err(failure), Cause::InvalidCredentials, part);
    }
    // Clear text needs none of it; but TLS endpoints may come later.
    let mut later = server(&pki, &clear);
    later.trust.roots = Roots::Pem(b"".as_slice().into());
    let setup = TlsSetup::new(&later).unwrap();
    let endpoint = server(&pki, &fake).endpoints[0].clone();
    let ended = dial::connect(&setup, &endpoint, dial::Offer::Any, Duration::from_secs(20)).await;
    check(ended.map(|_| unreachable!()), Cause::InvalidCredentials, "the CA bundle");
}

#[tokio::test]
async fn of_the_answer() {
    let pki = TempPki::new();
    let secure = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let clear = FakeServer::builder().start().await;
    let quick = Duration::from_millis(300);
    let table = [
        (Act::Hang, Cause::ResponseTimeout, "no answer within 300ms"),
        (Act::HangBody, Cause::ResponseTimeout, "did not end within 300ms"),
        (Act::Drip(Duration::from_millis(100)), Cause::ResponseTimeout, "did not end"),
        (Act::EndlessBody, Cause::TooLarge, "larger than 1000000 bytes"),
        (Act::HugeDiscovery(1 << 30), Cause::TooLarge, "larger than 1000000 bytes"),
        (Act::ManyGroups(1_000_000), Cause::TooLarge, "larger than 1000000 bytes"),
        (Act::Bytes(1_000_001), Cause::TooLarge, "larger than 1000000 bytes"),
        (
            Act::Redirect("https://x.example.com/y".to_owned()),
            Cause::RedirectRefused,
            "to https://x.example.com/y",
        ),
        (Act::Truncate, Cause::ConnectionLost, ""),
        (Act::Reset, Cause::ConnectionLost, ""),
        (Act::Refuse, Cause::ConnectionLost, ""),
    ];
    for fake in [&secure, &clear] {
        for (act, cause, part) in &table {
            fake.act("/", act.clone());
            // TooLarge must not depend on how fast this machine is.
            let patience = if *cause == Cause::ResponseTimeout { quick } else { Duration::from_secs(30) };
            let call = Call::get("/apis").limit(1_000_000).timeouts(patience, patience);
            check(client(server(&pki, fake)).call(&call).await, *cause, part);
        }
        fake.behave();
        let call = Call::get("/x?act=bytes:1000000").limit(1_000_000);
        assert_eq!(client(server(&pki, fake)).call(&call).await.unwrap().body.len(), 1_000_000);
    }
}
