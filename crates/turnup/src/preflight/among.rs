//! What is found when hosts are compared with each other.

use std::collections::BTreeMap;

use super::{Checked, Finding, Reached};

/// What must be different on every host.
type Value = for<'a, 'b> fn(&'a Checked<'b>) -> &'a str;

/// The findings about several hosts.
pub fn among(hosts: &[Checked<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let clone = "it is a copy of another machine: ";
    let same: [(&'static str, Value, String); 3] = [
        (
            "duplicate-hostname",
            |host| &host.observed.facts.hostname,
            "give it a name of its own: hostnamectl".to_owned(),
        ),
        (
            "duplicate-machine-id",
            |host| &host.observed.facts.machine_id,
            format!("{clone}rm /etc/machine-id; systemd-machine-id-setup; reboot"),
        ),
        (
            "duplicate-product-uuid",
            |host| &host.observed.facts.product_uuid,
            format!("{clone}give it firmware of its own"),
        ),
    ];
    for (id, value, fix) in same {
        let mut by_value: BTreeMap<&str, Vec<&Checked<'_>>> = BTreeMap::new();
        for host in hosts.iter().filter(|host| !value(host).is_empty()) {
            by_value.entry(value(host)).or_default().push(host);
        }
        for (value, hosts) in by_value.iter().filter(|(_, hosts)| hosts.len() > 1) {
            let names: Vec<&str> = hosts.iter().map(|host| host.name).collect();
            // The first keeps it.
            let what = id.trim_start_matches("duplicate-");
            findings.extend(hosts.iter().skip(1).map(|host| {
                host.finding(id, format!("{} have the same {what} {value}", names.join(" and ")), fix.clone())
            }));
        }
    }
    for host in hosts {
        findings.extend(host.probed.reached.iter().filter_map(|(address, how)| reached(host, address, *how)));
    }
    findings
}

fn reached(host: &Checked<'_>, address: &str, how: Reached) -> Option<Finding> {
    match how {
        Reached::Whole | Reached::Unknown => None,
        Reached::Small => {
            let mtu = host.facts().for_files().mtu;
            let value = format!(
                "packets of {mtu} bytes, the size of its link, do not arrive at {address}; small ones do"
            );
            Some(host.finding("mtu", value, "set the MTU of the link to what the way carries"))
        }
        Reached::No => {
            let value = format!("{address} is not reached from it");
            Some(host.finding(
                "unreachable",
                value,
                "correct the address, the route, or the firewall between them",
            ))
        }
    }
}
