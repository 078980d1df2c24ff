//! The text speaks of the product alone: nothing of a machine on which it was made.

use crate::repository::{root, tracked};

/// Put together here, so that this file does not find itself.
fn machine_paths() -> Vec<String> {
    let folders = ["root", "home", "work", "Users"];
    folders.iter().map(|folder| format!("/{folder}/")).collect()
}

fn texts() -> impl Iterator<Item = (String, String)> {
    let text = |path: String| Some((fs_err::read_to_string(root().join(&path)).ok()?, path));
    tracked().into_iter().filter_map(text).map(|(text, path)| (path, text))
}

/// A path of somebody's machine begins with the folder: after a host or another folder it is none.
fn names_machine(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"./-_}$".contains(c))
    })
}

#[test]
fn no_machine_paths() {
    let folders = machine_paths();
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            for folder in &folders {
                assert!(!names_machine(line, folder), "{path}:{}: {folder}", number + 1);
            }
        }
    }
}

/// Where packages are fetched from is a setting of the machine; lock files name the public registries.
#[test]
fn no_private_registries() {
    for (path, text) in texts().filter(|(path, _)| path.ends_with("package-lock.json")) {
        for url in text.split("\"resolved\": \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(url.starts_with("https://registry.npmjs.org/"), "{path}: {url}");
        }
    }
    let settings = ["GOPROXY=", "GONOSUMDB=", "index-url", "extra-index-url", "replace-with", "registry="];
    let of_machine =
        |path: &str| path.ends_with(".toml") || path.ends_with(".npmrc") || path.ends_with(".txt");
    for (path, text) in texts().filter(|(path, _)| of_machine(path)) {
        for setting in settings {
            assert!(!text.contains(setting), "{path} sets {setting}");
        }
    }
}

#[test]
fn no_trailing_blanks_in_prose() {
    for (path, text) in texts().filter(|(path, _)| path.ends_with(".md")) {
        for (number, line) in text.lines().enumerate() {
            assert_eq!(line, line.trim_end(), "{path}:{}", number + 1);
        }
    }
}
