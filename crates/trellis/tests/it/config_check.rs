//! `trellis config check` over numbered files; beside each of `fails/` stands what is said about it.

use std::path::{Path, PathBuf};

use expect_test::expect_file;

use crate::program::{run, trellis};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/config").join(kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixtures in {}", folder.display());
    files
}

#[test]
fn wrong_files_are_explained() {
    for file in fixtures("fails") {
        let ended = run(trellis().args(["config", "check"]).arg(&file));
        assert_eq!(ended.code, 3, "{}: {}{}", file.display(), ended.stdout, ended.stderr);
        let folder = file.parent().expect("a folder").to_str().expect("text");
        let said = ended.stderr.replace(&format!("{folder}/"), "");
        expect_file![file.with_extension("txt")].assert_eq(&said);
    }
}

#[test]
fn good_files_are_good() {
    for file in fixtures("good") {
        let ended = run(trellis().args(["config", "check"]).arg(&file));
        assert_eq!(ended.code, 0, "{}: {}", file.display(), ended.stderr);
    }
}
