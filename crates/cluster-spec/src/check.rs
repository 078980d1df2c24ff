//! The rules. All of them are asked, so that all mistakes are said at once.
//!
//! A value that is wrong is named once, and its default goes on, so that the rest is still judged.

mod api;
mod components;
mod grammar;
mod hosts;
mod networks;
mod report;
mod settings;

use serde_json::Value;

use crate::{
    cluster::Cluster,
    document::Document,
    finding::{Finding, Rule, Source},
    object::{Host, Inventory, Object},
    schema::{inventory_schema, object_schema},
    shape,
    versions::{NEWEST, NoVersion, RELEASES, Version},
};

pub(crate) use api::API_PORT;
use report::Report;

/// Reads a cluster object, and the inventory when there is one beside it.
///
/// # Errors
/// All mistakes, in the order of the files: both texts are read to the end whatever is wrong in them.
pub fn read(object: &str, inventory: Option<&str>) -> Result<Cluster, Vec<Finding>> {
    let mut report = Report::default();
    let (object, given_hosts) = read_object(object, &mut report);
    let inventory = inventory.map(|text| read_inventory(text, &mut report));
    let cluster = check(object, given_hosts, inventory, &mut report);
    report.finish().map(|()| cluster)
}

/// Gives the object, and whether it has the key `hosts`, be it right or wrong.
fn read_object(text: &str, report: &mut Report) -> (Object, bool) {
    let value = shaped(text, Source::Object, object_schema(), report);
    let given_hosts = report.has(Source::Object, "/hosts");
    (serde_json::from_value(value).unwrap_or_default(), given_hosts)
}

fn read_inventory(text: &str, report: &mut Report) -> Inventory {
    let value = shaped(text, Source::Inventory, inventory_schema(), report);
    serde_json::from_value(value).unwrap_or_default()
}

/// What the text says, as far as it has the shape of the schema.
fn shaped(text: &str, source: Source, schema: &Value, report: &mut Report) -> Value {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(problem) => {
            report.unreadable(source, problem);
            return Value::Object(serde_json::Map::new());
        }
    };
    let (kept, misshapen) = shape::check(schema, &document.value);
    report.document(source, document);
    misshapen.into_iter().for_each(|problem| report.misshapen(source, problem));
    kept
}

fn check(object: Object, given_hosts: bool, inventory: Option<Inventory>, report: &mut Report) -> Cluster {
    let (source, hosts) = hosts_of(&object, given_hosts, inventory, report);
    grammar::name(&object.name, report);
    let version = version(&object.kubernetes.version, report);
    let networks = networks::check(&object.network, report);
    let hosts = hosts::check(hosts, source, &networks, report);
    let endpoint = api::check(&object.api, &hosts, report);
    components::check(&object, version, report);
    settings::check(&object, report);
    Cluster { object, hosts, source, version, networks, endpoint }
}

/// The hosts from wherever they are given.
fn hosts_of(
    object: &Object,
    given_hosts: bool,
    inventory: Option<Inventory>,
    report: &mut Report,
) -> (Source, Vec<Host>) {
    let inline = object.hosts.clone().unwrap_or_default();
    match inventory {
        None if !given_hosts => {
            let reason = "there are no hosts, neither here nor in an inventory.json beside this file";
            report.add(Source::Object, "/hosts", Rule::Meaning, reason, "list the hosts, one at least");
            (Source::Object, inline)
        }
        None => (Source::Object, inline),
        Some(inventory) => {
            if given_hosts {
                let reason = "hosts are given here and in the inventory.json beside this file";
                report.add(Source::Object, "/hosts", Rule::Meaning, reason, "keep one of the two");
            }
            (Source::Inventory, inventory.hosts)
        }
    }
}

fn version(text: &str, report: &mut Report) -> Version {
    let problem = match text.parse() {
        Ok(version) => return version,
        Err(problem) => problem,
    };
    let (rule, reason) = match problem {
        NoVersion::Malformed => (Rule::Format, "this is not written like a version of Kubernetes"),
        NoVersion::TooOld => (Rule::Format, "this version is too old"),
        NoVersion::TooNew => (Rule::Format, "this version is not known yet"),
    };
    let bare = text.trim_start_matches(['v', 'V']);
    let fix = match bare.parse::<Version>() {
        Ok(_) => format!("write \"{bare}\""),
        Err(_) => {
            let supported = RELEASES.iter().map(|release| format!("1.{}", release.minor));
            format!("write one of: {}", supported.collect::<Vec<_>>().join(", "))
        }
    };
    report.add(Source::Object, "/kubernetes/version", rule, reason, fix);
    NEWEST
}
