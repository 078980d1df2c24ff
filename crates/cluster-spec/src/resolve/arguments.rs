//! Arguments of the components: those with a default that one may change, and those that come on top.

use super::{Decisions, decision::Item};
use crate::{cluster::Cluster, document::escape, object::ComponentName};

/// An argument that stands in `deploy/` with a value that one may change: component, name, value, why.
pub type Tunable = (ComponentName, &'static str, &'static str, &'static str);

/// All of them.
pub const TUNABLE: [Tunable; 12] = [
    (ComponentName::Etcd, "feature-gates", "InitialCorruptCheck=true", "a damaged member does not start"),
    (ComponentName::Etcd, "snapshot-count", "10000", "as kubeadm; less memory than etcd's own default"),
    (
        ComponentName::Etcd,
        "watch-progress-notify-interval",
        "5s",
        "the API server's watch cache relies on it",
    ),
    (ComponentName::KubeApiserver, "authorization-mode", "Node,RBAC", "kubelets see their own objects only"),
    (ComponentName::KubeApiserver, "enable-admission-plugins", "NodeRestriction", "and change only these"),
    (
        ComponentName::KubeApiserver,
        "kubelet-preferred-address-types",
        "InternalIP,ExternalIP,Hostname",
        "kubelets are reached by address: names of nodes need not resolve",
    ),
    (ComponentName::KubeApiserver, "profiling", "false", "nobody profiles it"),
    (
        ComponentName::KubeControllerManager,
        "controllers",
        "*,bootstrapsigner,tokencleaner",
        "the two that joining by token needs are off otherwise",
    ),
    (
        ComponentName::KubeControllerManager,
        "leader-elect",
        "true",
        "one is active, also while it is replaced",
    ),
    (ComponentName::KubeControllerManager, "profiling", "false", "nobody profiles it"),
    (ComponentName::KubeScheduler, "leader-elect", "true", "one is active, also while it is replaced"),
    (ComponentName::KubeScheduler, "profiling", "false", "nobody profiles it"),
];

pub(super) fn decide(cluster: &Cluster, decisions: &mut Decisions) {
    let components = &cluster.object.components;
    for (component, name, default, reason) in TUNABLE {
        let given = components.extra_args(component).get(name);
        let (value, reason) = match given {
            Some(value) => (value.0.as_str(), "the argument that was given"),
            None => (default, reason),
        };
        decisions.put(format!("{component}.{name}"), value, &[pointer(component, name)], reason);
    }
    for component in ComponentName::ALL {
        let is_extra =
            |name: &str| !TUNABLE.iter().any(|(of, tunable, ..)| *of == component && *tunable == name);
        let extra = components.extra_args(component).iter().filter(|(name, _)| is_extra(name));
        let items = extra.map(|(name, value)| Item {
            text: format!("--{name}={}", value.0),
            from: vec![pointer(component, name)],
        });
        let from = format!("/components/{component}/extraArgs");
        // The kubelet's stand in a unit, all others in manifests.
        let quoted = component != ComponentName::Kubelet;
        let reason = "arguments that are given on top of ours";
        decisions.put_items(format!("{component}.extraArgs"), items.collect(), quoted, &[&from], reason);
    }
}

fn pointer(component: ComponentName, name: &str) -> String {
    format!("/components/{component}/extraArgs/{}", escape(name))
}
