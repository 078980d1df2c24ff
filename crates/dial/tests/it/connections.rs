//! Connections as the data path opens them.

use std::time::Duration;

use dial::{Offer, Protocol, TlsSetup, connect};
use testkit::{FakeServer, Serving, TempPki};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::world::server;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_protocol_is_negotiated_and_can_be_narrowed() {
    let pki = TempPki::new();
    let both = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let old = FakeServer::builder().tls(&pki, Serving::Good).http1_only().start().await;
    let clear = FakeServer::builder().start().await;
    let table = [
        (&both, Offer::Any, Protocol::Http2),
        (&both, Offer::Http1, Protocol::Http1),
        (&old, Offer::Any, Protocol::Http1),
        (&clear, Offer::Any, Protocol::Http1),
    ];
    for (fake, offer, expected) in table {
        let server = server(&pki, fake);
        let setup = TlsSetup::new(&server).unwrap();
        let connected = connect(&setup, &server.endpoints[0], offer, PATIENCE).await.unwrap();
        assert_eq!(connected.protocol, expected);
        if expected == Protocol::Http1 {
            let mut io = connected.io;
            let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            io.write_all(request).await.unwrap();
            let mut answer = String::new();
            io.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    }
}

#[tokio::test]
async fn every_address_of_a_name_is_tried() {
    // `localhost` often has ::1 first, where nothing listens.
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let server = server(&pki, &fake);
    let setup = TlsSetup::new(&server).unwrap();
    let endpoint =
        catalog::Endpoint::Network { tls: true, host: "localhost".to_owned(), port: fake.address().port() };
    connect(&setup, &endpoint, Offer::Any, PATIENCE).await.unwrap();
}
