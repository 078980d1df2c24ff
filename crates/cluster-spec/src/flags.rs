//! The flags of the components: which exist in which version, which are ours to set, which are gone.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::object::ComponentName;

/// What is known of a flag of a component in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It is there.
    Known,
    /// It comes with this minor version, which is newer.
    NotYet(u32),
    /// It went with this minor version; what to write instead.
    Removed(u32, &'static str),
    /// This sets it; the reason, or the field that it follows from.
    Owned(&'static str),
    /// Nobody knows it.
    Unknown,
}

#[derive(Default)]
struct Tables {
    since: BTreeMap<ComponentName, BTreeMap<&'static str, u32>>,
    removed: BTreeMap<ComponentName, BTreeMap<&'static str, (u32, &'static str)>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables::default();
    for (component, line) in entries(include_str!("../data/flags.txt")) {
        let (name, since) = line.split_once(' ').unwrap_or((line, "0"));
        tables.since.entry(component).or_default().insert(name, since.parse().unwrap_or_default());
    }
    for (component, line) in entries(include_str!("../data/removed-flags.txt")) {
        let mut words = line.splitn(3, ' ');
        let name = words.next().unwrap_or_default();
        let minor = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
        let instead = words.next().unwrap_or_default();
        tables.removed.entry(component).or_default().insert(name, (minor, instead));
    }
    tables
});

/// The lines of a table, each with the component whose heading it stands below.
fn entries(text: &'static str) -> impl Iterator<Item = (ComponentName, &'static str)> {
    let mut component = None;
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            component = ComponentName::ALL.into_iter().find(|component| component.name() == name);
            return None;
        }
        Some((component?, line))
    })
}

/// Looks a flag up.
pub fn flag(component: ComponentName, name: &str, minor: u32) -> Flag {
    if let Some((_, because)) = owned(component).iter().find(|(owned, _)| *owned == name) {
        return Flag::Owned(because);
    }
    let removed = TABLES.removed.get(&component).and_then(|flags| flags.get(name));
    match (TABLES.since.get(&component).and_then(|flags| flags.get(name)), removed) {
        (_, Some((gone, instead))) if minor >= *gone => Flag::Removed(*gone, instead),
        (_, Some(_)) => Flag::Known,
        (Some(since), None) if *since > minor => Flag::NotYet(*since),
        (Some(_), None) => Flag::Known,
        (None, None) => Flag::Unknown,
    }
}

/// The names of all flags of a component in a version that one may set.
pub(crate) fn names(component: ComponentName, minor: u32) -> Vec<&'static str> {
    let flags = TABLES.since.get(&component).into_iter().flatten();
    flags
        .filter(|(name, since)| **since <= minor && !owned(component).iter().any(|(owned, _)| owned == *name))
        .map(|(name, _)| *name)
        .collect()
}

/// The flags that are ours to set, with the field they follow from, or the reason.
pub fn owned(component: ComponentName) -> &'static [(&'static str, &'static str)] {
    match component {
        ComponentName::Etcd => &ETCD,
        ComponentName::KubeApiserver => &APISERVER,
        ComponentName::KubeControllerManager => &CONTROLLER_MANAGER,
        ComponentName::KubeScheduler => &SCHEDULER,
        ComponentName::Kubelet => &KUBELET,
        ComponentName::KubeProxy => &KUBE_PROXY,
    }
}

const KEYS: &str = "keys and certificates are made and placed for it";
const HOST: &str = "it follows from name and address of the host";
const FILES: &str = "it is where its files are laid down";

static ETCD: [(&str, &str); 17] = [
    ("name", HOST),
    ("data-dir", FILES),
    ("listen-client-urls", HOST),
    ("advertise-client-urls", HOST),
    ("listen-peer-urls", HOST),
    ("initial-advertise-peer-urls", HOST),
    ("initial-cluster", HOST),
    ("initial-cluster-state", HOST),
    ("listen-metrics-urls", "the probes ask there"),
    ("cert-file", KEYS),
    ("key-file", KEYS),
    ("trusted-ca-file", KEYS),
    ("client-cert-auth", KEYS),
    ("peer-cert-file", KEYS),
    ("peer-key-file", KEYS),
    ("peer-trusted-ca-file", KEYS),
    ("peer-client-cert-auth", KEYS),
];

static APISERVER: [(&str, &str); 35] = [
    ("advertise-address", HOST),
    ("allow-privileged", "kube-proxy and the network plugin need it"),
    ("audit-log-maxage", "it follows from audit"),
    ("audit-log-maxbackup", "it follows from audit"),
    ("audit-log-maxsize", "it follows from audit"),
    ("audit-log-path", "it follows from audit"),
    ("audit-policy-file", "it follows from audit"),
    ("client-ca-file", KEYS),
    ("enable-bootstrap-token-auth", "nodes join by it"),
    ("encryption-provider-config", "it follows from encryption"),
    ("etcd-cafile", KEYS),
    ("etcd-certfile", KEYS),
    ("etcd-keyfile", KEYS),
    ("etcd-servers", "etcd runs beside it"),
    ("kubelet-certificate-authority", KEYS),
    ("kubelet-client-certificate", KEYS),
    ("kubelet-client-key", KEYS),
    ("proxy-client-cert-file", KEYS),
    ("proxy-client-key-file", KEYS),
    ("requestheader-allowed-names", KEYS),
    ("requestheader-client-ca-file", KEYS),
    ("requestheader-extra-headers-prefix", KEYS),
    ("requestheader-group-headers", KEYS),
    ("requestheader-username-headers", KEYS),
    ("secure-port", "it follows from api.endpoint"),
    ("service-account-issuer", "it follows from network.dnsDomain"),
    ("service-account-key-file", KEYS),
    ("service-account-signing-key-file", KEYS),
    ("service-cluster-ip-range", "it follows from network.services"),
    ("tls-cert-file", KEYS),
    ("tls-private-key-file", KEYS),
    ("bind-address", HOST),
    ("cert-dir", KEYS),
    ("etcd-prefix", "etcd runs beside it"),
    ("peer-ca-file", KEYS),
];

static CONTROLLER_MANAGER: [(&str, &str); 16] = [
    ("allocate-node-cidrs", "it follows from network.pods"),
    ("authentication-kubeconfig", KEYS),
    ("authorization-kubeconfig", KEYS),
    ("bind-address", "the probes ask there"),
    ("client-ca-file", KEYS),
    ("cluster-cidr", "it follows from network.pods"),
    ("cluster-name", "it follows from name"),
    ("cluster-signing-cert-file", KEYS),
    ("cluster-signing-key-file", KEYS),
    ("kubeconfig", KEYS),
    ("node-cidr-mask-size", "each node gets a /24 of network.pods"),
    ("requestheader-client-ca-file", KEYS),
    ("root-ca-file", KEYS),
    ("service-account-private-key-file", KEYS),
    ("service-cluster-ip-range", "it follows from network.services"),
    ("use-service-account-credentials", KEYS),
];

static SCHEDULER: [(&str, &str); 5] = [
    ("authentication-kubeconfig", KEYS),
    ("authorization-kubeconfig", KEYS),
    ("bind-address", "the probes ask there"),
    ("client-ca-file", KEYS),
    ("kubeconfig", KEYS),
];

static KUBELET: [(&str, &str); 9] = [
    ("bootstrap-kubeconfig", KEYS),
    ("cert-dir", KEYS),
    ("config", FILES),
    ("config-dir", FILES),
    ("hostname-override", HOST),
    ("kubeconfig", KEYS),
    ("node-ip", HOST),
    ("node-labels", "it follows from labels of the host"),
    ("register-with-taints", "it follows from roles and taints of the host"),
];

static KUBE_PROXY: [(&str, &str); 3] = [("config", FILES), ("hostname-override", HOST), ("kubeconfig", KEYS)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_known_by_version() {
        use ComponentName::{Etcd, KubeApiserver, KubeScheduler, Kubelet};
        for (component, name, minor, expected) in [
            (KubeApiserver, "profiling", 35, Flag::Known),
            (KubeApiserver, "tls-curve-preferences", 35, Flag::NotYet(36)),
            (KubeApiserver, "tls-curve-preferences", 36, Flag::Known),
            (KubeApiserver, "insecure-prot", 37, Flag::Unknown),
            (KubeApiserver, "etcd-servers", 37, Flag::Owned("etcd runs beside it")),
            (Etcd, "experimental-compact-hash-check-time", 36, Flag::Known),
            (Etcd, "experimental-compact-hash-check-time", 37, Flag::Removed(37, "compact-hash-check-time")),
            (KubeScheduler, "policy-config-file", 36, Flag::Removed(35, "config, with profiles")),
            (Kubelet, "v", 37, Flag::Known),
        ] {
            assert_eq!(flag(component, name, minor), expected, "{component} {name} {minor}");
        }
    }

    #[test]
    fn tables_are_whole() {
        for component in ComponentName::ALL {
            let known = TABLES.since.get(&component).expect("flags");
            assert!(known.len() > 4, "{component}");
            for (name, _) in owned(component) {
                assert!(known.contains_key(name) || *name == "config", "{component}: {name} is no flag");
            }
            for (name, (minor, instead)) in TABLES.removed.get(&component).into_iter().flatten() {
                assert!((35..=37).contains(minor) && !instead.is_empty(), "{component}: {name}");
                assert!(!known.contains_key(name), "{component}: {name} is there and gone");
            }
        }
    }
}
