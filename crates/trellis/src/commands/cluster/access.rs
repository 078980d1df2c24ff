//! `trellis cluster kubeconfig` and `keys export`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{hosts::Prepared, keys};
use crate::{
    args::{ClusterExportArgs, ClusterKubeconfigArgs},
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// Size of a block of a tar file, in bytes.
const BLOCK: usize = 512;
/// Most files that a state folder has below `pki/`.
const FILES: usize = 10_000;

/// Prints the kubeconfig, or merges it into a file.
pub(super) fn kubeconfig(args: &ClusterKubeconfigArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    keys::must_be_there(&prepared.state)?;
    let own = keys::admin(&prepared.state, &prepared.resolved)?.to_yaml();
    let Some(path) = &args.output else { return print(&own) };
    let merged = match path.exists() {
        false => own,
        true => {
            let there = pki::read_limited(path).map_err(Problem::given)?;
            let there = String::from_utf8_lossy(&there).into_owned();
            merge(&there, &own).map_err(|what| {
                Problem::new(Code::Input, format!("{}: {what}", path.display()))
                    .next("correct the file, or give another one with --output")
            })?
        }
    };
    pki::write_private(path, merged.as_bytes()).map_err(Problem::given)?;
    print(&format!(
        "{} has the context {}, which is the current one\nnext: kubectl --kubeconfig {} get nodes\n",
        path.display(),
        prepared.name,
        path.display()
    ))
}

/// Puts what `own` has into what is there: under the same name it takes its place, everything else stays.
fn merge(there: &str, own: &str) -> Result<String, String> {
    let parse =
        |text: &str| serde_saphyr::from_str::<Value>(text).map_err(|error| format!("no YAML: {error}"));
    let (mut merged, own) = (parse(there)?, parse(own)?);
    if merged.is_null() {
        merged = own.clone();
    }
    let Some(fields) = merged.as_object_mut() else { return Err("not a kubeconfig".to_owned()) };
    for list in ["clusters", "users", "contexts"] {
        let entries = fields.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        if entries.is_null() {
            *entries = Value::Array(Vec::new());
        }
        let Some(entries) = entries.as_array_mut() else { return Err(format!("{list} is not a list")) };
        for entry in own.get(list).and_then(Value::as_array).into_iter().flatten() {
            entries.retain(|other| other.get("name") != entry.get("name"));
            entries.push(entry.clone());
        }
    }
    fields.insert("current-context".to_owned(), own.get("current-context").cloned().unwrap_or_default());
    Ok(output::yaml(&merged))
}

/// Writes all keys and certificates into a tar file.
pub(super) fn export(args: &ClusterExportArgs) -> Outcome {
    let prepared = Prepared::new(&args.object)?;
    keys::must_be_there(&prepared.state)?;
    let mut files = Vec::new();
    below(&prepared.state.join("pki"), &mut files).map_err(|error| Problem::new(Code::State, error))?;
    files.sort();
    let mut tar = Vec::new();
    for path in &files {
        let name = path.strip_prefix(&prepared.state).unwrap_or(path).to_string_lossy().into_owned();
        let bytes = pki::read_limited(path).map_err(Problem::state)?;
        append(&mut tar, &name, &bytes).map_err(|what| Problem::new(Code::State, what))?;
    }
    // Two empty blocks are the end.
    tar.resize(tar.len() + 2 * BLOCK, 0);
    pki::write_private(&args.output, &tar).map_err(Problem::given)?;
    let file = args.output.display();
    print(&format!(
        "wrote {} keys and certificates to {file}\nnext: tar -xf {file} -C DIR makes of DIR a state folder, for --state\n",
        files.len()
    ))
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            below(&path, files)?;
        } else if files.len() < FILES {
            files.push(path);
        }
    }
    Ok(())
}

/// Appends a file in the format of POSIX (ustar), owner root, 0600, without a time: same keys, same bytes.
fn append(tar: &mut Vec<u8>, name: &str, bytes: &[u8]) -> Result<(), String> {
    let mut header = [0_u8; BLOCK];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    if name.len() >= 100 {
        return Err(format!("the name {name} is too long for a tar file"));
    }
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", bytes.len()).as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar.extend_from_slice(&header);
    tar.extend_from_slice(bytes);
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str =
        "clusters: [{name: a, cluster: 1}]\nusers: [{name: a}]\ncontexts: [{name: a}]\ncurrent-context: a\n";

    #[test]
    fn what_is_there_stays() {
        let there = "kind: Config\nclusters:\n- {name: a, cluster: 0}\n- {name: b}\nusers: null\ncurrent-context: b\n";
        let merged: Value = serde_saphyr::from_str(&merge(there, OWN).expect("merged")).expect("YAML");
        assert_eq!(merged["clusters"], serde_json::json!([{"name": "b"}, {"name": "a", "cluster": 1}]));
        assert_eq!(
            (merged["current-context"].as_str(), merged["kind"].as_str()),
            (Some("a"), Some("Config"))
        );
        assert!(merge("- a", OWN).is_err());
        assert!(merge("clusters: a", OWN).is_err());
    }
}
