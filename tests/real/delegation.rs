//! The library's server beside a real core: whom it knows and what they may do is what the core says, also
//! when it is reached without a door before it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use apiserver::{
    delegate::{Client, Connection},
    listen,
    resource::Definition,
    service::Service,
    serving::Files,
    storage::{Embedded, Options},
};
use libtest_mimic::Trial;
use pki::CertifiedKey;
use serde_json::{Value, json};
use testkit::{
    Reply, Serving, Target,
    real::{Core, Http, Protocol, program},
};
use tokio::{net::TcpListener, runtime::Runtime};

use crate::rows::{skipped, trial};

const LIMIT: Duration = Duration::from_secs(60);
const THINGS: &str = "/apis/delegation.example.com/v1/namespaces/default/things";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

pub(crate) fn trials() -> Vec<Trial> {
    let name = "delegation::a server that is reached directly";
    let missing = ["etcd", "kube-apiserver"].into_iter().find_map(|name| program(name).err());
    vec![match &missing {
        Some(reason) => skipped(name, reason),
        None => trial(name, reached_directly),
    }]
}

/// A core and a server beside it.
struct Beside {
    core: Core,
    http: Http,
    address: SocketAddr,
    _runtime: Runtime,
}

fn reached_directly() {
    let beside = Beside::start();
    let pki = beside.core.pki();
    let nobody = Target::tls(beside.address, pki.server_ca.certificate_pem());
    let alice = nobody.clone().identity(pki.user("alice", &["readers"]));
    let master = nobody.clone().identity(pki.user("root", &["system:masters"]));
    let (certificate, key) = beside.core.front_proxy();
    let proxy = nobody.clone().identity(CertifiedKey::load(&certificate, &key).unwrap());
    let robot = beside.token();

    beside.expect(&nobody, &[], ("GET", THINGS), 403, "User \"system:anonymous\" cannot list");
    beside.expect(&nobody, &[], ("GET", "/livez"), 200, "ok");
    beside.expect(&nobody, &[("authorization", "Bearer nonsense")], ("GET", THINGS), 401, "Unauthorized");
    beside.expect(&alice, &[], ("GET", THINGS), 403, "User \"alice\" cannot list resource \"things\"");
    beside.expect(&master, &[], ("GET", THINGS), 200, "ThingList");
    let bearer = format!("Bearer {robot}");
    let robot = [("authorization", &*bearer)];
    let message = "User \"system:serviceaccount:default:robot\" cannot list";
    beside.expect(&nobody, &robot, ("GET", THINGS), 403, message);
    // Only front proxies speak for others.
    let as_root = [("x-remote-user", "root"), ("x-remote-group", "system:masters")];
    beside.expect(&proxy, &as_root, ("GET", THINGS), 200, "ThingList");
    beside.expect(&proxy, &[("x-remote-user", "alice")], ("GET", THINGS), 403, "User \"alice\"");
    beside.expect(&alice, &as_root, ("GET", THINGS), 403, "User \"alice\" cannot");
    beside.expect(&nobody, &as_root, ("GET", THINGS), 403, "User \"system:anonymous\" cannot");

    let rules = [json!({"apiGroups": ["delegation.example.com"], "resources": ["things"], "verbs": ["*"]})];
    let account = json!({"kind": "ServiceAccount", "namespace": "default", "name": "robot"});
    beside.allow("things", &rules, &[group("readers"), account]);
    beside.eventually(&alice, &[], ("GET", THINGS), 200);
    beside.eventually(&nobody, &robot, ("GET", THINGS), 200);
    beside.expect(&alice, &[], ("POST", THINGS), 201, "\"name\":\"one\"");
    let absent = THINGS.replace("default", "absent");
    beside.expect(&alice, &[], ("POST", &absent), 404, "namespaces \\\"absent\\\" not found");
    let going = THINGS.replace("default", "going");
    beside.core_post("/api/v1/namespaces", &json!({"metadata": {"name": "going"}}));
    beside.expect(&alice, &[], ("POST", &going), 201, "\"namespace\":\"going\"");
    beside
        .http
        .send(&beside.core.admin(), Protocol::Http1, ("DELETE", "/api/v1/namespaces/going"), &[], "", LIMIT)
        .unwrap();
    // Nobody here ends the deletion, so the namespace stays as it is.
    beside.eventually(&alice, &[], ("POST", &going), 403);
    beside.expect(&alice, &[], ("POST", &going), 403, "because it is being terminated");
}

fn group(name: &str) -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name})
}

impl Beside {
    fn start() -> Self {
        let core = Core::start(Ipv4Addr::LOCALHOST.into()).unwrap_or_else(|reason| panic!("{reason}"));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let mut beside =
            Self { core, http: Http::new(), address: (Ipv4Addr::LOCALHOST, 0).into(), _runtime: runtime };
        beside.permit_delegation();
        beside.address = beside.serve();
        beside
    }

    /// What the account of every such server needs.
    fn permit_delegation(&self) {
        let servers = [group("servers")];
        let bind = |kind: &str, role: &str| {
            json!({
                "metadata": {"name": "servers"}, "subjects": servers,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            })
        };
        self.core_post(&format!("{RBAC}/clusterrolebindings"), &bind("ClusterRole", "system:auth-delegator"));
        let reader = bind("Role", "extension-apiserver-authentication-reader");
        self.core_post(&format!("{RBAC}/namespaces/kube-system/rolebindings"), &reader);
        let rules = [json!({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]})];
        self.allow("namespaces-of-servers", &rules, &servers);
    }

    fn serve(&self) -> SocketAddr {
        let pki = self.core.pki();
        let (certificate, key) = (pki.dir().join("things.crt"), pki.dir().join("things.key"));
        pki.serving(Serving::Good).save(&certificate, &key).unwrap();
        let connection =
            Connection::from_kubeconfig(&self.core.kubeconfig_of("things", &["servers"])).unwrap();
        self._runtime.block_on(async {
            let core: Arc<dyn apiserver::delegate::Core> = Arc::new(Client::new(&connection).unwrap());
            until_permitted(&*core).await;
            let files = Files { certificate, key, ..Files::default() };
            let serving = files.load_beside(Arc::clone(&core)).await.unwrap();
            let service = Service::builder()
                .resource(Definition::new("delegation.example.com", "v1", "Thing", "things"))
                .authenticator(serving.certificates.clone())
                .beside(&core)
                .build(Arc::new(Embedded::in_memory(Options::default()).unwrap()))
                .unwrap();
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move {
                let (tls, limits) = (Arc::clone(&serving.tls), listen::Limits::default());
                listen::serve(Arc::new(service), listener, tls, limits, std::future::pending()).await;
                drop(serving);
            });
            address
        })
    }

    fn core_post(&self, path: &str, body: &Value) -> Value {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let begun = Instant::now();
        loop {
            let asked = ("POST", path);
            let reply =
                self.http.send(&self.core.admin(), Protocol::Http1, asked, &headers, body.to_string(), LIMIT);
            let reply = reply.unwrap();
            // A core that has just started has not made its own roles and namespaces yet.
            if reply.status.is_success() {
                return reply.json();
            }
            assert!(begun.elapsed() < LIMIT, "{path}: {}", reply.text());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn allow(&self, name: &str, rules: &[Value], subjects: &[Value]) {
        self.core_post(&format!("{RBAC}/clusterroles"), &json!({"metadata": {"name": name}, "rules": rules}));
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let binding = json!({"metadata": {"name": name}, "subjects": subjects, "roleRef": role});
        self.core_post(&format!("{RBAC}/clusterrolebindings"), &binding);
    }

    /// A token of the service account `default/robot`.
    fn token(&self) -> String {
        let accounts = "/api/v1/namespaces/default/serviceaccounts";
        self.core_post(accounts, &json!({"metadata": {"name": "robot"}}));
        let answer = self.core_post(&format!("{accounts}/robot/token"), &json!({"spec": {}}));
        answer["status"]["token"].as_str().unwrap().to_owned()
    }

    fn ask(&self, target: &Target, headers: &[(&str, &str)], (method, path): (&str, &str)) -> Reply {
        let mut headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        let body = if method == "POST" { r#"{"metadata": {"name": "one"}}"# } else { "" };
        self.http.send(target, Protocol::Http1, (method, path), &headers, body, LIMIT).unwrap()
    }

    fn expect(&self, target: &Target, headers: &[(&str, &str)], asked: (&str, &str), code: u16, text: &str) {
        let reply = self.ask(target, headers, asked);
        let message = reply.text().replace("\\\"", "\"");
        let text = text.replace("\\\"", "\"");
        assert_eq!(reply.status.as_u16(), code, "{asked:?}: {message}");
        assert!(message.contains(&text), "{asked:?}: {message}");
    }

    /// Answers are believed for a while: a change counts later.
    fn eventually(&self, target: &Target, headers: &[(&str, &str)], asked: (&str, &str), code: u16) {
        let begun = Instant::now();
        loop {
            let reply = self.ask(target, headers, asked);
            if reply.status.as_u16() == code {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{asked:?}: {}", reply.text());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Bindings count a moment after they are made.
async fn until_permitted(core: &dyn apiserver::delegate::Core) {
    let begun = Instant::now();
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    while let Err(error) = core.get(path).await {
        assert!(begun.elapsed() < LIMIT, "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
