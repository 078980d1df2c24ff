//! `deploy/` is short, says why, and is all that there is: what people read is what hosts get.

use std::path::{Path, PathBuf};

use cluster_spec::{ComponentName, TUNABLE, owned};
use render::{Deploy, Layout, Origin, Template};

use crate::support::{PLAIN, text, trees};

const MAX_LINES: usize = 1200;
const MAX_CONDITIONS: usize = 12;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn the_program_has_the_files_that_people_read() {
    let mut found = Vec::new();
    files_below(&folder(), &mut found);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("text");
        (path.strip_prefix(folder()).expect("below").to_string_lossy().into_owned(), text)
    };
    assert_eq!(Deploy::from_files(found.into_iter().map(read)), Deploy::embedded());
}

#[test]
fn it_is_short() {
    let deploy = Deploy::embedded();
    let lines: usize = deploy.iter().map(|(_, text)| text.lines().count()).sum();
    assert!(lines <= MAX_LINES, "{lines} lines");
    let conditions = |text: &str| text.lines().filter(|line| line.contains("{{ if ")).count();
    let in_files: usize = deploy.iter().map(|(_, text)| conditions(text)).sum();
    let layout = Layout::parse(deploy.get("tree.txt").expect("a layout")).expect("good");
    let in_layout = layout.entries.iter().filter(|entry| entry.when.is_some()).count();
    assert!(in_files + in_layout <= MAX_CONDITIONS, "{in_files} in files, {in_layout} in tree.txt");
}

#[test]
fn every_file_is_used_and_says_what_it_is() {
    let deploy = Deploy::embedded();
    let layout = Layout::parse(deploy.get("tree.txt").expect("a layout")).expect("good");
    for (path, text) in deploy.iter() {
        // JSON has no comments.
        assert!(text.starts_with("# ") || path.ends_with(".template"), "{path} does not say what it is");
        let used = layout.entries.iter().any(|entry| entry.origin == Origin::Template(path.to_owned()));
        assert!(used || ["tree.txt", "host.txt"].contains(&path), "{path} is not in tree.txt");
        assert!(text.lines().all(|line| line.trim_end() == line), "{path}: blanks at the end of a line");
    }
}

/// A reading of `deploy/` of its own: a rendered line is one of its lines with something between the texts.
fn stands_in(line: &str, deploy_line: &str) -> bool {
    let mut texts = Vec::new();
    let mut rest = deploy_line;
    while let Some((before, after)) = rest.split_once("{{ ") {
        texts.push(before);
        rest = after.split_once(" }}").expect("closed").1;
    }
    let Some(mut at) = line.strip_prefix(*texts.first().unwrap_or(&rest)) else { return false };
    if texts.is_empty() {
        return at.is_empty();
    }
    for text in &texts[1..] {
        let Some((_, after)) = at.split_once(text) else { return false };
        at = after;
    }
    at.ends_with(rest)
}

#[test]
fn every_line_on_a_host_stands_in_deploy() {
    let deploy = Deploy::embedded();
    for object in [PLAIN.to_owned(), format!("{PLAIN}{}", crate::golden::EVERYTHING)] {
        for file in trees(&object).iter().flat_map(|tree| &tree.files) {
            let Origin::Template(path) = &file.origin else { continue };
            let source: Vec<&str> = deploy.get(path).expect("a file").lines().collect();
            for line in text(file).lines() {
                let found = source.iter().any(|deploy_line| stands_in(line, deploy_line));
                assert!(found, "{}: {line}", file.path);
            }
            assert_eq!(text(file).lines().count(), file.lines.len(), "{}", file.path);
        }
    }
}

/// Whatever `deploy/` sets, nobody else may set; and what one may set is set there.
#[test]
fn flags_have_one_owner() {
    let deploy = Deploy::embedded();
    for component in ComponentName::ALL {
        let path = match component {
            ComponentName::Kubelet => "host/kubelet.service".to_owned(),
            ComponentName::KubeProxy => "manifests/addons/kube-proxy/kube-proxy.yaml".to_owned(),
            other => format!("manifests/control-plane/{other}.yaml"),
        };
        let template = Template::parse(&path, deploy.get(&path).expect("a file")).expect("good");
        let mut tunable: Vec<&str> =
            TUNABLE.iter().filter(|(of, ..)| *of == component).map(|(_, name, ..)| *name).collect();
        for line in &template.lines {
            let start = line.without_values().first().map(|text| text.trim()).unwrap_or_default().to_owned();
            let flag = start.trim_start_matches(['-', ' ', '"']).split(['=', '"']).next().unwrap_or_default();
            if !start.contains("--") || start.starts_with('#') || flag.is_empty() {
                continue;
            }
            let names: Vec<&str> = line.names().collect();
            if names == [format!("{component}.{flag}")] {
                tunable.retain(|name| *name != flag);
                continue;
            }
            let ours = owned(component).iter().any(|(name, _)| *name == flag);
            assert!(ours, "{path}:{}: {flag} could be given a second time", line.number);
        }
        assert!(tunable.is_empty(), "{component}: {tunable:?} could be changed without effect");
    }
}
