use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use pki::{
    ALPN_H2, ALPN_HTTP1, Authority, CertifiedKey, ClientAuthorities, ClientTls, Leaf, PeerAuthority, Roots,
    ServerTls, TlsFailure, classify, server_name,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::{TlsAcceptor, TlsConnector};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn ca(name: &str) -> Authority {
    Authority::make(name, 30 * DAY).unwrap()
}

/// What the server's side of a handshake knows.
#[derive(Debug, PartialEq)]
struct Seen {
    alpn: Option<Vec<u8>>,
    authority: Option<PeerAuthority>,
}

/// One handshake with one byte each way, which is when a refused client certificate shows.
async fn shake(
    server: ServerTls<'_>,
    client: ClientTls<'_>,
    name: &str,
) -> (Result<Seen, std::io::Error>, Result<(), TlsFailure>) {
    let acceptor = TlsAcceptor::from(Arc::new(server.build().unwrap()));
    let connector = TlsConnector::from(Arc::new(client.build().unwrap()));
    let (near, far) = tokio::io::duplex(64 << 10);
    let accepting = async {
        let mut stream = acceptor.accept(far).await?;
        stream.write_all(b"x").await?;
        stream.flush().await?;
        let session = stream.get_ref().1;
        Ok(Seen {
            alpn: session.alpn_protocol().map(<[u8]>::to_vec),
            authority: server
                .clients
                .zip(session.peer_certificates())
                .and_then(|(ca, chain)| ca.authority_of(chain)),
        })
    };
    let connecting = async {
        let mut stream = connector.connect(server_name(name).unwrap(), near).await?;
        stream.read_u8().await
    };
    let (accepted, connected) = tokio::join!(accepting, connecting);
    let failure = |error: std::io::Error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(tls) => classify(tls),
        None => TlsFailure::Other(error.to_string()),
    };
    (accepted, connected.map(drop).map_err(failure))
}

fn server(certificate: &CertifiedKey) -> ServerTls<'_> {
    ServerTls { certificate, clients: None, alpn: &[ALPN_H2, ALPN_HTTP1], tickets: None }
}

fn client(ca: &Authority) -> ClientTls<'_> {
    ClientTls {
        roots: Roots::Pem(ca.certificate_pem()),
        skip_verification: false,
        certificate: None,
        alpn: &[ALPN_HTTP1],
        resumption_sessions: 0,
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_told_apart() {
    let (good, other) = (ca("good"), ca("other"));
    let local = || Leaf::server("localhost").dns("localhost").dns("b.example.com").name("127.0.0.1");
    let now = SystemTime::now();
    let seconds = |time: SystemTime| Some(time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs());
    let mismatch = |expected: &str, presented: &[&str]| TlsFailure::NameMismatch {
        expected: Some(expected.to_owned()),
        presented: presented.iter().map(ToString::to_string).collect(),
    };
    let (ended, starts) = (now - DAY, now + DAY);
    let table = [
        (&good, local(), "localhost", Ok(())),
        (&good, local(), "127.0.0.1", Ok(())),
        (&other, local(), "localhost", Err(TlsFailure::UnknownAuthority)),
        (
            &good,
            local().valid_between(now - 9 * DAY, ended),
            "localhost",
            Err(TlsFailure::Expired { not_after: seconds(ended) }),
        ),
        (
            &good,
            local().valid_between(starts, now + 9 * DAY),
            "localhost",
            Err(TlsFailure::NotYetValid { not_before: seconds(starts) }),
        ),
        (
            &good,
            local(),
            "c.example.com",
            Err(mismatch("c.example.com", &["localhost", "b.example.com", "127.0.0.1"])),
        ),
        (&good, Leaf::server("c.example.com"), "c.example.com", Err(mismatch("c.example.com", &[]))),
    ];
    for (authority, leaf, name, expected) in table {
        let certificate = authority.issue(&leaf).unwrap();
        let (_, connected) = shake(server(&certificate), client(&good), name).await;
        assert_eq!(connected, expected, "{leaf:?}");
        let trusting = ClientTls { skip_verification: true, ..client(&good) };
        let (accepted, connected) = shake(server(&certificate), trusting, name).await;
        assert_eq!((accepted.unwrap().alpn.as_deref(), connected), (Some(ALPN_HTTP1), Ok(())));
    }
}

/// `openssl req -x509` marks its certificate as a CA, and people put it into the bundle.
#[tokio::test]
async fn a_self_signed_certificate_in_the_bundle_is_its_own_authority() {
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let own = CertifiedKey::from_pem(params.self_signed(&key).unwrap().pem(), key.serialize_pem(), "own");
    let unused = ca("unused");
    let trusting = ClientTls { roots: Roots::Pem(own.chain_pem()), ..client(&unused) };
    assert_eq!(shake(server(&own), trusting, "localhost").await.1, Ok(()));
    let mismatch = shake(server(&own), trusting, "elsewhere.example.com").await.1;
    assert!(matches!(mismatch, Err(TlsFailure::NameMismatch { .. })), "{mismatch:?}");
    let stranger = shake(server(&own), client(&ca("other")), "localhost").await.1;
    assert!(stranger.is_err(), "not in this bundle");

    params.not_after = (SystemTime::now() - DAY).into();
    let old = CertifiedKey::from_pem(params.self_signed(&key).unwrap().pem(), key.serialize_pem(), "old");
    let trusting = ClientTls { roots: Roots::Pem(old.chain_pem()), ..trusting };
    let expired = shake(server(&old), trusting, "localhost").await.1;
    assert!(matches!(expired, Err(TlsFailure::Expired { not_after: Some(_) })), "{expired:?}");
}

#[tokio::test]
async fn clients_are_told_apart_by_who_signed_them() {
    let (servers, users, proxies, strangers) =
        (ca("servers"), ca("same name"), ca("same name"), ca("strangers"));
    let certificate = servers.issue(&Leaf::server("x").dns("localhost")).unwrap();
    let authorities = ClientAuthorities::new(users.certificate_pem(), "users")
        .unwrap()
        .with_front_proxy(proxies.certificate_pem(), "proxies")
        .unwrap();
    let server = ServerTls { clients: Some(&authorities), ..server(&certificate) };
    let jane = Leaf::client("jane");
    let expired = jane.clone().valid_between(SystemTime::now() - 9 * DAY, SystemTime::now() - DAY);
    type Expected = Result<Option<PeerAuthority>, &'static str>;
    let table: [(Option<(&Authority, &Leaf)>, Expected); 6] = [
        (None, Ok(None)),
        (Some((&users, &jane)), Ok(Some(PeerAuthority::Client))),
        (Some((&proxies, &jane)), Ok(Some(PeerAuthority::FrontProxy))),
        (Some((&strangers, &jane)), Err("does not know the CA")),
        (Some((&users, &expired)), Err("CertificateExpired")),
        (Some((&users, &Leaf::server("s").dns("localhost"))), Err("refuses the client certificate")),
    ];
    for (shown, expected) in table {
        let pair = shown.map(|(authority, leaf)| authority.issue(leaf).unwrap());
        let client = ClientTls { certificate: pair.as_ref(), ..client(&servers) };
        let (accepted, connected) = shake(server.clone(), client, "localhost").await;
        match expected {
            Ok(authority) => assert_eq!(accepted.unwrap().authority, authority),
            Err(part) => {
                assert!(accepted.is_err());
                let told = connected.unwrap_err();
                assert!(matches!(told, TlsFailure::OursRefused(_)), "{told:?}");
                assert!(told.to_string().contains(part), "{told}");
            }
        }
    }
}

#[tokio::test]
async fn clear_text_and_strange_protocols_are_named() {
    let servers = ca("servers");
    let connector = TlsConnector::from(Arc::new(client(&servers).build().unwrap()));
    let (near, mut far) = tokio::io::duplex(1024);
    far.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    let error = connector.connect(server_name("localhost").unwrap(), near).await.unwrap_err();
    let tls = error.get_ref().unwrap().downcast_ref().unwrap();
    assert_eq!(classify(tls), TlsFailure::NotTls);

    let certificate = servers.issue(&Leaf::server("x").dns("localhost")).unwrap();
    let strange = ClientTls { alpn: &[b"gopher"], ..client(&servers) };
    let (_, connected) = shake(server(&certificate), strange, "localhost").await;
    assert!(matches!(connected, Err(TlsFailure::NothingInCommon(_))), "{connected:?}");
}

#[tokio::test]
async fn sessions_are_resumed_where_tickets_are_given() {
    let servers = ca("servers");
    let certificate = servers.issue(&Leaf::server("x").dns("localhost")).unwrap();
    for (tickets, expected) in [(Some(pki::ticketer().unwrap()), true), (None, false)] {
        let server = ServerTls { tickets, ..server(&certificate) };
        let acceptor = TlsAcceptor::from(Arc::new(server.build().unwrap()));
        let client = ClientTls { resumption_sessions: 4, ..client(&servers) };
        let connector = TlsConnector::from(Arc::new(client.build().unwrap()));
        let mut resumed = Vec::new();
        for _ in 0..2 {
            let (near, far) = tokio::io::duplex(64 << 10);
            let accepting = async {
                let mut stream = acceptor.accept(far).await.unwrap();
                stream.write_all(b"x").await.unwrap();
                stream.flush().await.unwrap();
                stream.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed)
            };
            let connecting = async {
                let mut stream = connector.connect(server_name("localhost").unwrap(), near).await.unwrap();
                stream.read_u8().await.unwrap();
            };
            resumed.push(tokio::join!(accepting, connecting).0);
        }
        assert_eq!(resumed, [false, expected]);
    }
}

#[test]
fn hosts_become_names() {
    for host in ["localhost", "a.example.com", "127.0.0.1", "::1", "[::1]"] {
        assert!(server_name(host).is_ok(), "{host}");
    }
    for host in ["", "a b", "a:1", "grüße.example.com"] {
        assert!(server_name(host).unwrap_err().to_string().contains(host), "{host}");
    }
}

#[test]
fn unusable_parts_are_named() {
    let servers = ca("servers");
    let error = |tls: ClientTls<'_>| tls.build().unwrap_err().to_string();
    let nothing = ClientTls { roots: Roots::Pem(b"nothing"), ..client(&servers) };
    assert_eq!(error(nothing), "the CA bundle: no CERTIFICATE section in PEM form");
    let (a, b) = (servers.issue(&Leaf::client("a")).unwrap(), servers.issue(&Leaf::client("b")).unwrap());
    let mixed = CertifiedKey::from_pem(a.chain_pem(), b.key_pem(), "the client certificate");
    assert!(error(ClientTls { certificate: Some(&mixed), ..client(&servers) }).contains("does not match"));
}
