//! Where keys and certificates come from.

use cluster_spec::ResolvedHost;

/// Whoever has made them.
pub trait Keys {
    /// The contents of a file of keys or certificates, by its name in `tree.txt`, as `etcd/ca.crt`.
    fn file(&self, host: &ResolvedHost, name: &str) -> Option<Vec<u8>>;

    /// A secret that stands inside another file, by the name after `key.`, as `encryption`.
    fn value(&self, name: &str) -> Option<String>;
}

/// No keys: to look at the files of a cluster that has none yet. Everything secret has its own name
/// for contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoKeys;

impl Keys for NoKeys {
    fn file(&self, host: &ResolvedHost, name: &str) -> Option<Vec<u8>> {
        Some(format!("{name} of {}\n", host.name).into_bytes())
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(format!("the key {name}"))
    }
}
