//! Hosts: names, addresses, roles, and how they are reached.

use std::{collections::BTreeMap, net::Ipv4Addr};

use super::{
    Report,
    grammar::{is_host_port, is_key, is_subdomain, is_user, is_value, name_fix},
    networks::NODE_PREFIX,
};
use crate::{
    cluster::{Networks, PlacedHost},
    document::escape,
    finding::{Rule, Source},
    object::{Host, Role, Taint},
};

pub(super) fn check(
    hosts: Vec<Host>,
    source: Source,
    networks: &Networks,
    report: &mut Report,
) -> Vec<PlacedHost> {
    let mut checker = Checker { source, networks, report };
    let roles_given = hosts.iter().any(|host| !host.roles.is_empty());
    let placed: Vec<PlacedHost> =
        hosts.into_iter().enumerate().map(|(index, host)| checker.host(index, host, roles_given)).collect();
    checker.duplicates(&placed);
    checker.control_plane(&placed, roles_given);
    checker.room(placed.len());
    placed
}

struct Checker<'a> {
    source: Source,
    networks: &'a Networks,
    report: &'a mut Report,
}

impl Checker<'_> {
    fn add(&mut self, pointer: String, rule: Rule, reason: impl Into<String>, fix: impl Into<String>) {
        self.report.add(self.source, pointer, rule, reason, fix);
    }

    fn host(&mut self, index: usize, host: Host, roles_given: bool) -> PlacedHost {
        let at = format!("/hosts/{index}");
        if !is_subdomain(&host.name, 63) {
            let reason = "a node's name has lower-case letters, digits, \"-\" and \".\", 63 at most";
            self.add(format!("{at}/name"), Rule::Format, reason, name_fix(&host.name, true));
        }
        let address = self.address(&host.address, &at);
        self.ssh(&host, &at);
        self.roles(&host, &at);
        for (key, value) in &host.labels {
            self.label(key, value, &format!("{at}/labels/{}", escape(key)));
        }
        self.taints(&host.taints, &at);
        let control_plane = if roles_given { host.roles.contains(&Role::ControlPlane) } else { index == 0 };
        let takes_pods = !control_plane || host.roles.contains(&Role::Node);
        PlacedHost { index, address, control_plane, takes_pods, roles_given, host }
    }

    fn address(&mut self, text: &str, at: &str) -> Ipv4Addr {
        let pointer = format!("{at}/address");
        let Ok(address) = text.parse::<Ipv4Addr>() else {
            if text.contains(':') {
                self.add(pointer, Rule::Later, crate::later::six().0, "give its IPv4 address");
            } else {
                let reason = "this is no IPv4 address; it becomes the node's own, so a name is not enough";
                self.add(pointer, Rule::Format, reason, "give the address at which the other hosts reach it");
            }
            return Ipv4Addr::UNSPECIFIED;
        };
        let reason = if address.is_loopback() {
            "a loopback address reaches nobody else".to_owned()
        } else if address.is_unspecified() || address.is_multicast() || address.is_broadcast() {
            "this address belongs to no single host".to_owned()
        } else if address.is_link_local() {
            "a link-local address changes, and reaches only one link".to_owned()
        } else if self.networks.pods.contains(address) {
            format!("it lies in the network of the pods, {}", self.networks.pods)
        } else if self.networks.services.contains(address) {
            format!("it lies in the network of the Services, {}", self.networks.services)
        } else {
            return address;
        };
        let fix = "give the address at which the other hosts reach it, or change the network";
        self.add(pointer, Rule::Meaning, reason, fix);
        address
    }

    fn ssh(&mut self, host: &Host, at: &str) {
        if !is_user(&host.ssh.user) {
            let reason = "this is no name of a user";
            self.add(format!("{at}/ssh/user"), Rule::Format, reason, "write \"root\", or a user with sudo");
        }
        if host.ssh.key.as_deref() == Some("") {
            let fix = "name the file, or remove the key: ssh then looks where it always does";
            self.add(format!("{at}/ssh/key"), Rule::Format, "no file is named", fix);
        }
        if let Some(bastion) = &host.ssh.bastion {
            let (user, rest) =
                bastion.split_once('@').map_or((None, bastion.as_str()), |(u, r)| (Some(u), r));
            if !user.is_none_or(is_user) || !is_host_port(rest) {
                let reason = "this is not written as [user@]host[:port]";
                self.add(
                    format!("{at}/ssh/bastion"),
                    Rule::Format,
                    reason,
                    "write it like admin@10.0.0.1:22",
                );
            }
        }
    }

    fn roles(&mut self, host: &Host, at: &str) {
        let twice = |role| host.roles.iter().filter(|other| **other == role).count() > 1;
        if twice(Role::ControlPlane) || twice(Role::Node) {
            self.add(format!("{at}/roles"), Rule::Meaning, "a role stands here twice", "keep each once");
        }
    }

    fn label(&mut self, key: &str, value: &str, pointer: &str) {
        if !is_key(key) {
            let reason = "this is no key of a label: [prefix/]name, the name 63 characters at most";
            self.add(pointer.to_owned(), Rule::Meaning, reason, "write it like example.com/rack");
        } else if let Some(prefix) = key.split_once('/').map(|(prefix, _)| prefix)
            && is_reserved(prefix, key)
        {
            let reason = "a node may not give itself this label";
            let fix = "use a prefix of your own; the role of a control plane is labelled without it";
            self.add(pointer.to_owned(), Rule::Meaning, reason, fix);
        }
        if !is_value(value) {
            let reason = "this is no value of a label: letters, digits, \"-\", \"_\" and \".\", 63 at most";
            self.add(pointer.to_owned(), Rule::Meaning, reason, "shorten it, or use an annotation later");
        }
    }

    fn taints(&mut self, taints: &[Taint], at: &str) {
        for (index, taint) in taints.iter().enumerate() {
            let pointer = format!("{at}/taints/{index}");
            if !is_key(&taint.key) {
                let reason = "this is no key of a taint: [prefix/]name, the name 63 characters at most";
                self.add(format!("{pointer}/key"), Rule::Format, reason, "write it like example.com/gpu");
            }
            if !is_value(&taint.value) {
                let reason =
                    "this is no value of a taint: letters, digits, \"-\", \"_\" and \".\", 63 at most";
                self.add(format!("{pointer}/value"), Rule::Format, reason, "shorten it");
            }
            let same = |other: &&Taint| other.key == taint.key && other.effect == taint.effect;
            if !taint.key.is_empty() && taints[..index].iter().any(|other| same(&other)) {
                let reason = "a taint with this key and effect stands here already";
                self.add(pointer, Rule::Meaning, reason, "keep one of the two");
            }
        }
    }

    fn duplicates(&mut self, hosts: &[PlacedHost]) {
        let mut names = BTreeMap::new();
        let mut addresses = BTreeMap::new();
        for placed in hosts {
            let at = format!("/hosts/{}", placed.index);
            if let Some(first) = names.insert(placed.host.name.as_str(), placed.index) {
                let reason = format!("the host /hosts/{first} has this name already");
                self.add(format!("{at}/name"), Rule::Meaning, reason, "give each host a name of its own");
            }
            if let Some(first) = addresses.insert(placed.address, placed.index) {
                let reason = format!("the host /hosts/{first} has this address already");
                self.add(format!("{at}/address"), Rule::Meaning, reason, "give each host its own address");
            }
        }
    }

    /// etcd runs on the control-plane hosts, so their number is that of its members.
    fn control_plane(&mut self, hosts: &[PlacedHost], roles_given: bool) {
        if hosts.is_empty() || self.report.is_wrong(self.source, "/hosts") {
            return;
        }
        let members: Vec<usize> =
            hosts.iter().filter(|placed| placed.control_plane).map(|placed| placed.index).collect();
        let wrong_roles = (0..hosts.len())
            .any(|index| self.report.is_wrong_within(self.source, &format!("/hosts/{index}/roles")));
        match members.as_slice() {
            [] if roles_given && !wrong_roles => {
                let fix = "give one host the role \"control-plane\"";
                self.add("/hosts".to_owned(), Rule::Meaning, "no host is the control plane", fix);
            }
            [_, second, ..] => {
                let count = members.len();
                let (rule, reason) = if count.is_multiple_of(2) {
                    let tolerated = (count - 1) / 2;
                    (
                        Rule::Meaning,
                        format!(
                            "{count} control-plane hosts make an even etcd, which survives the loss of {tolerated}, as one less \
                         does; and several are not supported yet"
                        ),
                    )
                } else {
                    (Rule::Later, format!("{count} control-plane hosts are not supported yet"))
                };
                let fix = "keep the role \"control-plane\" on one host";
                self.add(format!("/hosts/{second}/roles"), rule, reason, fix);
            }
            _ => {}
        }
    }

    fn room(&mut self, hosts: usize) {
        let bits = NODE_PREFIX.saturating_sub(self.networks.pods.prefix());
        let room = 1_usize << bits;
        if self.networks.pods.prefix() <= NODE_PREFIX && hosts > room {
            let reason = format!("{hosts} hosts need a /{NODE_PREFIX} each; there is room for {room}");
            let pointer = "/network/pods";
            self.report.add(
                Source::Object,
                pointer,
                Rule::Meaning,
                reason,
                "give a larger network, as a /16",
            );
        }
    }
}

/// Labels that the API server does not let a node set on itself.
fn is_reserved(prefix: &str, key: &str) -> bool {
    const ALLOWED: [&str; 8] = [
        "kubernetes.io/hostname",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "node.kubernetes.io/windows-build",
    ];
    let below = |domain: &str| prefix == domain || prefix.ends_with(&format!(".{domain}"));
    (below("kubernetes.io") || below("k8s.io"))
        && !below("kubelet.kubernetes.io")
        && !below("node.kubernetes.io")
        && !ALLOWED.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_labels() {
        for (key, reserved) in [
            ("node-role.kubernetes.io/worker", true),
            ("kubernetes.io/zone", true),
            ("topology.kubernetes.io/zone", false),
            ("node.kubernetes.io/rack", false),
            ("example.com/rack", false),
            ("notkubernetes.io/rack", false),
        ] {
            let prefix = key.split('/').next().expect("a prefix");
            assert_eq!(is_reserved(prefix, key), reserved, "{key}");
        }
    }
}
