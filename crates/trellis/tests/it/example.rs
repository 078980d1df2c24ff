//! The example server asked directly: it believes the door, and nobody else.

use std::path::Path;

use pki::CertifiedKey;
use testkit::{
    TempPki,
    client::{Client, Target},
};

use crate::program::{Running, trellis};

struct Example {
    _running: Running,
    target: Target,
    pki: TempPki,
}

impl Example {
    fn start(state: &Path, extra: &[&str]) -> Self {
        let pki = TempPki::new();
        let ca = pki.file("front-proxy-ca.crt", pki.front_proxy_ca.certificate_pem());
        let mut running = Running::start(
            trellis()
                .args(["example-server", "--state"])
                .arg(state)
                .arg("--front-proxy-ca")
                .arg(ca)
                .args(extra),
        );
        let line = running.line("example server listens on ");
        let address = line.rsplit("https://").next().expect("a URL").parse().expect("an address");
        let ca = std::fs::read(state.join("ca.crt")).expect("its authority");
        Self { _running: running, target: Target::tls(address, &ca), pki }
    }

    async fn code(&self, identity: Option<CertifiedKey>, headers: &[(&str, &str)]) -> u16 {
        let target = match identity {
            Some(identity) => self.target.clone().identity(identity),
            None => self.target.clone(),
        };
        let mut client = Client::http1(&target).await.expect("it answers");
        client.get("/apis/example.trellis.dev/v1/notes", headers).await.status.as_u16()
    }
}

#[tokio::test]
async fn only_the_front_proxy_names_users() {
    let state = tempfile::tempdir().expect("a folder");
    let example = Example::start(state.path(), &[]);
    let named = [("x-remote-user", "jane")];
    assert_eq!(example.code(None, &named).await, 401, "no certificate");
    assert_eq!(example.code(Some(example.pki.front_proxy("door")), &[]).await, 401, "nobody named");
    assert_eq!(example.code(Some(example.pki.front_proxy("door")), &named).await, 200);
}

#[tokio::test]
async fn the_front_proxy_has_one_of_the_names() {
    let state = tempfile::tempdir().expect("a folder");
    let example = Example::start(state.path(), &["--front-proxy-names", "door"]);
    let named = [("x-remote-user", "jane")];
    assert_eq!(example.code(Some(example.pki.front_proxy("other")), &named).await, 401);
    assert_eq!(example.code(Some(example.pki.front_proxy("door")), &named).await, 200);
}
