//! The files of `deploy/`: those in the program, or others in their place.

use std::collections::BTreeMap;

/// The deployment as people read it, by path below `deploy/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deploy(BTreeMap<String, String>);

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../deploy/", $path)))),*]
    };
}

/// A test compares this list with the folder.
static EMBEDDED: &[(&str, &str)] = embedded![
    "tree.txt",
    "host.txt",
    "host/containerd-proxy.conf",
    "host/containerd.service",
    "host/containerd.toml",
    "host/kubelet-cluster.conf",
    "host/kubelet.service",
    "host/kubelet.yaml",
    "host/modules.conf",
    "host/pods.conflist.template",
    "host/sysctl.conf",
    "manifests/addons/approver/approver.yaml",
    "manifests/addons/bootstrap/rbac.yaml",
    "manifests/addons/coredns/coredns.yaml",
    "manifests/addons/flannel/flannel.yaml",
    "manifests/addons/kube-proxy/kube-proxy.yaml",
    "manifests/addons/metrics-server/metrics-server.yaml",
    "manifests/control-plane/addon-manager.yaml",
    "manifests/control-plane/audit-policy.yaml",
    "manifests/control-plane/encryption.yaml",
    "manifests/control-plane/etcd.yaml",
    "manifests/control-plane/kube-apiserver.yaml",
    "manifests/control-plane/kube-controller-manager.yaml",
    "manifests/control-plane/kube-scheduler.yaml",
];

impl Deploy {
    /// The files that are part of this program.
    pub fn embedded() -> Self {
        Self(EMBEDDED.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    /// The files of a folder, by path below it.
    pub fn from_files(files: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(files.into_iter().collect())
    }

    /// The text of a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// All files, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }
}
