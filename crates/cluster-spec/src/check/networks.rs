//! Networks of pods and Services, and what must lie in them or outside.

use std::net::Ipv4Addr;

use super::{Report, grammar::is_subdomain};
use crate::{
    cidr::{Cidr, NoCidr},
    cluster::Networks,
    finding::{Rule, Source},
    later,
    object::Network,
};

/// Place of the DNS address in the network of the Services, where none is given.
const DNS_PLACE: u32 = 10;
/// Prefix of the part that each node gets.
pub(crate) const NODE_PREFIX: u8 = 24;
/// kube-apiserver takes no larger network of Services.
const LARGEST_SERVICES: u8 = 12;

pub(super) fn check(network: &Network, report: &mut Report) -> Networks {
    let default = Network::default();
    let pods = cidr(&network.pods, &default.pods, "/network/pods", report);
    let services = cidr(&network.services, &default.services, "/network/services", report);
    if pods.prefix() > NODE_PREFIX {
        let reason = format!("no node fits: each gets a /{NODE_PREFIX} of it");
        report.add(Source::Object, "/network/pods", Rule::Meaning, reason, "give a /16");
    }
    if services.prefix() < LARGEST_SERVICES {
        let reason = format!("the API server takes no larger one than a /{LARGEST_SERVICES}");
        let fix = format!("give a /{LARGEST_SERVICES} or a smaller one");
        report.add(Source::Object, "/network/services", Rule::Meaning, reason, fix);
    }
    let tenth = services.nth(DNS_PLACE);
    if tenth.is_none() && network.dns_address.is_none() {
        let reason = format!("it has {} addresses; the one of the DNS is the tenth", services.size());
        let fix = "give a /24, or network.dnsAddress";
        report.add(Source::Object, "/network/services", Rule::Meaning, reason, fix);
    }
    if pods.overlaps(services) {
        let reason = format!("it overlaps the network of the Services, {services}");
        report.add(Source::Object, "/network/pods", Rule::Meaning, reason, "give a network of its own");
    }
    if !is_subdomain(&network.dns_domain, 253) {
        let reason = "this is no domain: lower-case labels with dots between them, none at the end";
        let fix = format!("write \"{}\"", default.dns_domain);
        report.add(Source::Object, "/network/dnsDomain", Rule::Format, reason, fix);
    }
    let given = network.dns_address.as_deref().map(|text| dns_address(text, services, report));
    let dns = given.or(tenth).unwrap_or(Ipv4Addr::UNSPECIFIED);
    Networks { pods, services, dns, first_service: services.nth(1).unwrap_or(Ipv4Addr::UNSPECIFIED) }
}

fn cidr(text: &str, default: &str, pointer: &str, report: &mut Report) -> Cidr {
    let (rule, reason, fix) = match text.parse() {
        Ok(cidr) => return cidr,
        Err(NoCidr::Malformed) if text.contains(',') => (
            Rule::Format,
            "one network belongs here; two, for IPv4 and IPv6, are not supported yet".to_owned(),
            "give an IPv4 network".to_owned(),
        ),
        Err(NoCidr::Malformed) => (
            Rule::Format,
            "this is no network: an address, \"/\" and the bits of the prefix".to_owned(),
            format!("write it like {default}"),
        ),
        Err(NoCidr::Six) => (Rule::Later, later::six().0.to_owned(), later::six().1.to_owned()),
        Err(NoCidr::HostBits(network)) => (
            Rule::Meaning,
            format!("bits after the first {} are set", network.prefix()),
            format!("write \"{network}\""),
        ),
    };
    report.add(Source::Object, pointer, rule, reason, fix);
    match text.parse::<Cidr>() {
        Err(NoCidr::HostBits(network)) => network,
        _ => default.parse().unwrap_or(Cidr::ANY),
    }
}

fn dns_address(text: &str, services: Cidr, report: &mut Report) -> Ipv4Addr {
    const POINTER: &str = "/network/dnsAddress";
    let Ok(address) = text.parse::<Ipv4Addr>() else {
        let fix = services.nth(DNS_PLACE).map_or_else(String::new, |tenth| format!("write \"{tenth}\""));
        report.add(Source::Object, POINTER, Rule::Format, "this is no IPv4 address", fix);
        return Ipv4Addr::UNSPECIFIED;
    };
    let last = services.nth(u32::try_from(services.size() - 1).unwrap_or(u32::MAX));
    let reason = if !services.contains(address) {
        format!("it is outside the network of the Services, {services}")
    } else if Some(address) == services.nth(1) {
        "the Service of the API itself has this address, the first of the network".to_owned()
    } else if Some(address) == services.nth(0) || Some(address) == last {
        "the first and the last address of a network belong to nobody".to_owned()
    } else {
        return address;
    };
    let fix = match services.nth(DNS_PLACE) {
        Some(tenth) => format!("write \"{tenth}\", or remove the key: it is the default"),
        None => format!("give an address of {services}"),
    };
    report.add(Source::Object, POINTER, Rule::Meaning, reason, fix);
    address
}
