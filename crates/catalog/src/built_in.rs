//! The groups that belong to the core by name.

/// Groups that a Kubernetes API server has built in.
const BUILT_IN: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether a Kubernetes API server has this group built in, as far as its name tells; the empty name is the
/// legacy group. What the core itself says of a group ([`Origin`](crate::Origin)) goes before this list,
/// which serves as long as the core has said nothing.
pub fn is_built_in_group(group: &str) -> bool {
    BUILT_IN.binary_search(&group).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, is_built_in_group};

    #[test]
    fn found_by_binary_search() {
        assert!(BUILT_IN.is_sorted());
        assert!(BUILT_IN.iter().all(|group| is_built_in_group(group)));
        assert!(!is_built_in_group("metrics.k8s.io"));
    }
}
