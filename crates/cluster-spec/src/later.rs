//! What is understood and comes later: refused with the reason, instead of as an unknown key.

/// Why something is not there yet, and what to do meanwhile.
#[derive(Debug)]
pub(crate) struct Later {
    pub(crate) reason: &'static str,
    pub(crate) fix: &'static str,
}

const CLOUD: Later = Later {
    reason: "machines in clouds are not made yet: this sets up hosts that are there",
    fix: "make the machines yourself and list them in hosts",
};
const OWN_ETCD: Later = Later {
    reason: "an etcd of your own is not supported yet: it runs on the control-plane host",
    fix: "remove the key",
};
const CONTAINER: Later = Later {
    reason: "the kubelet in a container is not supported yet: it runs under one systemd unit",
    fix: "remove the key",
};
const SIX: Later = Later {
    reason: "IPv6 is not supported yet: networks and addresses are IPv4",
    fix: "remove the key, or give an IPv4 network",
};
const PLUGIN: Later = Later {
    reason: "this plugin is not supported yet",
    fix: "write \"flannel\", or \"none\" and install the plugin yourself",
};
const RUNTIME: Later =
    Later { reason: "the runtime is containerd; others are not supported yet", fix: "write \"containerd\"" };
const DASHBOARD: Later = Later {
    reason: "this add-on is not there yet",
    fix: "remove the key, and install it into the running cluster",
};
const BALANCER: Later = Later {
    reason: "a load balancer in front of the API is not set up yet: there is one control-plane host",
    fix: "remove the key; api.endpoint may name a balancer of yours",
};

/// Pointers of keys, with the reason.
const KEYS: [(&str, &Later); 19] = [
    ("/cloud", &CLOUD),
    ("/provider", &CLOUD),
    ("/terraform", &CLOUD),
    ("/aws", &CLOUD),
    ("/gce", &CLOUD),
    ("/azure", &CLOUD),
    ("/etcd", &OWN_ETCD),
    ("/components/etcd/external", &OWN_ETCD),
    ("/components/etcd/endpoints", &OWN_ETCD),
    ("/components/kubelet/mode", &CONTAINER),
    ("/components/kubelet/container", &CONTAINER),
    ("/network/pods6", &SIX),
    ("/network/services6", &SIX),
    ("/network/ipv6", &SIX),
    ("/addons/dashboard", &DASHBOARD),
    ("/addons/ingress-nginx", &DASHBOARD),
    ("/addons/fluent-bit", &DASHBOARD),
    ("/api/loadBalancer", &BALANCER),
    ("/api/virtualAddress", &BALANCER),
];

/// Words at pointers, with the reason.
const WORDS: [(&str, &[&str], &Later); 2] = [
    ("/network/plugin", &["calico", "cilium", "weave", "kube-router", "canal", "antrea"], &PLUGIN),
    ("/runtime/name", &["docker", "cri-o", "crio", "podman"], &RUNTIME),
];

/// Whether the key with this pointer comes later.
pub(crate) fn key(pointer: &str) -> Option<&'static Later> {
    KEYS.iter().find(|(key, _)| *key == pointer).map(|(_, later)| *later)
}

/// Whether the word at this pointer comes later.
pub(crate) fn word(pointer: &str, word: &str) -> Option<&'static Later> {
    let found = WORDS.iter().find(|(at, words, _)| *at == pointer && words.contains(&word));
    found.map(|(_, _, later)| *later)
}

/// Text of what an IPv6 network is answered.
pub(crate) fn six() -> (&'static str, &'static str) {
    (SIX.reason, SIX.fix)
}
