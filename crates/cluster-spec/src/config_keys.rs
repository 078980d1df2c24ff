//! The keys of the configuration files that one may set, and the values they have otherwise.

use std::{collections::BTreeMap, sync::LazyLock};

/// Top-level keys of KubeletConfiguration, with the minor version that brought them (0: an older one).
pub(crate) fn kubelet() -> &'static BTreeMap<&'static str, u32> {
    static KEYS: LazyLock<BTreeMap<&'static str, u32>> = LazyLock::new(|| {
        let lines = include_str!("../data/kubelet-config.txt").lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| {
                let mut words = line.split(' ');
                Some((words.next()?, words.next().and_then(|since| since.parse().ok()).unwrap_or_default()))
            })
            .collect()
    });
    &KEYS
}

/// Why a key of KubeletConfiguration is not for anybody else to set.
pub(crate) fn owned_by_kubelet(key: &str) -> Option<&'static str> {
    const OWNED: [(&str, &str); 12] = [
        ("apiVersion", "there is one version"),
        ("kind", "there is one kind"),
        ("cgroupDriver", "it follows from runtime.cgroupDriver"),
        ("clusterDNS", "it follows from network.dnsAddress"),
        ("clusterDomain", "it follows from network.dnsDomain"),
        ("containerRuntimeEndpoint", "it is where containerd listens"),
        ("registerWithTaints", "it follows from roles and taints of the host"),
        ("resolvConf", "it is found out on the host"),
        ("rotateCertificates", "nodes renew their certificates"),
        ("serverTLSBootstrap", "the approver works with it"),
        ("staticPodPath", "the control plane is started from there"),
        ("tlsCertFile", "the kubelet asks the cluster for its certificate"),
    ];
    OWNED.iter().find(|(owned, _)| *owned == key).map(|(_, because)| *because)
}

/// Why a key of KubeProxyConfiguration is not for anybody else to set.
pub(crate) fn owned_by_kube_proxy(key: &str) -> Option<&'static str> {
    const OWNED: [(&str, &str); 5] = [
        ("apiVersion", "there is one version"),
        ("kind", "there is one kind"),
        ("clientConnection", "it is the kubeconfig that is placed for it"),
        ("clusterCIDR", "it follows from network.pods"),
        ("hostnameOverride", "it is the name of the node"),
    ];
    OWNED.iter().find(|(owned, _)| *owned == key).map(|(_, because)| *because)
}

/// A key, its value in JSON when nothing else is given, and why.
pub type Setting = (&'static str, &'static str, &'static str);

/// Keys of KubeProxyConfiguration that one may set.
pub const KUBE_PROXY: [Setting; 12] = [
    ("bindAddress", "\"0.0.0.0\"", "node ports are served on every address"),
    ("bindAddressHardFail", "false", "a taken port is reported, not fatal"),
    ("conntrack", "{}", "upstream's limits"),
    ("enableProfiling", "false", "nobody profiles it"),
    ("featureGates", "{}", "upstream's features"),
    ("healthzBindAddress", "\"0.0.0.0:10256\"", "load balancers ask there"),
    ("iptables", "{}", "not used in nftables mode"),
    ("metricsBindAddress", "\"127.0.0.1:10249\"", "metrics are for this host alone"),
    ("mode", "\"nftables\"", "the mode that scales, and upstream's recommendation"),
    ("nftables", "{}", "upstream's periods"),
    ("nodePortAddresses", "[]", "node ports are served on every address"),
    ("oomScoreAdj", "-999", "it is among the last to be killed"),
];

/// Keys of containerd's CRI runtime plugin that one may set.
pub const CONTAINERD: [Setting; 6] = [
    ("device_ownership_from_security_context", "false", "upstream's default"),
    ("disable_apparmor", "false", "profiles apply where the kernel has them"),
    ("enable_selinux", "false", "upstream's default"),
    ("max_container_log_line_size", "16384", "upstream's default"),
    ("restrict_oom_score_adj", "false", "it runs as root and may lower scores"),
    ("tolerate_missing_hugetlb_controller", "true", "upstream's default"),
];
