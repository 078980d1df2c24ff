//! A server of the test kit as the door sees it.

use std::{sync::Arc, time::Duration};

use catalog::{
    ClientCertificate, Credentials, Endpoint, IdentityMode, Limits, Role, Roots, Secret, Server, ServerName,
    Trust,
};
use dial::{Client, TlsSetup};
use testkit::{FakeServer, TempPki};

/// The registration of `fake`, trusting the test server CA.
pub(crate) fn server(pki: &TempPki, fake: &FakeServer) -> Server {
    let address = fake.address();
    Server {
        name: ServerName::new("test"),
        revision: 1,
        role: Role::Federated,
        endpoints: vec![Endpoint::Network {
            tls: fake.url().starts_with("https"),
            host: address.ip().to_string(),
            port: address.port(),
        }],
        base_path: String::new(),
        trust: Trust {
            roots: Roots::Pem(pki.server_ca.certificate_pem().into()),
            server_name: None,
            skip_verification: false,
        },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: Limits { connect_timeout: Duration::from_secs(20), ..Limits::default() },
        direct_address: None,
    }
}

pub(crate) fn with_certificate(mut server: Server, pair: &pki::CertifiedKey) -> Server {
    server.credentials.client_certificate =
        Some(ClientCertificate { chain: pair.chain_pem().into(), key: Secret::new(pair.key_pem()) });
    server
}

pub(crate) fn client(server: Server) -> Client {
    let setup = Arc::new(TlsSetup::new(&server).unwrap());
    let endpoint = server.endpoints[0].clone();
    Client::new(Arc::new(server), endpoint, setup)
}
