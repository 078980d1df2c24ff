//! Proxy, sources, add-ons, certificates, preflight.

use super::{Report, grammar::is_host_port};
use crate::{
    finding::{Rule, Source},
    object::{Object, Plugin, Proxy, Sources},
};

pub(super) fn check(object: &Object, report: &mut Report) {
    proxy(&object.proxy, report);
    sources(&object.sources, report);
    addons(object, report);
    let (authority, certificate) = (object.pki.authority_days, object.pki.certificate_days);
    if certificate >= authority {
        let reason =
            format!("a certificate cannot outlive its authority, which is valid for {authority} days");
        add("/pki/certificateDays", Rule::Meaning, reason, "give fewer days than pki.authorityDays", report);
    }
    let accept = &object.preflight.accept;
    if accept.iter().enumerate().any(|(index, id)| accept[..index].contains(id)) {
        add("/preflight/accept", Rule::Meaning, "an id stands here twice", "keep each once", report);
    }
}

fn add(pointer: &str, rule: Rule, reason: impl Into<String>, fix: impl Into<String>, report: &mut Report) {
    report.add(Source::Object, pointer, rule, reason, fix);
}

fn proxy(proxy: &Proxy, report: &mut Report) {
    let both = [("/proxy/http", &proxy.http), ("/proxy/https", &proxy.https)];
    for (pointer, url) in both.into_iter().filter_map(|(pointer, url)| Some((pointer, url.as_ref()?))) {
        url_of_server(url, pointer, false, report);
    }
    let no_proxy = "/proxy/noProxy";
    for (index, entry) in proxy.no_proxy.iter().enumerate() {
        let pointer = format!("{no_proxy}/{index}");
        let inner = |c: char| c.is_ascii_alphanumeric() || "-.:/*_".contains(c);
        if entry.is_empty() || !entry.chars().all(inner) {
            let reason = "an entry is one host, domain or network";
            add(&pointer, Rule::Format, reason, "give each an entry of its own", report);
        }
    }
    if !proxy.no_proxy.is_empty() && proxy.http.is_none() && proxy.https.is_none() {
        let reason = "there is no proxy that this could be an exception from";
        add(no_proxy, Rule::Meaning, reason, "give proxy.http or proxy.https, or remove it", report);
    }
}

/// A URL of http or https: no user in it, and only with a path where one may be.
fn url_of_server(url: &str, pointer: &str, path: bool, report: &mut Report) {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else {
        let fix = if is_host_port(url) {
            format!("write \"http://{url}\"")
        } else {
            "write it like http://10.0.0.1:3128".to_owned()
        };
        add(pointer, Rule::Format, "this is no URL of http or https", fix, report);
        return;
    };
    if rest.contains('@') {
        let reason =
            "user and password do not belong into this file: it is no secret, and shown to everybody";
        add(pointer, Rule::Format, reason, "let it through without a password, by address", report);
        return;
    }
    let (host, below) = rest.split_once('/').unwrap_or((rest, ""));
    let good_path = below.is_empty() || path && !below.contains(char::is_whitespace);
    if !is_host_port(host) || !good_path {
        let reason = if path {
            "this is not written as scheme://host[:port][/path]"
        } else {
            "this is not written as scheme://host[:port]"
        };
        add(pointer, Rule::Format, reason, "correct host and port", report);
    }
}

fn sources(sources: &Sources, report: &mut Report) {
    if sources.bundle.as_deref() == Some("") {
        let fix = "name the folder or file, or remove the key";
        add("/sources/bundle", Rule::Format, "no bundle is named", fix, report);
    }
    let Some(mirror) = &sources.mirror else { return };
    url_of_server(&mirror.binaries, "/sources/mirror/binaries", true, report);
    if !is_registry(&mirror.images) {
        let bare =
            mirror.images.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
        let fix = match is_registry(bare) {
            true => format!("write \"{bare}\""),
            false => "write it like registry.example.com:5000/mirror".to_owned(),
        };
        let reason = "this is no registry: host[:port][/path], without scheme";
        add("/sources/mirror/images", Rule::Format, reason, fix, report);
    }
}

fn is_registry(text: &str) -> bool {
    let mut parts = text.split('/');
    let part = |part: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
        part.bytes().all(inner)
            && part.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    parts.next().is_some_and(is_host_port) && parts.all(part)
}

fn addons(object: &Object, report: &mut Report) {
    let addons = &object.addons;
    if addons.metrics_server.enabled && !addons.approver.enabled {
        let reason = "metrics-server checks the serving certificates of kubelets, which nobody approves then";
        let fix = "leave the approver on, or switch metrics-server off too";
        add("/addons/approver/enabled", Rule::Meaning, reason, fix, report);
    }
    if !addons.kube_proxy.enabled && object.network.plugin == Plugin::Flannel {
        let reason = "flannel connects pods alone; without kube-proxy no Service has an address";
        let fix = "leave kube-proxy on, or take network.plugin none and a plugin that replaces it";
        add("/addons/kube-proxy/enabled", Rule::Meaning, reason, fix, report);
    }
}
