//! The example as a program: driven by HTTPS as a door drives it, ended by a signal, started anew.

use std::{net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use http::StatusCode;
use serde_json::{Value, json};
use testkit::{Client, Reply, Serving, Target, TempPki};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

const NOTES: &str = "/apis/example.trellis.dev/v1/namespaces/default/notes";
/// Longest that something may take which comes by itself.
const PATIENCE: Duration = Duration::from_secs(60);

struct Notes {
    process: Child,
    address: SocketAddr,
}

impl Notes {
    async fn start(pki: &TempPki) -> Self {
        let serving = pki.serving(Serving::Good);
        let (certificate, key) = (pki.dir().join("serving.crt"), pki.dir().join("serving.key"));
        serving.save(&certificate, &key).expect("the serving certificate");
        let ca = pki.file("front-proxy-ca.crt", pki.front_proxy_ca.certificate_pem());
        let mut process = Command::new(program())
            .arg("127.0.0.1:0")
            .args([pki.dir().join("notes.db"), certificate, key, ca])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the example");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        let line = line.expect("a line").expect("that it listens");
        let address = line.strip_prefix("listening on ").expect("an address").parse().expect("an address");
        Self { process, address }
    }

    async fn stop(mut self) {
        let id = self.process.id().expect("a process").to_string();
        let signalled = Command::new("kill").args(["-TERM", &id]).status().await.expect("kill");
        assert!(signalled.success());
        let ended = tokio::time::timeout(PATIENCE, self.process.wait()).await.expect("an end in time");
        assert!(ended.expect("an end").success());
    }

    fn door(&self, pki: &TempPki) -> Target {
        Target::tls(self.address, pki.server_ca.certificate_pem()).identity(pki.front_proxy("door"))
    }
}

/// Cargo builds the examples beside the tests.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    own.ancestors().nth(2).expect("the folder of programs").join("examples/notes")
}

async fn ask(client: &mut Client, method: &str, path: &str, user: &str, body: Option<Value>) -> Reply {
    let identity = [("x-remote-user", user), ("x-remote-group", "writers")];
    let headers = if user.is_empty() { &[] } else { identity.as_slice() };
    client.request(method, path, headers, body.map(|body| body.to_string()).unwrap_or_default()).await
}

#[tokio::test]
async fn notes() {
    let pki = TempPki::new();
    let server = Notes::start(&pki).await;
    let client = &mut Client::http2(&server.door(&pki)).await.expect("a connection");

    let note = |name: &str, spec: Value| Some(json!({ "metadata": { "name": name }, "spec": spec }));
    let made = ask(client, "POST", NOTES, "jane", note("one", json!({ "text": "hello" }))).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    let made = made.json();
    assert_eq!(made["spec"], json!({ "text": "hello", "urgency": "Normal" }));
    assert_eq!(made["status"]["author"], "jane");
    assert_eq!(made["metadata"]["generation"], 1);

    let bad = json!({ "text": "x", "tags": ["Not a label"] });
    let refused = ask(client, "POST", NOTES, "jane", note("two", bad)).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().contains("spec.tags[0]"), "{}", refused.text());
    let wrong = ask(client, "POST", NOTES, "jane", note("two", json!({ "urgency": "Never" }))).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", wrong.text());
    assert!(wrong.text().contains("Unsupported value"), "{}", wrong.text());

    let urgent = format!("{NOTES}?fieldSelector=spec.urgency%3DHigh");
    let selected = ask(client, "GET", &urgent, "jane", None).await;
    assert_eq!(selected.json()["items"], json!([]));
    let nobody = ask(client, "GET", NOTES, "", None).await;
    assert_eq!(nobody.status, StatusCode::FORBIDDEN, "a front proxy that names nobody: {}", nobody.text());
    let stranger = Target::tls(server.address, pki.server_ca.certificate_pem());
    let stranger = &mut Client::http1(&stranger).await.expect("a connection");
    let forged = ask(stranger, "GET", NOTES, "jane", None).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN, "whoever is no front proxy is nobody");

    let v3 = ask(client, "GET", "/openapi/v3/apis/example.trellis.dev/v1", "jane", None).await.json();
    let schema = &v3["components"]["schemas"]["dev.trellis.example.v1.NoteSpec"];
    assert_eq!(schema["properties"]["text"]["description"], "The text, at most 64 kB.");

    server.stop().await;
    let server = Notes::start(&pki).await;
    let client = &mut Client::http1(&server.door(&pki)).await.expect("a connection");
    let kept = ask(client, "GET", &format!("{NOTES}/one"), "jane", None).await;
    assert_eq!(kept.json(), made, "what was acknowledged is there after a restart");
    server.stop().await;
}
