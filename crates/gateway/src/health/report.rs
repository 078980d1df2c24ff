//! How every backend is: JSON for programs, a page for people.

use std::fmt::Write as _;

use catalog::{HealthReport, ServerHealth};
use kube_wire::accept::{self, Offer};
use serde::Serialize;

/// The forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Html,
}

/// The form that the client prefers; JSON when it does not say.
pub(crate) fn form(accept: &str) -> Form {
    match accept::parse(accept).choose(&[Offer::plain(accept::JSON), Offer::plain("text/html")]) {
        Some(1) => Form::Html,
        _ => Form::Json,
    }
}

#[derive(Serialize)]
struct Report<'a> {
    servers: Vec<Server<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server<'a> {
    name: &'a str,
    source: &'a str,
    available: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_discovery: Option<String>,
    group_versions: &'a [String],
    conditions: Vec<Condition<'a>>,
    endpoints: Vec<Endpoint<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Condition<'a> {
    r#type: &'a str,
    status: &'static str,
    reason: &'a str,
    message: &'a str,
    last_transition_time: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint<'a> {
    address: &'a str,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_probe: Option<String>,
}

#[derive(Serialize)]
struct Failure<'a> {
    reason: &'static str,
    detail: &'a str,
    advice: &'static str,
}

/// The report as JSON, indented: people read it as well.
pub(crate) fn json(report: &HealthReport) -> Vec<u8> {
    let servers = report.servers.iter().map(|health| server(health)).collect();
    let mut json = serde_json::to_vec_pretty(&Report { servers }).unwrap_or_default();
    json.push(b'\n');
    json
}

fn server(server: &ServerHealth) -> Server<'_> {
    Server {
        name: server.name.as_str(),
        source: server.source,
        available: available(server),
        last_discovery: server.last_discovery.text(),
        group_versions: &server.group_versions,
        conditions: server
            .conditions
            .iter()
            .map(|condition| Condition {
                r#type: condition.kind,
                status: word(condition.status),
                reason: &condition.reason,
                message: &condition.message,
                last_transition_time: &condition.last_transition,
            })
            .collect(),
        endpoints: server
            .endpoints
            .iter()
            .map(|endpoint| Endpoint {
                address: &endpoint.address,
                ready: endpoint.failure.is_none(),
                failure: endpoint.failure.as_ref().map(|failure| Failure {
                    reason: failure.cause.reason(),
                    detail: &failure.detail,
                    advice: failure.cause.advice(),
                }),
                last_probe: endpoint.last_probe.text(),
            })
            .collect(),
    }
}

fn available(server: &ServerHealth) -> Option<bool> {
    server.conditions.iter().find(|condition| condition.kind == "Available")?.status
}

fn word(status: Option<bool>) -> &'static str {
    match status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    }
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Servers</title>\n<style>\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;\
border-bottom:1px solid #ddd}.up{color:#186a2c}.down{color:#a40e26;font-weight:600}.unknown{color:#7a5b00}\
small{color:#666;display:block}</style></head><body>\n<h1>Servers</h1>\n";

/// The report as a page. Everything in it is escaped: messages quote what servers answered.
pub(crate) fn html(report: &HealthReport) -> String {
    let down = report.servers.iter().filter(|server| available(server) != Some(true)).count();
    let mut page = String::from(HEAD);
    let _ = write!(page, "<p>{} servers, {down} of them not available.</p>\n<table>\n", report.servers.len());
    page.push_str(
        "<tr><th>Name</th><th>Available</th><th>Conditions</th><th>Endpoints</th><th>Serves</th></tr>\n",
    );
    for server in &report.servers {
        row(&mut page, server);
    }
    page.push_str("</table>\n</body></html>\n");
    page
}

fn row(page: &mut String, server: &ServerHealth) {
    let status = available(server);
    let class = match status {
        Some(true) => "up",
        Some(false) => "down",
        None => "unknown",
    };
    let _ = write!(
        page,
        "<tr><td>{}<small>{}</small></td><td class=\"{class}\">{}</td><td>",
        escape(server.name.as_str()),
        escape(server.source),
        word(status)
    );
    for condition in &server.conditions {
        let _ = write!(
            page,
            "{} {} ({})<small>{} since {}</small>",
            escape(condition.kind),
            word(condition.status),
            escape(&condition.reason),
            escape(&condition.message),
            escape(&condition.last_transition)
        );
    }
    page.push_str("</td><td>");
    for endpoint in &server.endpoints {
        let _ = write!(page, "{}", escape(&endpoint.address));
        match &endpoint.failure {
            None => page.push_str("<small class=\"up\">answers</small>"),
            Some(failure) => {
                let _ = write!(
                    page,
                    "<small class=\"down\">{}</small><small>{}</small>",
                    escape(&failure.to_string()),
                    failure.cause.advice()
                );
            }
        }
    }
    let _ = writeln!(page, "</td><td>{}</td></tr>", escape(&server.group_versions.join(" ")));
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use catalog::{Cause, EndpointHealth, Moment, ServerName};

    use super::*;

    fn report() -> HealthReport {
        let condition = catalog::Condition {
            kind: "Available",
            status: Some(false),
            reason: "ConnectionRefused".to_owned(),
            message: "nothing <b>listens</b> & waits".to_owned(),
            last_transition: "2026-11-30T20:00:00Z".to_owned(),
        };
        let endpoint = EndpointHealth {
            address: "10.0.0.1:443".to_owned(),
            failure: Some(catalog::Failure::new(Cause::ConnectionRefused, "10.0.0.1:443 refused")),
            last_probe: Moment::default(),
        };
        let server = ServerHealth {
            name: ServerName::new("wardle"),
            source: "File",
            conditions: vec![condition],
            endpoints: vec![endpoint],
            group_versions: vec!["wardle.example.com/v1".to_owned()],
            last_discovery: Moment::default(),
        };
        HealthReport { servers: vec![server.into()] }
    }

    #[test]
    fn the_client_chooses_the_form() {
        for (accept, expected) in [
            ("", Form::Json),
            ("*/*", Form::Json),
            ("application/json", Form::Json),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Form::Html),
            ("text/html;q=0.5,application/json", Form::Json),
        ] {
            assert_eq!(form(accept), expected, "{accept}");
        }
    }

    #[test]
    fn json_tells_what_is_wrong_and_what_to_do() {
        let json: serde_json::Value = serde_json::from_slice(&json(&report())).unwrap();
        let server = &json["servers"][0];
        assert_eq!(server["name"], "wardle");
        assert_eq!(server["available"], false);
        assert_eq!(server["conditions"][0]["type"], "Available");
        assert_eq!(server["conditions"][0]["status"], "False");
        assert_eq!(server["endpoints"][0]["ready"], false);
        assert_eq!(server["endpoints"][0]["failure"]["reason"], "ConnectionRefused");
        assert!(
            server["endpoints"][0]["failure"]["advice"].as_str().unwrap().starts_with("Start the server")
        );
    }

    #[test]
    fn the_page_is_escaped() {
        let page = html(&report());
        assert!(page.contains("nothing &lt;b&gt;listens&lt;/b&gt; &amp; waits"));
        assert!(page.contains("1 servers, 1 of them not available"));
        assert!(!page.contains("<b>"));
    }
}
