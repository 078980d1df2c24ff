//! Extra arguments and configuration of the components.

use serde_json::{Map, Value};

use super::Report;
use crate::{
    config_keys::{self, Setting},
    document::escape,
    finding::{Rule, Source, nearest},
    flags::{self, Flag},
    object::{ComponentName, Object},
    resolve::TUNABLE,
    versions::Version,
};

pub(super) fn check(object: &Object, version: Version, report: &mut Report) {
    for component in ComponentName::ALL {
        let at = format!("/components/{component}/extraArgs");
        for (name, value) in object.components.extra_args(component) {
            let pointer = format!("{at}/{}", escape(name));
            argument(component, name, version, &pointer, report);
            value_of(component, name, &value.0, pointer, report);
        }
    }
    kubelet(&object.components.kubelet.config, version, report);
    kube_proxy(&object.components.kube_proxy.config, report);
    containerd(&object.runtime.config, report);
}

fn argument(component: ComponentName, name: &str, version: Version, pointer: &str, report: &mut Report) {
    let bare = name.trim_start_matches('-');
    let (reason, fix) = match flags::flag(component, bare, version.minor) {
        Flag::Known if bare == name => return,
        Flag::Known => ("the leading dashes are added".to_owned(), format!("write \"{bare}\"")),
        Flag::NotYet(minor) => (
            format!("{component} has this flag from 1.{minor} on; this cluster has {version}"),
            format!("remove it, or set kubernetes.version to 1.{minor}"),
        ),
        Flag::Removed(_, instead) => {
            let fix =
                if instead.starts_with("remove it") { instead.to_owned() } else { format!("use {instead}") };
            (format!("{component} of Kubernetes {version} does not have this flag any more"), fix)
        }
        Flag::Owned(because) => (format!("this flag is set already: {because}"), "remove it".to_owned()),
        Flag::Unknown if component == ComponentName::KubeProxy => (
            "kube-proxy reads its configuration file and ignores other flags".to_owned(),
            "set it in components.kube-proxy.config".to_owned(),
        ),
        Flag::Unknown => {
            let names = flags::names(component, version.minor);
            let fix = match nearest(bare, names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("see {component} --help of {version}"),
            };
            (format!("{component} of Kubernetes {version} has no such flag"), fix)
        }
    };
    report.add(Source::Object, pointer, Rule::Meaning, reason, fix);
}

/// Where an argument stands in a file as it is, it may not have what that file understands otherwise.
fn value_of(component: ComponentName, name: &str, value: &str, pointer: String, report: &mut Report) {
    if value.contains(|c: char| c.is_ascii_control()) {
        let reason = "an argument is one line, without control characters";
        report.add(Source::Object, pointer, Rule::Format, reason, "write it in one line");
        return;
    }
    let in_unit = component == ComponentName::Kubelet;
    let in_quotes = TUNABLE.iter().any(|(of, tunable, ..)| *of == component && *tunable == name);
    let special: &[char] = match (in_unit, in_quotes) {
        (true, _) => &[' ', '"', '\'', '\\', '%', '$'],
        (false, true) => &['"', '\\'],
        (false, false) => &[],
    };
    if value.contains(special) {
        let reason = "blanks, quotes, backslashes, % and $ cannot stand in this argument";
        report.add(Source::Object, pointer, Rule::Meaning, reason, "leave them out");
    }
}

fn kubelet(config: &Map<String, Value>, version: Version, report: &mut Report) {
    for key in config.keys() {
        let pointer = format!("/components/kubelet/config/{}", escape(key));
        let known = config_keys::kubelet();
        let (reason, fix) = match known.get(key.as_str()) {
            _ if let Some(because) = config_keys::owned_by_kubelet(key) => {
                (format!("this key is set already: {because}"), "remove it".to_owned())
            }
            Some(since) if *since > version.minor => (
                format!("the kubelet has this key from 1.{since} on; this cluster has {version}"),
                "remove it".to_owned(),
            ),
            Some(_) => continue,
            None => unknown_key("KubeletConfiguration", key, known.keys().copied()),
        };
        report.add(Source::Object, pointer, Rule::Meaning, reason, fix);
    }
}

fn kube_proxy(config: &Map<String, Value>, report: &mut Report) {
    for (key, value) in config {
        let pointer = format!("/components/kube-proxy/config/{}", escape(key));
        let (reason, fix) = if let Some(because) = config_keys::owned_by_kube_proxy(key) {
            (format!("this key is set already: {because}"), "remove it".to_owned())
        } else if let Some(problem) =
            setting("kube-proxy's configuration", &config_keys::KUBE_PROXY, key, value)
        {
            problem
        } else {
            continue;
        };
        report.add(Source::Object, pointer, Rule::Meaning, reason, fix);
    }
}

fn containerd(config: &Map<String, Value>, report: &mut Report) {
    for (key, value) in config {
        let problem = setting("containerd's CRI runtime plugin", &config_keys::CONTAINERD, key, value);
        if let Some((reason, fix)) = problem {
            let pointer = format!("/runtime/config/{}", escape(key));
            report.add(Source::Object, pointer, Rule::Meaning, reason, fix);
        }
    }
}

/// What is wrong with a key that one may set, and what to do.
fn setting(of: &str, known: &[Setting], key: &str, value: &Value) -> Option<(String, String)> {
    match known.iter().find(|(known, ..)| *known == key) {
        Some((_, default, _)) if same_type(default, value) => None,
        Some((_, default, _)) => {
            Some(("the value has the wrong type".to_owned(), format!("write it like {default}")))
        }
        None => Some(unknown_key(of, key, known.iter().map(|(known, ..)| *known))),
    }
}

/// Whether a value has the type of the default, which is written in JSON.
fn same_type(default: &str, value: &Value) -> bool {
    let default: Value = serde_json::from_str(default).unwrap_or_default();
    std::mem::discriminant(&default) == std::mem::discriminant(value)
}

fn unknown_key<'a>(
    of: &str,
    key: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> (String, String) {
    let fix = match nearest(key, known.clone()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => {
            let known: Vec<&str> = known.into_iter().collect();
            let few = known.len() < 30;
            if few {
                format!("the keys that can be set are: {}", known.join(", "))
            } else {
                "remove it".to_owned()
            }
        }
    };
    (format!("{of} has no such key"), fix)
}
