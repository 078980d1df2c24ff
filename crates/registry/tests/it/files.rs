//! The watched directory.

use std::path::PathBuf;

use catalog::ServerName;
use http::StatusCode;
use serde_json::json;
use testkit::FakeServer;

use crate::support::{API_SERVICES, COLLECTION, Door, routed, write};

const GROUP: &str = "wardle.example.com";

struct Directory {
    door: Door,
    path: PathBuf,
}

impl Directory {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("registrations");
        std::fs::create_dir(&path).unwrap();
        let directory = path.clone();
        let door = Door::in_folder(folder, |config| config.registrations = Some(directory));
        Self { door, path }
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.path.join(name), text);
    }

    async fn has(&self, name: &str) {
        self.door.catalog_until(|c| c.server(&ServerName::new(name)).is_some()).await;
    }

    async fn lacks(&self, name: &str) {
        self.door.catalog_until(|c| c.server(&ServerName::new(name)).is_none()).await;
    }

    /// Waits until some problem contains `part`.
    async fn problem(&self, part: &str) -> String {
        for _ in 0..1000 {
            let (stored, files) = self.door.registry.problems();
            let all = stored.iter().map(ToString::to_string).chain(files.iter().map(ToString::to_string));
            if let Some(found) = all.into_iter().find(|problem| problem.contains(part)) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{part:?} was never reported: {:?}", self.door.registry.problems());
    }
}

fn yaml(name: &str, url: &str) -> String {
    format!(
        "apiVersion: federation.trellis.dev/v1alpha1\nkind: APIServer\nmetadata:\n  name: {name}\nspec:\n  url: {url}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_change_move_and_go() {
    let server = FakeServer::builder().start().await;
    let directory = Directory::start();
    directory.write("a.yaml", &yaml("wardle", &server.url()));
    directory.door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    let health = directory.door.health_until("wardle", |h| !h.group_versions.is_empty()).await;
    assert_eq!(health.source, "File");
    let (_, before) = directory.door.get(&format!("{COLLECTION}/wardle")).await;
    assert!(
        before["metadata"]["annotations"]["federation.trellis.dev/file"]
            .as_str()
            .unwrap()
            .ends_with("a.yaml:1")
    );

    std::fs::rename(directory.path.join("a.yaml"), directory.path.join("b.yaml")).unwrap();
    for _ in 0..1000 {
        let (_, after) = directory.door.get(&format!("{COLLECTION}/wardle")).await;
        if after["metadata"]["annotations"]["federation.trellis.dev/file"]
            .as_str()
            .is_some_and(|f| f.ends_with("b.yaml:1"))
        {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    directory.write(
        "b.yaml",
        &format!("{}---\n{}", yaml("wardle", &server.url()), yaml("other", "https://127.0.0.1:1")),
    );
    directory.has("other").await;
    directory.write("b.yaml", &yaml("wardle", &server.url()));
    directory.lacks("other").await;
    std::fs::remove_file(directory.path.join("b.yaml")).unwrap();
    directory.lacks("wardle").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_file_is_reported_with_its_line_and_what_it_said_stays() {
    let directory = Directory::start();
    directory.write("good.yaml", &yaml("good", "https://127.0.0.1:1"));
    directory.write("a.yaml", &yaml("wardle", "https://127.0.0.1:2"));
    directory.has("wardle").await;
    directory.write("a.yaml", &yaml("wardle", "ftp://127.0.0.1:2"));
    let problem = directory.problem("ftp").await;
    assert!(problem.contains("a.yaml:6: ") && problem.contains("spec.url: Invalid value"), "{problem}");
    assert!(problem.ends_with("what it said before stays in force"), "{problem}");
    directory.write("a.yaml", "apiVersion: [\n");
    assert!(directory.problem("a.yaml:").await.contains("stays in force"));
    std::fs::write(directory.path.join("a.yaml"), "").unwrap();
    directory.problem("is empty").await;
    for name in ["good", "wardle"] {
        assert!(directory.door.catalog().server(&ServerName::new(name)).is_some(), "{name}");
    }
    // Also when the door starts while the file is bad.
    let (registrations, door) = (directory.path.clone(), directory.door);
    door.registry.shutdown().await;
    let Door { registry, folder } = door;
    drop(registry);
    let door = Door::in_folder(folder, |config| config.registrations = Some(registrations));
    assert!(door.catalog().server(&ServerName::new("wardle")).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_written_in_pieces_counts_when_it_is_whole() {
    use std::io::Write as _;
    let directory = Directory::start();
    let text = yaml("wardle", "https://127.0.0.1:443");
    let mut file = std::fs::File::create(directory.path.join("a.yaml")).unwrap();
    let cut = text.len() - 3;
    file.write_all(&text.as_bytes()[..cut]).unwrap();
    file.flush().unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    file.write_all(&text.as_bytes()[cut..]).unwrap();
    drop(file);
    directory.has("wardle").await;
    let (_, object) = directory.door.get(&format!("{COLLECTION}/wardle")).await;
    assert_eq!(object["spec"]["url"], "https://127.0.0.1:443");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_counts_once() {
    let directory = Directory::start();
    directory.door.register("api", "https://127.0.0.1:1").await;
    directory.write("a.yaml", &yaml("one", "https://127.0.0.1:2"));
    directory.write("b.yaml", &yaml("one", "https://127.0.0.1:3"));
    directory.write("c.yaml", &yaml("api", "https://127.0.0.1:4"));
    let double = directory.problem("is already defined in").await;
    assert!(double.contains("b.yaml:1: ") && double.contains("a.yaml:1"), "{double}");
    directory.problem("was registered through the API before").await;
    let (_, object) = directory.door.get(&format!("{COLLECTION}/api")).await;
    assert_eq!(object["spec"]["url"], "https://127.0.0.1:1");
    directory.door.unregister("api").await;
    for _ in 0..1000 {
        let (_, object) = directory.door.get(&format!("{COLLECTION}/api")).await;
        if object["spec"]["url"] == "https://127.0.0.1:4" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the file's registration never came to light");
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_of_files_are_changed_in_files() {
    let directory = Directory::start();
    directory.write("a.yaml", &yaml("one", "https://127.0.0.1:2"));
    directory.has("one").await;
    for (method, body) in
        [("PATCH", json!({ "spec": { "identity": "impersonate" } })), ("DELETE", json!(null))]
    {
        let (status, answer) = directory.door.send(method, &format!("{COLLECTION}/one"), &body).await;
        assert_eq!(status, StatusCode::CONFLICT, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("a.yaml; change it there"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projects_whole_manifest_may_lie_there() {
    let directory = Directory::start();
    directory.write(
        "components.yaml",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: metrics-server\n  namespace: kube-system\n---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata:\n  labels:\n    k8s-app: metrics-server\n  name: v1beta1.metrics.k8s.io\nspec:\n  group: metrics.k8s.io\n  groupPriorityMinimum: 100\n  insecureSkipTLSVerify: true\n  service:\n    name: metrics-server\n    namespace: kube-system\n  version: v1beta1\n  versionPriority: 100\n",
    );
    directory.has("metrics-server.kube-system.svc").await;
    let condition = directory
        .door
        .condition_until("metrics-server.kube-system.svc", "Available", "ServiceNotFound")
        .await;
    assert!(condition.message.contains("runs without a core"), "{}", condition.message);
    let path = format!("{API_SERVICES}/v1beta1.metrics.k8s.io");
    for _ in 0..1000 {
        let (_, object) = directory.door.get(&path).await;
        if object["status"]["conditions"][0]["reason"] == "ServiceNotFound" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the APIService never got its condition");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_named_by_a_registration_are_followed() {
    let pki = testkit::TempPki::new();
    let server = FakeServer::builder().tls(&pki, testkit::Serving::Good).start().await;
    let directory = Directory::start();
    let ca = pki.file("ca.pem", b"");
    let text = yaml("wardle", &server.url());
    directory.write("a.yaml", &format!("{text}  caFile: {}\n", ca.display()));
    directory.door.condition_until("wardle", "Available", "InvalidCredentials").await;
    std::fs::write(&ca, pki.server_ca.certificate_pem()).unwrap();
    directory.door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
}
