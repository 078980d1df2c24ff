//! Images and where they come from.

use super::Decisions;
use crate::{
    cluster::Cluster,
    versions::{FLANNEL, METRICS_SERVER, RELEASES},
};

/// Name of the image that is made from this program itself.
const OURS: &str = concat!("trellis.internal/trellis:v", env!("CARGO_PKG_VERSION"));

pub(super) fn decide(cluster: &Cluster, decisions: &mut Decisions) {
    let [.., newest] = &RELEASES;
    let release = cluster.version.release().unwrap_or(newest);
    let version = format!("v{}", cluster.version);
    let of_version = "the release of this version of Kubernetes";
    for component in ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"] {
        image(cluster, component, component, &version, of_version, decisions);
    }
    let tested = "the version that this release of Kubernetes was tested with";
    image(cluster, "etcd", "etcd", release.etcd, tested, decisions);
    image(cluster, "coredns", "coredns/coredns", release.coredns, tested, decisions);
    image(cluster, "pause", "pause", release.pause, tested, decisions);
    let metrics = "metrics-server/metrics-server";
    image(cluster, "metrics-server", metrics, METRICS_SERVER, "the newest release known", decisions);
    image(cluster, "flannel", "flannel-io/flannel", FLANNEL, "the newest release tested", decisions);
    let reason = "made from this program when it is applied; no registry has it";
    decisions.put("images.trellis", OURS, &[] as &[&str], reason);
    sources(cluster, decisions);
}

fn image(cluster: &Cluster, name: &str, path: &str, tag: &str, reason: &str, decisions: &mut Decisions) {
    let upstream = if name == "flannel" { "ghcr.io" } else { "registry.k8s.io" };
    let mirror = cluster.object.sources.mirror.as_ref();
    let registry = mirror.map_or(upstream, |mirror| mirror.images.as_str());
    let mut from = vec!["/sources/mirror/images"];
    if !matches!(name, "flannel" | "metrics-server") {
        from.push("/kubernetes/version");
    }
    decisions.put(format!("images.{name}"), format!("{registry}/{path}:{tag}"), &from, reason);
}

fn sources(cluster: &Cluster, decisions: &mut Decisions) {
    let sources = &cluster.object.sources;
    let all = ["/sources/mirror", "/sources/bundle"];
    let (kind, reason) = match (&sources.mirror, &sources.bundle) {
        (Some(_), _) => ("mirror", "servers of yours have copies"),
        (None, Some(_)) => ("bundle", "everything is in one bundle; hosts need no way out"),
        (None, None) => ("upstream", "no mirror and no bundle is given"),
    };
    decisions.put("sources.kind", kind, &all, reason);
    if let Some(mirror) = &sources.mirror {
        let from = ["/sources/mirror/binaries"];
        decisions.put("sources.binaries", mirror.binaries.clone(), &from, "the mirror that was given");
    }
    if let Some(bundle) = &sources.bundle {
        decisions.put("sources.bundle", bundle.clone(), &["/sources/bundle"], "the bundle that was given");
    }
}
