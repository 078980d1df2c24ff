//! `explain` is right: a field that is changed changes the lines that it is named for, and no others.

use std::collections::BTreeSet;

use cluster_spec::{Decisions, HostFacts, Resolved};
use render::{Deploy, Explanation, explain};
use serde_json::{Value, json};

use crate::{
    golden::EVERYTHING,
    support::{PLAIN, resolve, text, trees_of},
};

/// A field and the value that it is changed to.
fn changes() -> Vec<(&'static str, Value)> {
    vec![
        ("/name", json!("other")),
        ("/kubernetes/version", json!("1.35")),
        ("/hosts/0/name", json!("cp9")),
        ("/hosts/1/name", json!("n9")),
        ("/hosts/0/address", json!("192.168.7.9")),
        ("/hosts/1/address", json!("192.168.7.9")),
        ("/hosts/1/labels", json!({"example.com/rack": "r2"})),
        ("/hosts/1/taints", json!([{"key": "gpu", "effect": "NoExecute"}])),
        ("/hosts/1/ssh/port", json!(2222)),
        ("/api/endpoint", json!("cp1:8443")),
        ("/api/extraNames", json!(["other.example.com"])),
        ("/network/pods", json!("10.32.0.0/12")),
        ("/network/services", json!("10.96.0.0/12")),
        ("/network/dnsAddress", json!("172.30.0.99")),
        ("/network/dnsDomain", json!("other.local")),
        ("/network/plugin", json!("none")),
        ("/runtime/cgroupDriver", json!("systemd")),
        ("/runtime/config/restrict_oom_score_adj", json!(false)),
        ("/runtime/config/enable_selinux", json!(true)),
        ("/components/etcd/extraArgs/snapshot-count", json!(7)),
        ("/components/etcd/extraArgs/quota-backend-bytes", json!(8)),
        ("/components/kube-apiserver/extraArgs/profiling", json!(false)),
        ("/components/kube-apiserver/extraArgs/v", json!(9)),
        ("/components/kube-controller-manager/extraArgs/v", json!(9)),
        ("/components/kube-scheduler/extraArgs/leader-elect", json!(false)),
        ("/components/kubelet/extraArgs/v", json!(9)),
        ("/components/kubelet/config/maxPods", json!(9)),
        ("/components/kube-proxy/extraArgs/v", json!(9)),
        ("/components/kube-proxy/config/mode", json!("nftables")),
        ("/components/kube-proxy/config/oomScoreAdj", json!(0)),
        ("/proxy/http", json!("http://10.1.1.1:80")),
        ("/proxy/https", json!("http://10.1.1.2:80")),
        ("/proxy/noProxy", json!([".other"])),
        ("/sources/mirror/images", json!("other.example.com")),
        ("/sources/mirror/binaries", json!("https://other.example.com")),
        ("/audit/level", json!("None")),
        ("/audit/level", json!("Request")),
        ("/audit/maxAgeDays", json!(1)),
        ("/audit/maxBackups", json!(1)),
        ("/audit/maxSizeMib", json!(1)),
        ("/encryption/secrets", json!("none")),
        ("/addons/coredns/enabled", json!(false)),
        ("/addons/metrics-server/enabled", json!(false)),
        ("/pki/authorityDays", json!(7300)),
        ("/pki/certificateDays", json!(30)),
        ("/preflight/accept", json!(["swap"])),
    ]
}

/// Host, path, line of `deploy/` and text of a line, with its explanation and what was decided.
type Known = Vec<((String, String, usize, String), Explanation)>;

fn lines(resolved: &Resolved) -> Known {
    let deploy = Deploy::embedded();
    let mut known = Vec::new();
    for (tree, host) in trees_of(resolved).iter().zip(&resolved.hosts) {
        let decisions = resolved.decisions.clone().with(host.with(&HostFacts::default()));
        for (file, place) in tree.files.iter().filter(|file| !file.lines.is_empty()).zip(0..) {
            let explanations = explain(&deploy, &decisions, file).expect("explained");
            let texts = text(file);
            assert_eq!(texts.lines().count(), explanations.len(), "{place} {}", file.path);
            for ((text, rendered), explanation) in texts.lines().zip(&file.lines).zip(explanations) {
                // The host by its place: its name is one of the fields.
                let key = (host.pointer(), file.path.clone(), rendered.number, text.to_owned());
                known.push((key, explanation));
            }
        }
    }
    known
}

fn all_decisions(resolved: &Resolved) -> Vec<Decisions> {
    resolved
        .hosts
        .iter()
        .map(|host| resolved.decisions.clone().with(host.with(&HostFacts::default())))
        .collect()
}

/// Whether a line is named for the field. A condition counts only when it has turned.
fn is_named(explanation: &Explanation, field: &str, turned: &dyn Fn(&str) -> bool) -> bool {
    let below = |one: &str, other: &str| one == other || one.starts_with(&format!("{other}/"));
    explanation.parts.iter().any(|part| {
        let named = part.fields.iter().any(|of| below(of, field) || below(field, of));
        named && (!part.condition || turned(&part.name))
    })
}

fn check(base: &Value, field: &str, value: &Value) {
    let mut changed = base.clone();
    set(&mut changed, field, value.clone());
    let (before, after) = (resolve(&base.to_string()), resolve(&changed.to_string()));
    let (was, is) = (all_decisions(&before), all_decisions(&after));
    let turned = |name: &str| {
        was.iter()
            .zip(&is)
            .any(|(was, is)| was.get(name).map(|d| &d.content) != is.get(name).map(|d| &d.content))
    };
    let (old, new) = (lines(&before), lines(&after));
    let keys = |known: &Known| known.iter().map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
    let (old_keys, new_keys) = (keys(&old), keys(&new));
    for (known, others) in [(&old, &new_keys), (&new, &old_keys)] {
        for (key, explanation) in known {
            let differs = !others.contains(key);
            assert_eq!(differs, is_named(explanation, field, &turned), "{field}: {key:?} {explanation:#?}");
        }
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut at = object;
    for key in pointer.split('/').skip(1) {
        at = match key.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[key],
        };
    }
    *at = value;
}

#[test]
fn lines_change_with_the_fields_they_are_named_for() {
    let base: Value = serde_saphyr::from_str(&format!("{PLAIN}{EVERYTHING}")).expect("YAML");
    for (field, value) in changes() {
        check(&base, field, &value);
    }
}

/// Roles and the approver cannot be changed alone: the lines that change are among those named.
#[test]
fn fields_that_hang_together_are_named() {
    for (field, option) in [
        (
            "/hosts/0/roles",
            "hosts:\n- {name: cp1, address: 192.168.7.1, roles: [control-plane, node]}\n- {name: n1, address: 192.168.7.2}\n",
        ),
        ("/addons", "addons: {approver: {enabled: false}, metrics-server: {enabled: false}}\n"),
    ] {
        let object = if option.starts_with("hosts") {
            format!("name: demo\n{option}")
        } else {
            format!("{PLAIN}{option}")
        };
        let (old, new) = (lines(&resolve(PLAIN)), lines(&resolve(&object)));
        let keys: BTreeSet<_> = old.iter().map(|(key, _)| key.clone()).collect();
        let changed: Vec<_> = new.iter().filter(|(key, _)| !keys.contains(key)).collect();
        let gone = old.iter().filter(|(key, _)| !new.iter().any(|(other, _)| other == key)).count();
        assert!(!changed.is_empty() || gone > 0, "{field}");
        for (key, explanation) in changed {
            assert!(is_named(explanation, field, &|_| true), "{field}: {key:?}");
        }
    }
}

#[test]
fn every_line_says_where_it_comes_from() {
    for (key, explanation) in lines(&resolve(PLAIN)) {
        assert!(explanation.from.ends_with(&format!(":{}", key.2)), "{key:?}");
        let said = !explanation.why.is_empty() || explanation.from.contains(".template:");
        assert!(said, "{key:?} has no reason");
    }
}
