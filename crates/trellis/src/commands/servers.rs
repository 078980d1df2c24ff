//! `trellis servers`.

use std::{collections::BTreeMap, time::Duration};

use http::{Method, StatusCode};
use serde_json::Value;

use super::{StopSignals, print};
use crate::{
    args::{PrintAs, ServersArgs},
    door::Door,
    exit::{Code, Outcome, Problem},
    output::{self, Columns, age},
};

/// The door's report on all servers.
const REPORT: &str = "/healthz/servers";
/// How often it is asked for while watching.
const POLL: Duration = Duration::from_secs(1);

/// Lists the servers.
pub(super) async fn run(args: ServersArgs) -> Outcome {
    let door = Door::find(&args.door).await?;
    let servers = report(&door).await?;
    print(&render(&servers, args.output, true))?;
    if !args.watch {
        return Ok(());
    }
    let mut signals = StopSignals::listen();
    let mut known = by_name(&servers);
    loop {
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = signals.next() => return Ok(()),
        }
        let now = by_name(&report(&door).await?);
        let changed: Vec<Value> = changes(&known, &now);
        if !changed.is_empty() {
            print(&render(&changed, args.output, false))?;
        }
        known = now;
    }
}

async fn report(door: &Door) -> Outcome<Vec<Value>> {
    let answer = door.send(Method::GET, REPORT, None, None).await?;
    match (answer.code, answer.body["servers"].as_array()) {
        (StatusCode::OK, Some(servers)) => Ok(servers.clone()),
        (StatusCode::OK | StatusCode::NOT_FOUND, _) => Err(Problem::new(
            Code::NotFound,
            format!("{} is no Trellis door: it has no report on servers", door.url()),
        )
        .next("point --kubeconfig at the door")),
        _ => Err(door.refused(&answer)),
    }
}

fn by_name(servers: &[Value]) -> BTreeMap<String, Value> {
    servers.iter().map(|server| (text(server, "name"), server.clone())).collect()
}

/// What is new, different or gone; times alone are no difference.
fn changes(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> Vec<Value> {
    let changed = now.iter().filter(|(name, server)| before.get(*name).map(lasting) != Some(lasting(server)));
    let gone = before.iter().filter(|(name, _)| !now.contains_key(*name)).map(|(_, server)| {
        let mut server = server.clone();
        server["gone"] = true.into();
        server
    });
    changed.map(|(_, server)| server.clone()).chain(gone).collect()
}

/// A server without what changes with every probe.
fn lasting(server: &Value) -> Value {
    let mut server = server.clone();
    if let Some(fields) = server.as_object_mut() {
        fields.remove("lastDiscovery");
    }
    for endpoint in server["endpoints"].as_array_mut().into_iter().flatten() {
        if let Some(fields) = endpoint.as_object_mut() {
            fields.remove("lastProbe");
        }
    }
    server
}

fn render(servers: &[Value], how: Option<PrintAs>, with_head: bool) -> String {
    match how {
        Some(PrintAs::Json) => output::json(&serde_json::json!({ "servers": servers })),
        Some(PrintAs::Yaml) => output::yaml(&serde_json::json!({ "servers": servers })),
        Some(PrintAs::Wide) => table(servers, true).render(with_head),
        None => table(servers, false).render(with_head),
    }
}

fn table(servers: &[Value], wide: bool) -> Columns {
    let narrow = ["NAME", "SOURCE", "AVAILABLE", "SEEN", "GROUPS"];
    let mut table = match wide {
        false => Columns::new(narrow),
        true => Columns::new(narrow.into_iter().chain(["ENDPOINTS", "MESSAGE"])),
    };
    for server in servers {
        let mut cells = vec![
            text(server, "name"),
            text(server, "source"),
            available(server),
            seen(server),
            groups(server),
        ];
        if wide {
            cells.extend([endpoints(server), message(server)]);
        }
        table.row(cells);
    }
    table
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn conditions(server: &Value) -> impl Iterator<Item = &Value> {
    server["conditions"].as_array().into_iter().flatten()
}

/// The conditions that tell of trouble: not available, or anything else that is true.
fn troubles(server: &Value) -> impl Iterator<Item = &Value> {
    conditions(server).filter(|condition| match condition["type"].as_str() {
        Some("Available") => condition["status"] != "True",
        _ => condition["status"] == "True",
    })
}

/// As the column of `kubectl get apiservices`: `True`, or the status with its reason.
fn available(server: &Value) -> String {
    if server["gone"] == true {
        return "Gone".to_owned();
    }
    match conditions(server).find(|condition| condition["type"] == "Available") {
        Some(condition) if condition["status"] == "True" => match troubles(server).next() {
            Some(trouble) => format!("True ({})", text(trouble, "type")),
            None => "True".to_owned(),
        },
        Some(condition) => format!("{} ({})", text(condition, "status"), text(condition, "reason")),
        None => "Unknown".to_owned(),
    }
}

fn seen(server: &Value) -> String {
    server["lastDiscovery"].as_str().map_or_else(|| "never".to_owned(), age::since)
}

/// Groups without their versions; more than a few are counted.
fn groups(server: &Value) -> String {
    const SHOWN: usize = 3;
    let mut groups: Vec<&str> = Vec::new();
    for version in server["groupVersions"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let group = version.rsplit_once('/').map_or("(core)", |(group, _)| group);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    match groups.len() {
        0 => "<none>".to_owned(),
        count if count > SHOWN => format!("{},+{}", groups[..SHOWN].join(","), count - SHOWN),
        _ => groups.join(","),
    }
}

fn endpoints(server: &Value) -> String {
    let shown = |endpoint: &Value| match endpoint["ready"] == true {
        true => text(endpoint, "address"),
        false => format!("{} ({})", text(endpoint, "address"), text(&endpoint["failure"], "reason")),
    };
    let all: Vec<String> = server["endpoints"].as_array().into_iter().flatten().map(shown).collect();
    if all.is_empty() { "<none>".to_owned() } else { all.join(",") }
}

fn message(server: &Value) -> String {
    let messages: Vec<String> = troubles(server).map(|condition| text(condition, "message")).collect();
    messages.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn servers() -> Vec<Value> {
        let good =
            json!({"type": "Available", "status": "True", "reason": "Passed", "message": "all is well"});
        let bad = json!({"type": "Available", "status": "False", "reason": "ConnectionRefused", "message": "nothing listens"});
        let conflict =
            json!({"type": "Conflict", "status": "True", "reason": "GroupTaken", "message": "a.b is taken"});
        vec![
            json!({"name": "one", "source": "APIServer", "conditions": [good, conflict],
                "groupVersions": ["a.b/v1", "a.b/v2", "c/v1", "d/v1", "e/v1"], "endpoints": [{"address": "h:1", "ready": true}]}),
            json!({"name": "two", "source": "File", "conditions": [bad], "groupVersions": [],
                "endpoints": [{"address": "h:2", "ready": false, "failure": {"reason": "ConnectionRefused"}}]}),
        ]
    }

    #[test]
    fn the_wide_table_says_what_is_wrong() {
        expect_test::expect![[r#"
            NAME   SOURCE      AVAILABLE                   SEEN    GROUPS       ENDPOINTS                 MESSAGE
            one    APIServer   True (Conflict)             never   a.b,c,d,+1   h:1                       a.b is taken
            two    File        False (ConnectionRefused)   never   <none>       h:2 (ConnectionRefused)   nothing listens
        "#]]
        .assert_eq(&render(&servers(), Some(PrintAs::Wide), true));
    }

    #[test]
    fn a_watch_tells_of_changes_alone() {
        let before = by_name(&servers());
        let mut now = before.clone();
        if let Some(server) = now.get_mut("one") {
            server["lastDiscovery"] = json!("2026-01-01T00:00:00Z");
        }
        assert!(changes(&before, &now).is_empty(), "a probe is no change");
        now.remove("two");
        let gone = changes(&before, &now);
        assert_eq!((gone.len(), available(&gone[0])), (1, "Gone".to_owned()));
    }
}
