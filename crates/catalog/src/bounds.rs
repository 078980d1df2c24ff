//! What one backend may bring. A second fence: discovery is bounded by bytes already when it is fetched.

use crate::Role;

/// Groups of a federated server.
pub const MAX_GROUPS: usize = 2_000;
/// Groups of the core, custom resources included.
pub const MAX_CORE_GROUPS: usize = 20_000;
/// Versions of a group.
pub const MAX_VERSIONS: usize = 64;
/// Bytes of the resources of one version.
pub const MAX_VERSION_BYTES: usize = 4 << 20;

/// The most groups that a backend in this role may offer.
pub(crate) fn max_groups(role: Role) -> usize {
    match role {
        Role::Core => MAX_CORE_GROUPS,
        Role::Federated => MAX_GROUPS,
    }
}

/// Whether this can be the name of an API group: a DNS subdomain (RFC 1123) of at most 253 bytes.
pub(crate) fn is_group_name(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Whether this can be the name of an API version: a DNS label of at most 63 bytes.
pub(crate) fn is_version_name(name: &str) -> bool {
    is_label(name)
}

fn is_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty()
        && label.len() <= 63
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}
