//! `register`, `unregister`, `servers`, `explain` against a running door.

use std::process::Command;

use serde_json::Value;
use testkit::{FakeServer, Group, Resource, Serving, TempPki};

use crate::program::{Ended, Up, run, trellis, wait_for};

struct Setup {
    up: Up,
    pki: TempPki,
    server: FakeServer,
    _folder: tempfile::TempDir,
}

impl Setup {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let up = Up::start(folder.path());
        let pki = TempPki::new();
        let group = Group::new("wardle.example.com", "v1", [Resource::namespaced("flunders", "Flunder")]);
        let server = FakeServer::builder().tls(&pki, Serving::Good).group(group).start().await;
        Self { up, pki, server, _folder: folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = trellis();
        command.args(args).arg("--kubeconfig").arg(&self.up.kubeconfig.path);
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        run(&mut self.command(args))
    }

    fn register(&self, extra: &[&str]) -> Ended {
        let ca = self.pki.file("server-ca.crt", self.pki.server_ca.certificate_pem());
        let url = self.server.url();
        run(self.command(&["register", &url, "--name", "wardle"]).arg("--ca").arg(ca).args(extra))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_comes_and_goes() {
    let setup = Setup::new().await;
    let registered = setup.register(&[]);
    assert_eq!(registered.code, 0, "{}", registered.stderr);
    assert_eq!(registered.stdout, "wardle is registered\nwardle is available: wardle.example.com/v1\n");

    let servers = setup.run(&["servers", "-o", "json"]);
    let report: Value = serde_json::from_str(&servers.stdout).expect("JSON");
    let names: Vec<_> =
        report["servers"].as_array().expect("a list").iter().map(|server| &server["name"]).collect();
    assert_eq!(names, ["example", "wardle"]);

    let path = "/apis/wardle.example.com/v1/namespaces/a/flunders/b";
    let route = setup.run(&["explain", "route", "GET", path]);
    for part in ["answered by wardle", "x-remote-user: trellis-admin", "GET /apis/wardle.example.com"] {
        assert!(route.stdout.contains(part), "{part} is missing in\n{}", route.stdout);
    }
    let sent = setup.server.requests().iter().any(|request| request.target.contains("flunders/b"));
    assert!(!sent, "it is explained, not sent");

    let again = setup.register(&[]);
    assert_eq!(again.code, 9, "{}", again.stderr);
    assert_eq!(setup.register(&["--replace"]).stdout.lines().next(), Some("wardle is registered already"));

    assert_eq!(setup.run(&["unregister", "wardle"]).stdout, "wardle is unregistered\n");
    assert_eq!(setup.run(&["unregister", "wardle"]).code, 8);
    let mut door = setup.up.kubeconfig.client().await;
    assert_eq!(door.get("/apis/wardle.example.com/v1", &[]).await.status, 404);
}

/// The door's administrator by a credential plugin instead of data in the kubeconfig.
#[tokio::test(flavor = "multi_thread")]
async fn a_credential_plugin_says_who_asks() {
    let setup = Setup::new().await;
    let text = std::fs::read_to_string(&setup.up.kubeconfig.path).expect("a kubeconfig");
    let mut kubeconfig: Value = serde_saphyr::from_str(&text).expect("YAML");
    let folder = tempfile::tempdir().expect("a folder");
    let pem = |field: &str| {
        use base64::Engine as _;
        let data = kubeconfig["users"][0]["user"][field].as_str().expect("data");
        String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data).expect("base64"))
            .expect("PEM")
    };
    let credential = serde_json::json!({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "status": {
            "clientCertificateData": pem("client-certificate-data"),
            "clientKeyData": pem("client-key-data"),
        },
    });
    let answer = folder.path().join("answer.json");
    std::fs::write(&answer, credential.to_string()).expect("written");
    let mut servers = |user: Value| {
        kubeconfig["users"][0]["user"] = user;
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, kubeconfig.to_string()).expect("written");
        run(trellis().args(["servers", "--kubeconfig"]).arg(path))
    };
    let exec = |command: &str| {
        serde_json::json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
            "command": command, "args": [answer],
        }})
    };
    let listed = servers(exec("cat"));
    assert_eq!((listed.code, listed.stdout.contains("example")), (0, true), "{}", listed.stderr);
    let missing = servers(exec("no-such-plugin"));
    assert_eq!(
        (missing.code, missing.stderr.contains("unable to run auth exec")),
        (3, true),
        "{}",
        missing.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_named_with_its_cause() {
    let setup = Setup::new().await;
    let dead = setup.run(&["register", "https://127.0.0.1:1", "--name", "dead", "--timeout", "2s"]);
    assert_eq!(dead.code, 10);
    assert!(dead.stderr.contains("ConnectionRefused"), "{}", dead.stderr);
    assert!(dead.stderr.contains("trellis unregister dead"), "{}", dead.stderr);
    let at_once = setup.run(&["register", "https://127.0.0.1:2", "--name", "other", "--no-wait"]);
    assert_eq!((at_once.code, &*at_once.stdout), (0, "other is registered\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_tells_what_changes() {
    let setup = Setup::new().await;
    let mut watch = crate::program::Running::start(&mut setup.command(&["servers", "--watch"]));
    watch.line("example");
    assert_eq!(setup.register(&[]).code, 0);
    watch.line("wardle");
    assert_eq!(setup.run(&["unregister", "wardle"]).code, 0);
    watch.line("Gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_is_told_so() {
    let setup = Setup::new().await;
    let text = std::fs::read_to_string(&setup.up.kubeconfig.path).expect("readable");
    let nobody: String =
        text.lines().filter(|line| !line.contains("client-")).map(|line| format!("{line}\n")).collect();
    let path = setup.pki.file("nobody.kubeconfig", nobody.replace("  user:\n", "  user: {}\n").as_bytes());
    let refused = run(trellis().arg("servers").arg("--kubeconfig").arg(path));
    assert_eq!(refused.code, 7, "{}", refused.stderr);
    assert!(refused.stderr.contains("does not know you"), "{}", refused.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_example_that_dies_stays_in_discovery() {
    let setup = Setup::new().await;
    assert!(
        Command::new("kill").args(["-9", &setup.up.example.to_string()]).status().expect("kill").success()
    );
    wait_for("the example to be unavailable", || {
        setup.run(&["servers"]).stdout.contains("False (").then_some(())
    });
    let mut door = setup.up.kubeconfig.client().await;
    let resources = door.get("/apis/example.trellis.dev/v1", &[]).await;
    assert_eq!(resources.json()["resources"][0]["name"], "notes", "{}", resources.text());
    let notes = door.get("/apis/example.trellis.dev/v1/notes", &[]).await;
    assert_eq!((notes.status.as_u16(), &notes.json()["reason"]), (503, &Value::from("ServiceUnavailable")));
}
