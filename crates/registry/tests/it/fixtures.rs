//! Registrations that are refused, with every word of the reason, and registrations that are not.
//!
//! A file of `fails/` carries below its object, after `# ---`, what is said of it. With
//! `UPDATE_FIXTURES=1` the texts are written anew; read the difference before you keep it.

use std::path::{Path, PathBuf};

use registry::object::{Resource, check};
use serde_json::Value;

const MARK: &str = "# ---\n";

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn verdict(text: &str) -> Vec<String> {
    let value: Value = serde_saphyr::from_str(text).unwrap();
    let word = |name: &str| value[name].as_str().unwrap_or_default();
    let resource = Resource::of(word("apiVersion"), word("kind")).expect("a kind of ours");
    match check(resource, &value) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn what_is_wrong_is_refused_with_all_its_reasons() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let paths = fixtures("fails");
    assert!(paths.len() >= 20);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let (object, expected) = text.split_once(MARK).unwrap_or((&text, ""));
        let said: String = verdict(object).iter().map(|line| format!("# {line}\n")).collect();
        assert!(!said.is_empty(), "{} is not refused", path.display());
        if update {
            std::fs::write(&path, format!("{object}{MARK}{said}")).unwrap();
        } else {
            assert_eq!(said, expected, "{}", path.display());
        }
    }
}

#[test]
fn what_is_right_is_taken() {
    let paths = fixtures("succeeds");
    assert!(paths.len() >= 8);
    for path in paths {
        assert_eq!(
            verdict(&std::fs::read_to_string(&path).unwrap()),
            Vec::<String>::new(),
            "{}",
            path.display()
        );
    }
}
