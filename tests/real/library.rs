//! The same requests to kube-apiserver and to the library `apiserver`, which serves the same kinds.
//!
//! Requests are data (`crates/apiserver/tests/requests`), and so is what may differ
//! (`library/differences.yaml`), each with its reason.

#[path = "../../crates/apiserver/tests/kinds.rs"]
mod kinds;
mod server;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    thread,
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use pki::{Kubeconfig, KubeconfigUser};
use testkit::{
    Reply, Target, TempPki,
    real::{Core, Http, Kubectl, Protocol, program},
};

use crate::{
    differential::{
        answer::Answer,
        cases::{Case, read_cases_in},
        differences::Differences,
    },
    rows::{Shared, folder, skipped, trial},
};

/// How many requests there must be at least.
const REQUESTS: usize = 120;
/// How many entries the list of differences may have at most.
const ENTRIES: usize = 12;
/// Longer than any answer takes.
const LIMIT: Duration = Duration::from_secs(60);
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(crate) fn trials() -> Vec<Trial> {
    let cases = requests();
    let count = cases.len();
    let run = Shared::new();
    let mut trials = vec![trial("library::there are enough requests and few differences", move || {
        assert!(count >= REQUESTS, "{count} requests");
        let entries = differences().len();
        assert!(entries <= ENTRIES, "{entries} entries in differences.yaml");
        println!("figure: library requests = {count}");
        println!("figure: library differences = {entries}");
    })];
    let missing = ["etcd", "kube-apiserver"].into_iter().find_map(|name| program(name).err());
    for case in cases {
        let name = format!("library::{}", case.name);
        trials.push(match &missing {
            Some(reason) => skipped(name, reason),
            None => {
                let run = run.clone();
                trial(name, move || run.get(Run::make).check(&case.name))
            }
        });
    }
    let name = "library::large answers are compressed alike";
    trials.push(match &missing {
        Some(reason) => skipped(name, reason),
        None => {
            let run = run.clone();
            trial(name, move || {
                let compressed = &run.get(Run::make).compressed;
                assert_eq!(compressed[0], compressed[1]);
                let gzipped = compressed[0].iter().filter(|line| line.contains("gzip")).count();
                assert!(gzipped > 0 && gzipped < compressed[0].len(), "{compressed:?}");
            })
        }
    });
    let name = "library::kubectl explains and checks kinds";
    trials.push(match program("kubectl") {
        Err(reason) => skipped(name, &reason),
        Ok(_) => trial(name, explain),
    });
    let name = "library::every difference in the list is one";
    trials.push(match missing {
        Some(reason) => skipped(name, &reason),
        None => trial(name, move || run.get(Run::make).check_list()),
    });
    trials
}

fn requests() -> Vec<Case> {
    read_cases_in(&folder("../crates/apiserver/tests/requests"))
}

fn differences() -> Differences {
    Differences::read_from(&folder("library").join("differences.yaml"))
}

/// All requests to both, once.
struct Run {
    /// What differed, by case: field to the two values.
    found: BTreeMap<String, BTreeMap<String, (String, String)>>,
    /// How objects of several sizes travelled from kube-apiserver and from the library.
    compressed: [Vec<String>; 2],
}

impl Run {
    fn make() -> Self {
        let cases = requests();
        let core = Core::start(Ipv4Addr::LOCALHOST.into()).unwrap_or_else(|reason| panic!("{reason}"));
        prepare(&core);
        let library = server::start(core.pki());
        let (http, mut found) = (Http::new(), BTreeMap::new());
        for case in &cases {
            let upstream = ask(&http, &core.admin(), case);
            let own = ask(&http, &library.admin(core.pki()), case);
            found.insert(case.name.clone(), upstream.differs(&own));
        }
        let sides = [&core.admin(), &library.admin(core.pki())];
        Self { found, compressed: sides.map(|side| compressed(&http, side)) }
    }

    fn check(&self, case: &str) {
        let differences = differences();
        let unexplained: Vec<String> = self.found[case]
            .iter()
            .filter(|(field, (_, own))| !differences.allow(case, field, own))
            .map(|(field, (left, right))| format!("{field}\n  upstream: {left}\n  library:  {right}"))
            .collect();
        assert!(unexplained.is_empty(), "differs in\n{}", unexplained.join("\n"));
    }

    fn check_list(&self) {
        let (differences, mut used) = (differences(), BTreeSet::new());
        for (case, fields) in &self.found {
            for (field, (_, own)) in fields {
                used.extend(differences.entries_for(case, field, own));
            }
        }
        let idle = differences.others(&used);
        assert!(idle.is_empty(), "in the list, but nothing differs any more: {}", idle.join("\n"));
    }
}

/// Defines the kinds that kube-apiserver does not have, and waits until it serves what is asked for.
fn prepare(core: &Core) {
    let text = fs_err::read_to_string(folder("library").join("widgets.yaml")).expect("a definition");
    let headers = [("content-type".to_owned(), "application/yaml".to_owned())];
    let (http, target, begun) = (Http::new(), core.admin(), Instant::now());
    let reply =
        http.send(&target, Protocol::Http1, ("POST", CRDS), &headers, text, LIMIT).expect("an answer");
    assert_eq!(reply.status, 201, "{}", reply.text());
    for path in ["/apis/library.example.com/v1/widgets", "/api/v1/namespaces/default"] {
        while !http.is_ok(&target, path) {
            assert!(begun.elapsed() < LIMIT, "{path} is not there");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// What kubectl makes of the OpenAPI documents.
fn explain() {
    let pki = TempPki::new();
    let library = server::start(&pki);
    let path = pki.dir().join("library.kubeconfig");
    let kubeconfig = Kubeconfig {
        server: format!("https://{}", library.address()),
        ca_pem: pki.server_ca.certificate_pem().to_vec(),
        user: KubeconfigUser::Certificate(pki.user("admin", &["system:masters"])),
        context: "library".to_owned(),
    };
    kubeconfig.write(&path).expect("a kubeconfig");
    let kubectl = Kubectl::kubectl(&path).expect("kubectl");
    let explained: [(&[&str], &[&str]); 4] = [
        (
            &["widgets"],
            &[
                "KIND:       Widget",
                "VERSION:    v1",
                "GROUP:      library.example.com",
                "spec\t<WidgetSpec>",
                "metadata\t<ObjectMeta>",
            ],
        ),
        (&["widgets.spec"], &["FIELD: spec <WidgetSpec>", "What is wanted.", "size\t<integer>"]),
        (&["wg.spec.size"], &["FIELD: size <integer>"]),
        (
            &["configmaps", "--recursive"],
            &["data\t<map[string]string>", "immutable\t<boolean>", "ownerReferences\t<[]OwnerReference>"],
        ),
    ];
    for (what, words) in explained {
        let text = kubectl.ok(&[&["explain"], what].concat());
        for word in words {
            assert!(text.contains(word), "{what:?}: no {word:?} in\n{text}");
        }
    }
    // kubectl checks objects by the same documents, before and while it sends them.
    let widget = |spec: &str| {
        let head = "apiVersion: library.example.com/v1\nkind: Widget\nmetadata: {name: explained, namespace: default}\n";
        format!("{head}spec: {spec}\n").into_bytes()
    };
    let good = kubectl.run_with_input(&["apply", "--server-side", "-f", "-"], widget("{size: 3}"));
    assert_eq!(good.code, 0, "{}", good.stderr);
    let wrong = [("{sise: 3}", "unknown field \"spec.sise\""), ("{size: many}", "cannot unmarshal")];
    for (spec, words) in wrong {
        let refused = kubectl.run_with_input(&["create", "--validate=strict", "-f", "-"], widget(spec));
        assert!(refused.code != 0 && refused.stderr.contains(words), "{}", refused.stderr);
    }
}

/// Objects around the size from which answers are compressed, asked for in several ways.
fn compressed(http: &Http, target: &Target) -> Vec<String> {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let send = |method: &str, path: &str, encoding: &str, body: String| {
        let headers = [("content-type", "application/json"), ("accept-encoding", encoding)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        http.send(target, Protocol::Http1, (method, path), &headers, body, LIMIT).expect("an answer")
    };
    let mut lines = Vec::new();
    for size in [1000, 100_000, 129_000, 131_072, 200_000] {
        let name = format!("large-{size}");
        let body = serde_json::json!({"metadata": {"name": name}, "data": {"a": "x".repeat(size)}});
        assert_eq!(send("POST", MAPS, "", body.to_string()).status, 201);
        for encoding in ["", "gzip", "gzip;q=1", "br, gzip", "GZIP"] {
            let reply = send("GET", &format!("{MAPS}/{name}"), encoding, String::new());
            let header = |name: &str| reply.header(name).to_owned();
            let shown = [header("content-encoding"), header("vary"), header("content-type")];
            lines.push(format!("{size} {encoding:?}: {shown:?}"));
        }
    }
    lines
}

/// Texts in which a server says how far it is: to who asks for the future, and in objects that errors show.
const REVISIONS: [&str; 2] = [", current: ", r#"resourceVersion\\\":\\\""#];

/// The answer without revisions in its texts.
fn without_revisions(mut reply: Reply) -> Reply {
    let mut text = reply.text();
    for before in REVISIONS {
        let mut parts = text.split(before);
        let mut steady = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            steady.push_str(before);
            steady.push_str("(some)");
            steady.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        text = steady;
    }
    reply.body = text.into();
    reply
}

fn ask(http: &Http, target: &Target, case: &Case) -> Answer {
    let request = (case.method.as_str(), case.path.as_str());
    let reply = http.send(target, Protocol::Http1, request, &case.headers, case.body.clone(), LIMIT);
    Answer::new(reply.map(without_revisions))
}
