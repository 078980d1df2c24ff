//! Names, networks, the API, proxy, policy.

use serde_json::{Value, json};

use super::{Decisions, decision::Item};
use crate::{
    check::API_PORT,
    cluster::{Cluster, PlacedHost},
    config_keys,
    object::{AuditLevel, EncryptAtRest, Plugin},
};

pub(super) fn decide(cluster: &Cluster, decisions: &mut Decisions) {
    let object = &cluster.object;
    decisions.put("cluster.name", object.name.clone(), &["/name"], "the name that was given");
    let version = format!("v{}", cluster.version);
    let reason = match object.kubernetes.version.matches('.').count() {
        1 => format!("the newest release known of {}", object.kubernetes.version),
        _ => "exactly the release that was given".to_owned(),
    };
    decisions.put("kubernetes.version", version, &["/kubernetes/version"], reason);
    network(cluster, decisions);
    api(cluster, decisions);
    proxy(cluster, decisions);
    policy(cluster, decisions);
    addons(cluster, decisions);
    hosts(cluster, decisions);
    files(cluster, decisions);
}

/// Pointer of a field of a host.
pub(super) fn of_host(placed: &PlacedHost, field: &str) -> String {
    format!("/hosts/{}/{field}", placed.index)
}

/// Pointers of what makes a host the control plane.
pub(super) fn roles(cluster: &Cluster) -> Vec<String> {
    cluster.hosts.iter().map(|placed| of_host(placed, "roles")).collect()
}

fn network(cluster: &Cluster, decisions: &mut Decisions) {
    let (networks, network) = (&cluster.networks, &cluster.object.network);
    let pods = "each node gets a /24 of it for its pods";
    decisions.put("network.pods", networks.pods.to_string(), &["/network/pods"], pods);
    let services = "addresses of Services; no interface has them";
    decisions.put("network.services", networks.services.to_string(), &["/network/services"], services);
    let (from, reason) = match network.dns_address {
        Some(_) => (["/network/dnsAddress"].as_slice(), "the address that was given"),
        None => {
            (["/network/services", "/network/dnsAddress"].as_slice(), "the tenth address of network.services")
        }
    };
    decisions.put("network.dnsAddress", networks.dns.to_string(), from, reason);
    let domain = "Services have names below it";
    decisions.put("network.dnsDomain", network.dns_domain.clone(), &["/network/dnsDomain"], domain);
    let plugin = match network.plugin {
        Plugin::Flannel => "flannel connects the pods of all hosts over VXLAN",
        Plugin::None => "you install a plugin yourself; nodes are NotReady until then",
    };
    decisions.put("network.plugin", network.plugin.name(), &["/network/plugin"], plugin);
    let is_flannel = network.plugin == Plugin::Flannel;
    decisions.put("network.flannel", is_flannel, &["/network/plugin"], plugin);
}

fn api(cluster: &Cluster, decisions: &mut Decisions) {
    let api = &cluster.object.api;
    let control_plane = cluster.hosts.iter().find(|placed| placed.control_plane);
    let mut own: Vec<String> = roles(cluster);
    own.extend(control_plane.map(|placed| of_host(placed, "address")));
    let (mut from, reason) = match &api.endpoint {
        Some(_) => (Vec::new(), "the endpoint that was given"),
        None => (own.clone(), "the control-plane host itself"),
    };
    from.push("/api/endpoint".to_owned());
    decisions.put("api.host", cluster.endpoint.host.clone(), &from, reason);
    let endpoint = format!("{}:{}", cluster.endpoint.host, cluster.endpoint.port);
    decisions.put("api.endpoint", endpoint, &from, reason);
    decisions.put("api.endpointPort", cluster.endpoint.port, &["/api/endpoint"], reason);
    let at_host = control_plane.is_some_and(|placed| cluster.endpoint.is_at(placed));
    let (port, reason) = match at_host {
        true => (cluster.endpoint.port, "the port of the endpoint, which is the host itself"),
        false => (API_PORT, "the usual port; what answers at the endpoint forwards to it"),
    };
    decisions.put("api.port", port, &["/api/endpoint"], reason);
    let first = cluster.networks.first_service.to_string();
    let reason = "the first address of network.services is that of the API";
    decisions.put("api.serviceAddress", first.clone(), &["/network/services"], reason);
    let names = certificate_names(cluster, control_plane, &first);
    decisions.put_items(
        "api.names",
        names,
        false,
        &["/api/extraNames"],
        "everything by which clients call the API server",
    );
}

/// The names in the serving certificate, each once.
fn certificate_names(
    cluster: &Cluster,
    control_plane: Option<&PlacedHost>,
    first_service: &str,
) -> Vec<Item> {
    let domain = &cluster.object.network.dns_domain;
    let mut names: Vec<Item> = Vec::new();
    let mut add = |text: String, from: Vec<String>| {
        if !names.iter().any(|item| item.text == text) {
            names.push(Item { text, from });
        }
    };
    for name in ["kubernetes", "kubernetes.default", "kubernetes.default.svc"] {
        add(name.to_owned(), Vec::new());
    }
    add(format!("kubernetes.default.svc.{domain}"), vec!["/network/dnsDomain".to_owned()]);
    add(first_service.to_owned(), vec!["/network/services".to_owned()]);
    if let Some(placed) = control_plane {
        let with = |field: &str| {
            let mut from = roles(cluster);
            from.push(of_host(placed, field));
            from
        };
        add(placed.host.name.clone(), with("name"));
        add(placed.address.to_string(), with("address"));
    }
    add(cluster.endpoint.host.clone(), vec!["/api/endpoint".to_owned()]);
    for (index, name) in cluster.object.api.extra_names.iter().enumerate() {
        add(name.clone(), vec![format!("/api/extraNames/{index}")]);
    }
    names
}

fn proxy(cluster: &Cluster, decisions: &mut Decisions) {
    let proxy = &cluster.object.proxy;
    let both = ["/proxy/http", "/proxy/https"];
    let there = proxy.http.is_some() || proxy.https.is_some();
    decisions.put(
        "proxy.enabled",
        there,
        &both,
        if there { "a proxy is given" } else { "no proxy is given" },
    );
    let text = |url: Option<&String>| url.cloned().unwrap_or_default();
    decisions.put("proxy.http", text(proxy.http.as_ref()), &["/proxy/http"], "the proxy that was given");
    let (https, from, reason) = match &proxy.https {
        Some(https) => (https.clone(), ["/proxy/https"].as_slice(), "the proxy that was given"),
        None => (text(proxy.http.as_ref()), both.as_slice(), "the same as for http"),
    };
    decisions.put("proxy.https", https, from, reason);
    let (entries, from) = no_proxy(cluster);
    let reason = "this host, all hosts, the API, pods and Services are reached directly";
    decisions.put("proxy.noProxy", entries.join(","), &from, reason);
}

fn no_proxy(cluster: &Cluster) -> (Vec<String>, Vec<String>) {
    let mut entries = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut from = Vec::new();
    for placed in &cluster.hosts {
        entries.push(placed.address.to_string());
        from.push(of_host(placed, "address"));
    }
    let domain = &cluster.object.network.dns_domain;
    entries.push(cluster.endpoint.host.clone());
    entries.extend([cluster.networks.pods.to_string(), cluster.networks.services.to_string()]);
    entries.extend([".svc".to_owned(), format!(".{domain}")]);
    entries.extend(cluster.object.proxy.no_proxy.iter().cloned());
    let fields =
        ["/api/endpoint", "/network/pods", "/network/services", "/network/dnsDomain", "/proxy/noProxy"];
    from.extend(fields.map(str::to_owned));
    let mut seen = std::collections::BTreeSet::new();
    entries.retain(|entry| seen.insert(entry.clone()));
    (entries, from)
}

fn policy(cluster: &Cluster, decisions: &mut Decisions) {
    let object = &cluster.object;
    let audit = &object.audit;
    let on = audit.level != AuditLevel::None;
    let reason = if on { "an audit log is asked for" } else { "no audit log, as upstream" };
    decisions.put("audit.enabled", on, &["/audit/level"], reason);
    decisions.put("audit.level", audit.level.name(), &["/audit/level"], "how much of a request is recorded");
    for (name, value, reason) in [
        ("maxAgeDays", audit.max_age_days, "days that a file of the log is kept"),
        ("maxBackups", audit.max_backups, "files of the log that are kept"),
        ("maxSizeMib", audit.max_size_mib, "size at which a file of the log is ended"),
    ] {
        decisions.put(format!("audit.{name}"), value, &[format!("/audit/{name}")], reason);
    }
    let encrypted = object.encryption.secrets == EncryptAtRest::Secretbox;
    let reason = match encrypted {
        true => "Secrets are encrypted in etcd with a key of the cluster",
        false => "Secrets stand in etcd as they are, as upstream",
    };
    decisions.put("encryption.enabled", encrypted, &["/encryption/secrets"], reason);
    let pki = &object.pki;
    let reason = "how long an authority is valid";
    decisions.put("pki.authorityDays", pki.authority_days, &["/pki/authorityDays"], reason);
    let reason = "how long a certificate of an authority is valid";
    decisions.put("pki.certificateDays", pki.certificate_days, &["/pki/certificateDays"], reason);
    let accept = json!(object.preflight.accept);
    decisions.put("preflight.accept", accept, &["/preflight/accept"], "findings to live with");
}

fn addons(cluster: &Cluster, decisions: &mut Decisions) {
    let addons = &cluster.object.addons;
    for (name, toggle, purpose) in [
        ("coredns", addons.coredns, "Services and pods find each other by name"),
        ("kube-proxy", addons.kube_proxy, "Services have addresses"),
        ("metrics-server", addons.metrics_server, "kubectl top and autoscaling work"),
        ("approver", addons.approver, "kubelets get serving certificates, checked against the hosts"),
    ] {
        let reason = if toggle.enabled { purpose } else { "it is switched off" };
        decisions.put(format!("addons.{name}"), toggle.enabled, &[format!("/addons/{name}/enabled")], reason);
    }
}

/// The hosts as arguments of whoever must know them.
fn hosts(cluster: &Cluster, decisions: &mut Decisions) {
    let items = cluster.hosts.iter().map(|placed| Item {
        text: format!("--host={}={}", placed.host.name, placed.address),
        from: vec![of_host(placed, "name"), of_host(placed, "address")],
    });
    decisions.put_items("hosts.arguments", items.collect(), true, &["/hosts"], "the hosts that there are");
}

/// Configuration files: every key that can be set, with its value.
fn files(cluster: &Cluster, decisions: &mut Decisions) {
    let object = &cluster.object;
    let proxy = &object.components.kube_proxy.config;
    for (key, default, reason) in config_keys::KUBE_PROXY {
        let (value, reason) = chosen(proxy.get(key), default, reason);
        let from = format!("/components/kube-proxy/config/{key}");
        decisions.put_quoted(format!("kube-proxy.config.{key}"), value, &from, reason);
    }
    for (key, default, reason) in config_keys::CONTAINERD {
        let (value, reason) = chosen(object.runtime.config.get(key), default, reason);
        decisions.put_quoted(
            format!("containerd.config.{key}"),
            value,
            &format!("/runtime/config/{key}"),
            reason,
        );
    }
    let kubelet = &object.components.kubelet.config;
    let mut drop_in = serde_json::Map::new();
    drop_in.insert("apiVersion".to_owned(), json!("kubelet.config.k8s.io/v1beta1"));
    drop_in.insert("kind".to_owned(), json!("KubeletConfiguration"));
    drop_in.extend(kubelet.clone());
    let reason = match kubelet.is_empty() {
        true => "nothing is given on top of our configuration",
        false => "read by the kubelet after our configuration, so that these keys replace ours",
    };
    decisions.put_quoted("kubelet.config", Value::Object(drop_in), "/components/kubelet/config", reason);
}

fn chosen(given: Option<&Value>, default: &str, reason: &str) -> (Value, String) {
    match given {
        Some(value) => (value.clone(), "the value that was given".to_owned()),
        None => (serde_json::from_str(default).unwrap_or_default(), reason.to_owned()),
    }
}
