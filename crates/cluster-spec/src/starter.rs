//! The object to begin with.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// A host of a new object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarterHost {
    /// Name of the node.
    pub name: String,
    /// Its address.
    pub address: String,
}

/// A new object, of which the first host is the control plane. As JSON, or as YAML with comments on
/// what else can be set; what is wrong with the names is for [`crate::read`] to say.
pub fn starter(schema: Option<&str>, name: &str, hosts: &[StarterHost], as_json: bool) -> String {
    if as_json { json_text(schema, name, hosts) } else { yaml_text(schema, name, hosts) }
}

fn role(index: usize) -> &'static str {
    if index == 0 { "control-plane" } else { "node" }
}

fn json_text(schema: Option<&str>, name: &str, hosts: &[StarterHost]) -> String {
    let hosts: Vec<Value> = hosts
        .iter()
        .enumerate()
        .map(|(index, host)| json!({"name": host.name, "address": host.address, "roles": [role(index)]}))
        .collect();
    let mut object = Map::new();
    object.extend(schema.map(|schema| ("$schema".to_owned(), json!(schema))));
    object.extend([("name".to_owned(), json!(name)), ("hosts".to_owned(), json!(hosts))]);
    format!("{:#}\n", Value::Object(object))
}

fn yaml_text(schema: Option<&str>, name: &str, hosts: &[StarterHost]) -> String {
    let mut text = String::new();
    if let Some(schema) = schema {
        let _ = writeln!(text, "$schema: {}", json!(schema));
    }
    let _ = writeln!(text, "name: {}\nhosts:", json!(name));
    for (index, host) in hosts.iter().enumerate() {
        let (name, address) = (json!(host.name), json!(host.address));
        let _ = writeln!(text, "- name: {name}\n  address: {address}\n  roles: [{}]", role(index));
    }
    text.push_str(
        "  # ssh: {user: root, port: 22}   # of any host; a user other than root needs sudo\n\
         # Everything else has a default. See them with: trellis cluster show FILE --resolved\n\
         # kubernetes: {version: \"1.37\"}\n\
         # network: {pods: 10.244.0.0/16, services: 10.96.0.0/12}\n\
         # api: {endpoint: \"api.example.com:6443\"}\n",
    );
    text
}
