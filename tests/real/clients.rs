//! The client matrix: every client does the same steps through the door, unmodified.

mod kube_rs;

use std::{collections::BTreeSet, path::PathBuf};

use libtest_mimic::Trial;
use testkit::real::{Finished, Program, Unavailable, program, program_version};

use crate::{
    lab::{Lab, SharedLab},
    rows::{folder, full, skipped, trial},
};

/// What a client is put through. Not every client library has everything.
const ALL_STEPS: [&str; 9] =
    ["api-resources", "explain", "create", "get", "watch", "patch", "apply", "as", "delete"];
/// Versions of kubectl in every run, and those of long runs.
const KUBECTL: [&str; 2] = ["1.37.2", "1.36.3"];
const KUBECTL_FULL: [&str; 2] = ["1.35.4", "1.34.4"];

/// One client: a program that prints `ok STEP` for each step.
struct Client {
    name: String,
    program: Result<PathBuf, Unavailable>,
    /// Arguments before the name of the object.
    leading: Vec<String>,
    /// Arguments after it.
    trailing: Vec<String>,
    environment: Vec<(String, String)>,
    /// Steps that the library cannot do.
    without: &'static [&'static str],
}

pub(crate) fn trials() -> Vec<Trial> {
    let lab = SharedLab::new();
    let missing = Lab::available().err();
    let mut trials: Vec<Trial> = clients()
        .into_iter()
        .map(|client| {
            let name = format!("clients::{}", client.name);
            match missing.clone().map_or_else(|| client.program.clone(), Err) {
                Err(reason) => skipped(name, &reason),
                Ok(program) => {
                    let lab = lab.clone();
                    trial(name, move || client.run(program, lab.get()))
                }
            }
        })
        .collect();
    trials.push(match missing {
        Some(reason) => skipped("clients::kube-rs", &reason),
        None => trial("clients::kube-rs", move || kube_rs::run(lab.get())),
    });
    trials
}

fn clients() -> Vec<Client> {
    let script = |name: &str| folder("clients").join(name).to_string_lossy().into_owned();
    let path = |program: Result<PathBuf, Unavailable>| {
        program.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let versions = KUBECTL.iter().chain(KUBECTL_FULL.iter().filter(|_| full()));
    let mut clients: Vec<Client> = versions
        .map(|version| {
            let kubectl = program_version("kubectl", version);
            Client {
                name: format!("kubectl-{version}"),
                leading: vec![script("kubectl.sh"), path(kubectl.clone())],
                program: kubectl.map(|_| PathBuf::from("bash")),
                ..Client::none()
            }
        })
        .collect();
    let python = |name: &str, without| Client {
        name: format!("python-{name}"),
        program: program("python"),
        leading: vec![script(&format!("{name}_client.py"))],
        without,
        ..Client::none()
    };
    clients.extend([
        Client {
            name: "helm".to_owned(),
            program: program("helm").map(|_| PathBuf::from("bash")),
            leading: vec![script("helm.sh"), path(program("helm"))],
            trailing: vec![script("chart"), path(program("kubectl"))],
            // Its `--wait` polls; discovery and OpenAPI it asks for within `install`.
            without: &["api-resources", "explain", "watch"],
            ..Client::none()
        },
        Client {
            name: "client-go".to_owned(),
            program: program("client-go-matrix"),
            leading: vec!["--name".to_owned()],
            ..Client::none()
        },
        python("kubernetes", &[]),
        python("kr8s", &[]),
        // All of its requests are about objects of a given resource, for the user of the kubeconfig.
        python("lightkube", &["api-resources", "explain", "as"]),
        Client {
            name: "client-node".to_owned(),
            program: program("node").map(|_| PathBuf::from("node")),
            leading: vec![script("client-node.mjs")],
            environment: vec![("NODE_FOLDER".to_owned(), path(program("node")))],
            ..Client::none()
        },
    ]);
    clients
}

impl Client {
    fn none() -> Self {
        Self {
            name: String::new(),
            program: Err(Unavailable(String::new())),
            leading: Vec::new(),
            trailing: Vec::new(),
            environment: Vec::new(),
            without: &[],
        }
    }

    fn run(&self, program: PathBuf, lab: &Lab) {
        let kubeconfig = lab.door.kubeconfig_of(lab.pki(), "admin", &["system:masters"]);
        let leading: Vec<&str> = self.leading.iter().map(String::as_str).collect();
        let mut client = Program::new(program, &kubeconfig).leading(&leading);
        for (name, value) in &self.environment {
            client = client.environment(name, value);
        }
        let object = format!("matrix-{}", self.name.replace('.', "-"));
        let trailing = self.trailing.iter().map(String::as_str);
        let arguments: Vec<&str> = [object.as_str()].into_iter().chain(trailing).collect();
        let finished = client.run(&arguments);
        check_steps(&finished, self.without);
    }
}

/// The client succeeded, and did every step that it can do.
fn check_steps(finished: &Finished, without: &[&str]) {
    let text = finished.text();
    let done: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    let wanted: BTreeSet<&str> = ALL_STEPS.into_iter().filter(|step| !without.contains(step)).collect();
    assert_eq!(finished.code, 0, "after {done:?}\n{text}{}", finished.stderr);
    assert_eq!(done, wanted, "{}", finished.stderr);
}
