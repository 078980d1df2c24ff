//! The checkout and what cargo says of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// The text of a file of the checkout.
pub(crate) fn read(path: &str) -> String {
    fs_err::read_to_string(root().join(path)).expect("a file of the checkout")
}

/// The standard output of a program that must succeed.
pub(crate) fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Cargo as it runs this test.
pub(crate) fn cargo(arguments: &[&str]) -> String {
    output(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments)
}

/// All files that the repository keeps.
pub(crate) fn tracked() -> Vec<String> {
    let files = output("git", &["ls-files", "-z"]);
    files
        .split('\0')
        .filter(|path| !path.is_empty() && root().join(path).is_file())
        .map(str::to_owned)
        .collect()
}

/// Which crate of the workspace depends on which others of it; dev-dependencies do not count.
pub(crate) fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let edges_of = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("a list").iter();
        let shipped = dependencies.filter(|dependency| dependency["kind"].as_str() != Some("dev"));
        shipped.map(name).filter(|name| ours.contains(name)).collect()
    };
    packages.iter().map(|package| (name(package), edges_of(package))).collect()
}

/// The names of everything that is linked into a crate, itself included.
pub(crate) fn linked_into(package: &str) -> BTreeSet<String> {
    names(&cargo(&["tree", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}"]))
}

/// The names of everything that is built for the workspace, tests included.
pub(crate) fn built() -> BTreeSet<String> {
    names(&cargo(&["tree", "--workspace", "--prefix", "none", "--format", "{p}"]))
}

fn names(tree: &str) -> BTreeSet<String> {
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}
