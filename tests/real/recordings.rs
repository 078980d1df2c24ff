//! What kube-apiserver makes of patches, of server-side apply and of schemas: recorded for the tests of the
//! library, which need no kube-apiserver then. In every run the records are compared with what it says.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tests --test real recordings` writes them anew.

mod definitions;
mod policy;
mod schemas;
mod sequences;
mod server;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use testkit::{golden, real::program};

use crate::rows::{Shared, skipped, trial};
use server::Server;

/// How a record is made.
type Recorder = fn(&Server) -> String;

/// The records, by the name of the file.
const RECORDS: [(&str, Recorder); 6] = [
    ("definitions.jsonl", definitions::record),
    ("patches.jsonl", |server| sequences::record(server, "patches.yaml")),
    ("apply.jsonl", |server| sequences::record(server, "apply.yaml")),
    ("schemas.jsonl", schemas::record),
    ("../../../core-server/data/policy.jsonl", policy::defaults),
    ("../../../core-server/tests/recordings/rbac.jsonl", policy::record),
];

pub(crate) fn trials() -> Vec<Trial> {
    let missing = ["etcd", "kube-apiserver"].into_iter().find_map(|name| program(name).err());
    let server = Shared::new();
    let trials = RECORDS.iter().map(|(file, recorder)| {
        let name = format!("recordings::{}", file.trim_start_matches("../"));
        let server = server.clone();
        match &missing {
            Some(reason) => skipped(name, reason),
            None => trial(name, move || golden(folder().join(file), &recorder(server.get(Server::start)))),
        }
    });
    trials.collect()
}

/// Where the library has them, and what they are made from.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/apiserver/tests/recordings")
}

fn rows<T: serde::de::DeserializeOwned>(file: &str) -> T {
    serde_saphyr::from_str(&fs_err::read_to_string(folder().join(file)).unwrap()).unwrap()
}
