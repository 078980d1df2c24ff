//! Files are what their readers can read.

use serde_json::Value;

use crate::{
    golden::EVERYTHING,
    support::{PLAIN, text, trees},
};

fn documents(text: &str) -> Vec<Value> {
    let parts = text.split("\n---\n");
    parts.map(|part| serde_saphyr::from_str(part).unwrap_or_else(|error| panic!("{error}\n{part}"))).collect()
}

#[test]
fn every_file_has_its_syntax() {
    for object in [PLAIN.to_owned(), format!("{PLAIN}{EVERYTHING}")] {
        for file in trees(&object).iter().flat_map(|tree| &tree.files).filter(|file| !file.lines.is_empty()) {
            let text = text(file);
            assert!(!text.contains("{{ "), "{}: something is not filled in", file.path);
            if file.path.ends_with(".yaml") {
                documents(&text)
                    .iter()
                    .for_each(|document| assert!(document["kind"].is_string(), "{}", file.path));
            } else if file.path.ends_with(".toml") {
                let _: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
            } else if file.path.ends_with("conflist.template") {
                let value: Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(value["plugins"][0]["ipam"]["ranges"][0][0]["subnet"], "{{.PodCIDR}}");
            }
        }
    }
}

/// The addon manager takes only what says how it is to be kept, and namespaced objects need a namespace.
#[test]
fn every_object_of_an_addon_says_how_it_is_kept() {
    for file in trees(PLAIN)[0].files.iter().filter(|file| file.path.starts_with("/etc/kubernetes/addons/")) {
        for object in documents(&text(file)) {
            let mode = &object["metadata"]["labels"]["addonmanager.kubernetes.io/mode"];
            assert!(["Reconcile", "EnsureExists"].contains(&mode.as_str().unwrap_or_default()), "{object:#}");
            let kind = object["kind"].as_str().expect("a kind");
            let of_cluster = ["ClusterRole", "ClusterRoleBinding", "APIService"].contains(&kind);
            assert_eq!(object["metadata"]["namespace"].is_string(), !of_cluster, "{object:#}");
            let pods = &object["spec"]["template"]["metadata"]["labels"];
            let selected = &object["spec"]["selector"]["matchLabels"];
            assert_eq!(pods, selected, "{object:#}");
        }
    }
}

#[test]
fn static_pods_mount_what_they_name() {
    for object in [PLAIN.to_owned(), format!("{PLAIN}{EVERYTHING}")] {
        for file in
            trees(&object)[0].files.iter().filter(|file| file.path.starts_with("/etc/kubernetes/manifests/"))
        {
            let pod = &documents(&text(file))[0];
            let container = &pod["spec"]["containers"][0];
            let mounts: Vec<&str> = container["volumeMounts"]
                .as_array()
                .expect("mounts")
                .iter()
                .map(|mount| mount["mountPath"].as_str().expect("a path"))
                .collect();
            for argument in container["command"].as_array().expect("a command") {
                let value = argument.as_str().expect("text").split_once('=').map_or("", |(_, value)| value);
                if value.starts_with('/') {
                    let mounted = mounts.iter().any(|mount| value.starts_with(mount));
                    assert!(mounted, "{}: nothing mounts {value}", file.path);
                }
            }
            let volumes = pod["spec"]["volumes"].as_array().expect("volumes").len();
            assert_eq!(volumes, mounts.len(), "{}", file.path);
        }
    }
}

/// What a component is told to read is laid down, or is made by the host.
#[test]
fn named_files_are_laid_down() {
    let tree = &trees(&format!("{PLAIN}{EVERYTHING}"))[0];
    let by_others = [
        "/etc/kubernetes/bootstrap-kubelet.conf",
        "/etc/kubernetes/pki/etcd",
        "/etc/kubernetes/pki",
        "/etc/kubernetes/apiserver",
    ];
    for file in tree.files.iter().filter(|file| !file.lines.is_empty()) {
        for word in text(file).split(|c: char| c.is_whitespace() || "\"={},;".contains(c)) {
            let word = word.trim_end_matches([':', '.']);
            if !word.starts_with("/etc/kubernetes/") || by_others.contains(&word) {
                continue;
            }
            let laid_down = tree
                .files
                .iter()
                .any(|other| other.path == word || other.path.starts_with(&format!("{word}/")))
                || tree.folders.iter().any(|folder| folder.path.trim_end_matches('/') == word);
            assert!(laid_down, "{} names {word}", file.path);
        }
    }
}

#[test]
fn secrets_are_for_root_alone() {
    let trees = trees(&format!("{PLAIN}{EVERYTHING}"));
    for file in trees.iter().flat_map(|tree| &tree.files) {
        assert!(!file.secret || file.mode & 0o077 == 0, "{}", file.path);
        let named_key = file.path.ends_with(".key") || text(file).contains("the key ");
        assert!(!named_key || file.secret, "{}", file.path);
    }
    let node = &trees[1];
    assert!(node.files.iter().all(|file| !file.secret), "a node has no secret of the cluster: {node:?}");
}
