//! An object and its decisions as text for people.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    resolve::{Content, Decision, Decisions, HostFacts, Resolved},
};

impl Cluster {
    /// The object with its hosts and every default, as it could have been written.
    pub fn complete(&self) -> Value {
        let mut object = self.object.clone();
        object.hosts = Some(self.hosts.iter().map(|placed| placed.host.clone()).collect());
        json!(object)
    }
}

impl Resolved {
    /// Every decision with its reason: YAML, one line each. What depends on a host is shown for `facts`.
    pub fn to_text(&self, facts: &HostFacts) -> String {
        let mut text = String::new();
        section(&mut text, &self.decisions);
        for host in &self.hosts {
            let _ = writeln!(text, "\n# {}", host.name);
            section(&mut text, &host.with(facts));
        }
        text
    }

    /// The same as JSON.
    pub fn to_json(&self, facts: &HostFacts) -> Value {
        let hosts: Vec<Value> = self.hosts.iter().map(|host| json!(host.with(facts))).collect();
        json!({ "decisions": self.decisions, "hosts": hosts })
    }
}

fn section(text: &mut String, decisions: &Decisions) {
    for (name, decision) in decisions.iter() {
        let _ = writeln!(text, "{name}: {}  # {}", value(decision), because(decision));
    }
}

fn value(decision: &Decision) -> String {
    match &decision.content {
        Content::Value(value) => value.to_string(),
        Content::Items(items) => json!(items.iter().map(|item| &item.text).collect::<Vec<_>>()).to_string(),
    }
}

/// The reason, and the fields behind it when they are few.
fn because(decision: &Decision) -> String {
    match decision.from.as_slice() {
        [] => decision.reason.clone(),
        fields if fields.len() <= 3 => format!("{} ({})", decision.reason, fields.join(", ")),
        [first, rest @ ..] => format!("{} ({first} and {} more)", decision.reason, rest.len()),
    }
}
