//! `trellis cluster`: objects written, checked and shown.

use std::path::Path;

use serde_json::Value;

use crate::program::{Ended, run, trellis};

const GOOD: &str =
    "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\n- {name: n1, address: 192.168.7.2}\n";
const WRONG: &str =
    "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\n- {name: cp1, adress: 192.168.7.2}\n";

fn cluster(folder: &Path, arguments: &[&str]) -> Ended {
    run(trellis().current_dir(folder).arg("cluster").args(arguments))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

#[test]
fn an_object_begins_with_init() {
    for file in ["cluster.yaml", "demo.json"] {
        let folder = folder(&[]);
        let hosts = ["--host", "cp1=192.168.7.1", "--host", "n1=192.168.7.2"];
        let init = [["init", "--name", "demo"].as_slice(), &hosts, &["--output", file]].concat();
        let ended = cluster(folder.path(), &init);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains(&format!("next: trellis cluster validate {file}")), "{}", ended.stdout);
        assert_eq!(cluster(folder.path(), &["validate", file]).stdout, format!("{file}: good\n"));
        let schema = std::fs::read_to_string(folder.path().join("cluster.schema.json")).expect("a schema");
        assert_eq!(schema, cluster(folder.path(), &["schema"]).stdout);
        let again = cluster(folder.path(), &init);
        assert_eq!(again.code, 9, "an object is never overwritten: {}", again.stderr);
    }
}

#[test]
fn init_writes_nothing_wrong() {
    for (arguments, code, said) in [
        (["init", "--name", "My Cluster", "--host", "cp1=192.168.7.1"].as_slice(), 3, "write \"my-cluster\""),
        (&["init", "--name", "demo", "--host", "cp1=10.96.0.1"], 3, "network of the Services"),
        (&["init", "--name", "demo", "--host", "192.168.7.1"], 2, "NAME=ADDRESS"),
        (&["init", "--name", "demo"], 2, "--host"),
    ] {
        let folder = folder(&[]);
        let ended = cluster(folder.path(), arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{arguments:?}");
    }
}

#[test]
fn all_mistakes_are_told_with_file_and_line() {
    let folder = folder(&[("cluster.yaml", WRONG)]);
    let ended = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert_eq!(ended.code, 3);
    for said in [
        "cluster.yaml:4: /hosts/1/address: this key is missing",
        "cluster.yaml:4: /hosts/1/adress: \"192.168.7.2\": this key is not known\n  fix: did you mean \"address\"?",
        "cluster.yaml:4: /hosts/1/name: \"cp1\": the host /hosts/0 has this name already",
        "trellis: cluster.yaml: 3 mistakes",
    ] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    for arguments in [["show", "cluster.yaml"].as_slice(), &["show", "cluster.yaml", "--resolved"]] {
        let ended = cluster(folder.path(), arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{arguments:?}");
    }
}

#[test]
fn mistakes_are_told_to_programs() {
    let folder = folder(&[("cluster.yaml", WRONG), ("good.yaml", GOOD)]);
    let ended = cluster(folder.path(), &["validate", "cluster.yaml", "-o", "json"]);
    assert_eq!(ended.code, 3);
    let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(report["valid"], false);
    let first = &report["findings"][0];
    assert_eq!(first["pointer"], "/hosts/1/address");
    assert_eq!((&first["line"], &first["file"]), (&Value::from(4), &Value::from("cluster.yaml")));
    for key in ["reason", "fix", "rule", "source"] {
        assert!(first[key].is_string(), "{key}: {first}");
    }
    let good = cluster(folder.path(), &["validate", "good.yaml", "--output", "json"]);
    let report: Value = serde_json::from_str(&good.stdout).expect("JSON");
    assert_eq!((good.code, &report["valid"]), (0, &Value::Bool(true)));
}

#[test]
fn the_inventory_beside_is_read() {
    let inventory = "{\"hosts\": [{\"name\": \"cp1\", \"address\": \"192.168.7.1\"}]}";
    let folder = folder(&[("cluster.yaml", "name: demo\n"), ("inventory.json", inventory)]);
    assert_eq!(cluster(folder.path(), &["validate", "cluster.yaml"]).code, 0);
    std::fs::write(folder.path().join("cluster.yaml"), GOOD).expect("a file");
    let both = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert!(both.stderr.contains("/hosts: "), "{}", both.stderr);
    std::fs::write(folder.path().join("inventory.json"), "{\"hosts\": 1}").expect("a file");
    let wrong = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert!(wrong.stderr.contains("inventory.json:1: /hosts: 1: a number stands"), "{}", wrong.stderr);
}

#[test]
fn an_object_is_shown_with_defaults_and_reasons() {
    let folder = folder(&[("cluster.yaml", GOOD)]);
    let shown = cluster(folder.path(), &["show", "cluster.yaml"]).stdout;
    assert!(shown.contains("services: 10.96.0.0/12"), "{shown}");
    let resolved = cluster(folder.path(), &["show", "cluster.yaml", "--resolved"]).stdout;
    let line = "network.dnsAddress: \"10.96.0.10\"  # the tenth address of network.services (/network/services, /network/dnsAddress)";
    assert!(resolved.lines().any(|found| found == line), "{resolved}");
    let json = cluster(folder.path(), &["show", "cluster.yaml", "--resolved", "-o", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["decisions"]["network.dnsAddress"]["value"], "10.96.0.10");
    assert_eq!(json["hosts"][1]["host.name"]["value"], "n1");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder(&[("binary.yaml", "\u{0}")]);
    std::fs::write(folder.path().join("latin1.yaml"), b"name: d\xe9mo\n").expect("a file");
    for (file, said) in [("none.yaml", "none.yaml"), ("latin1.yaml", "not UTF-8"), (".", "directory")] {
        let ended = cluster(folder.path(), &["validate", file]);
        assert_eq!(ended.code, 3, "{file}");
        assert!(ended.stderr.contains(said) && ended.stderr.contains("next: "), "{file}: {}", ended.stderr);
    }
    assert_eq!(cluster(folder.path(), &["validate", "binary.yaml"]).code, 3);
}
