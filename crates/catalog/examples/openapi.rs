//! OpenAPI documents by hand, to compare with other programs:
//! `cargo run -p catalog --example openapi -- protobuf FILE | v3 FILE GROUP VERSION | merge CORE FILE…`

use std::{collections::HashSet, error::Error, fs, io::Write as _, time::Instant};

use bytes::Bytes;
use catalog::{
    DocumentRef, Documents, ServerName,
    openapi::{self, Claim, Owner, Source},
};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let start = Instant::now();
    let answer = match &args[..] {
        ["protobuf", file] => openapi::encode_v2(&fs::read(file)?)?,
        ["v3", file, group, version] => {
            openapi::v2_to_v3(&fs::read(file)?, group, version)?.unwrap_or_default()
        }
        ["merge", files @ ..] => merge(files)?,
        _ => return Err("see the head of this file".into()),
    };
    eprintln!("{} bytes in {:?}", answer.len(), start.elapsed());
    Ok(std::io::stdout().write_all(&answer)?)
}

/// Documents whose hashes are file names.
struct Files;

impl Documents for Files {
    fn get(&self, document: &DocumentRef) -> std::io::Result<Bytes> {
        fs::read(&*document.hash).map(Bytes::from)
    }
}

/// The first file is the core's; each other one owns the groups of its paths.
struct Groups {
    core: bool,
    groups: HashSet<String>,
}

impl Owner for Groups {
    fn owns(&self, claim: Claim<'_>) -> bool {
        match claim {
            Claim::Version(group, _) | Claim::Group(group) => self.groups.contains(group) != self.core,
            Claim::Other => self.core,
        }
    }

    fn is_core(&self) -> bool {
        self.core
    }
}

fn merge(files: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut owners = Vec::new();
    for file in files.iter().skip(1) {
        owners.push(Groups { core: false, groups: groups(&serde_json::from_slice(&fs::read(file)?)?) });
    }
    let taken = owners.iter().flat_map(|owner| owner.groups.iter().cloned()).collect();
    owners.insert(0, Groups { core: true, groups: taken });
    let names: Vec<_> = files.iter().map(|file| ServerName::new(file)).collect();
    let references =
        files.iter().map(|file| DocumentRef { hash: (*file).into(), len: 0 }).collect::<Vec<_>>();
    let sources = names.iter().zip(&references).zip(&owners);
    let sources: Vec<_> =
        sources.map(|((server, document), owner)| Source { server, document, owner }).collect();
    let merged = openapi::merge_v2(&sources, &Files)?;
    merged.skipped.iter().for_each(|skipped| eprintln!("{}: {}", skipped.server, skipped.error));
    Ok(merged.json.body.to_vec())
}

fn groups(document: &Value) -> HashSet<String> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .filter_map(|(path, _)| match Claim::of(path) {
            Claim::Version(group, _) | Claim::Group(group) if !group.is_empty() => Some(group.to_owned()),
            _ => None,
        })
        .collect()
}
