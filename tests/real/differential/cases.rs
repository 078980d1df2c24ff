//! The requests, read from YAML.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::Deserialize;

use crate::rows::folder;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// File and name, unique.
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) actor: Actor,
    pub(crate) protocol: Protocol,
    /// State of the servers during the request.
    pub(crate) state: State,
}

/// Who asks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Actor {
    /// A member of `system:masters`.
    #[default]
    Admin,
    /// May get, list and watch flunders.
    Reader,
    /// Has shown who it is and may nothing.
    Nobody,
    /// Has shown nothing.
    Anonymous,
}

/// HTTP version of the client.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    #[default]
    Http1,
    Http2,
}

/// What the scripted server is while its cases run; sample-apiserver is healthy but for `Hung`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// Everything answers.
    #[default]
    Healthy,
    /// The scripted server's port is closed.
    Refusing,
    /// sample-apiserver is stopped in its tracks (SIGSTOP): connections stand, nothing answers.
    Hung,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    state: State,
    requests: Vec<Row>,
}

/// One request, or one for each path and Accept header.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    name: String,
    #[serde(default = "get")]
    method: String,
    path: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    accept: Option<String>,
    #[serde(default)]
    accepts: Vec<String>,
    content_type: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    #[serde(default, rename = "as")]
    actor: Actor,
    #[serde(default)]
    protocol: Protocol,
}

fn get() -> String {
    "GET".to_owned()
}

/// All requests, file by file, those of one state together and in the order of the files.
pub(crate) fn read_cases() -> Vec<Case> {
    read_cases_in(&folder("differential"))
}

/// All requests of another folder.
pub(crate) fn read_cases_in(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> = fs_err::read_dir(folder)
        .expect("the folder of requests")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "differences"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs_err::read_to_string(&path).expect("a file of requests");
        let value: serde_json::Value =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: File =
            serde_json::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in file.requests {
            cases.extend(expand(&stem, file.state, &row));
        }
    }
    cases.sort_by_key(|case| case.state);
    let mut names = BTreeSet::new();
    for case in &cases {
        assert!(names.insert(&case.name), "two requests are called {}", case.name);
    }
    cases
}

fn expand(file: &str, state: State, row: &Row) -> Vec<Case> {
    let paths: Vec<&String> = row.path.iter().chain(&row.paths).collect();
    let mut accepts: Vec<Option<&String>> = row.accept.iter().chain(&row.accepts).map(Some).collect();
    if accepts.is_empty() {
        accepts.push(None);
    }
    let mut cases = Vec::new();
    for path in &paths {
        for accept in &accepts {
            let mut name = format!("{file}::{}", row.name);
            if paths.len() > 1 {
                name = format!("{name} {path}");
            }
            if let (Some(accept), true) = (accept, accepts.len() > 1) {
                name = format!("{name} [{accept}]");
            }
            let mut headers: Vec<(String, String)> = row.headers.clone().into_iter().collect();
            headers.extend(accept.map(|accept| ("accept".to_owned(), accept.clone())));
            headers.extend(row.content_type.clone().map(|value| ("content-type".to_owned(), value)));
            cases.push(Case {
                name,
                method: row.method.clone(),
                path: (*path).clone(),
                headers,
                body: row.body.clone(),
                actor: row.actor,
                protocol: row.protocol,
                state,
            });
        }
    }
    cases
}
