//! Files stay short, and lints stay on.

use crate::repository::{read, tracked};

/// A file that is longer has more than one subject.
const MAX_LINES: usize = 400;

fn sources() -> Vec<String> {
    let is_source = |path: &String| {
        let shipped = path.starts_with("crates/") && path.contains("/src/") || path.starts_with("xtask/src/");
        shipped && path.ends_with(".rs")
    };
    tracked().into_iter().filter(is_source).collect()
}

#[test]
fn no_long_files() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, path)| format!("{path}: {lines}"))
        .collect();
    assert!(long.is_empty(), "longer than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn no_mod_rs() {
    let old: Vec<String> = sources().into_iter().filter(|path| path.ends_with("/mod.rs")).collect();
    assert!(old.is_empty(), "foo.rs beside foo/ instead: {old:?}");
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for manifest in tracked().into_iter().filter(|path| path.ends_with("Cargo.toml") && path != "Cargo.toml")
    {
        assert!(read(&manifest).contains("[lints]\nworkspace = true"), "{manifest}");
    }
    let lints = read("Cargo.toml");
    for lint in ["unsafe_code = \"forbid\"", "await_holding_lock = \"deny\"", "unwrap_used = \"warn\""] {
        assert!(lints.contains(lint), "{lint}");
    }
}

/// `expect` and `panic` are for tests; shipped code says what went wrong instead.
#[test]
fn shipped_code_does_not_panic_on_purpose() {
    let shipped = |path: &String| {
        // A conformance suite is a test that is shipped: it fails by panicking.
        let suite = "crates/apiserver/src/storage/conformance";
        let development =
            ["crates/testkit/", "crates/bench/", "xtask/", suite].iter().any(|top| path.starts_with(top));
        !development && !path.ends_with("/tests.rs") && !path.contains("/tests/")
    };
    let banned = [".unwrap()", ".expect(\"", "panic!(", "todo!(", "unimplemented!("];
    for path in sources().into_iter().filter(shipped) {
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in
            code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            let found = banned.iter().find(|word| line.contains(*word));
            assert!(found.is_none(), "{path}:{}: {}", number + 1, line.trim());
        }
    }
}

#[test]
fn arguments_and_output_are_the_binarys() {
    let libraries = [
        "kube-wire",
        "catalog",
        "cluster-spec",
        "render",
        "turnup",
        "pki",
        "dial",
        "registry",
        "gateway",
        "apiserver",
    ];
    let of_library =
        |path: &String| libraries.iter().any(|name| path.starts_with(&format!("crates/{name}/")));
    for path in sources().into_iter().filter(of_library).filter(|path| !path.ends_with("/tests.rs")) {
        let text = read(&path);
        for word in ["println!(", "eprintln!(", "env::args", "env::var", "anyhow::", "process::exit"] {
            assert!(!text.contains(word), "{path}: {word}");
        }
    }
}
