//! How clients reach the API.

use std::net::Ipv4Addr;

use super::{
    Report,
    grammar::{is_host, is_host_port},
};
use crate::{
    cluster::{Endpoint, PlacedHost},
    finding::{Rule, Source},
    object::Api,
};

/// Port of the API server, where none is given.
pub(crate) const API_PORT: u16 = 6443;

/// Ports that other components of a control plane listen on.
const TAKEN: [(u16, &str); 8] = [
    (22, "sshd"),
    (2379, "etcd"),
    (2380, "etcd"),
    (2381, "etcd"),
    (10248, "the kubelet"),
    (10250, "the kubelet"),
    (10257, "kube-controller-manager"),
    (10259, "kube-scheduler"),
];

pub(super) fn check(api: &Api, hosts: &[PlacedHost], report: &mut Report) -> Endpoint {
    extra_names(&api.extra_names, report);
    let control_plane = hosts.iter().find(|placed| placed.control_plane);
    let own = control_plane.map_or(Ipv4Addr::UNSPECIFIED, |placed| placed.address);
    let default = Endpoint { host: own.to_string(), port: API_PORT };
    let Some(text) = &api.endpoint else { return default };
    let Some(endpoint) = parse(text, report) else { return default };
    reaches_api(&endpoint, hosts, report);
    let here = control_plane.is_some_and(|placed| endpoint.is_at(placed));
    if here && let Some((port, owner)) = TAKEN.iter().find(|(port, _)| *port == endpoint.port) {
        let reason = format!("{owner} listens on port {port} of the control-plane host");
        add("/api/endpoint".to_owned(), Rule::Meaning, reason, "leave the port out: it is 6443", report);
    }
    endpoint
}

fn add(pointer: String, rule: Rule, reason: impl Into<String>, fix: impl Into<String>, report: &mut Report) {
    report.add(Source::Object, pointer, rule, reason, fix);
}

fn parse(text: &str, report: &mut Report) -> Option<Endpoint> {
    if is_host_port(text) {
        let (host, port) = text.split_once(':').unwrap_or((text, ""));
        return Some(Endpoint { host: host.to_lowercase(), port: port.parse().unwrap_or(API_PORT) });
    }
    let bare = text.trim_start_matches("https://").trim_end_matches('/');
    let fix = match is_host_port(bare) {
        true => format!("write \"{bare}\""),
        false => "write it like api.example.com:6443".to_owned(),
    };
    add("/api/endpoint".to_owned(), Rule::Format, "this is not written as host[:port]", fix, report);
    None
}

/// An endpoint that is an address must lead to the control plane, as far as can be told from here.
fn reaches_api(endpoint: &Endpoint, hosts: &[PlacedHost], report: &mut Report) {
    let at = hosts.iter().find(|placed| endpoint.is_at(placed));
    let reason = match at {
        Some(placed) if placed.control_plane => return,
        Some(placed) => format!("this is the host {}, which is no control plane", placed.host.name),
        None if endpoint
            .host
            .parse()
            .is_ok_and(|address: Ipv4Addr| address.is_loopback() || address.is_unspecified()) =>
        {
            "the other hosts cannot reach this address".to_owned()
        }
        None => return,
    };
    let fix = "remove the key, or name what forwards to the control-plane host";
    add("/api/endpoint".to_owned(), Rule::Meaning, reason, fix, report);
}

fn extra_names(names: &[String], report: &mut Report) {
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/api/extraNames/{index}");
        if !is_host(name.strip_prefix("*.").unwrap_or(name)) {
            let reason = "this is neither a DNS name nor an IPv4 address";
            add(
                pointer,
                Rule::Format,
                reason,
                "write it like api.example.com, without scheme and port",
                report,
            );
        } else if names[..index].contains(name) {
            add(pointer, Rule::Meaning, "this name stands here already", "keep one of the two", report);
        }
    }
}
