use std::sync::Arc;

use catalog::{Cause, Condition, EndpointHealth, Failure, Moment, ServerHealth};
use http::StatusCode;

use super::*;

fn count(metrics: &Metrics, method: &str, uri: &str, code: u16, bytes: Option<u64>) {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let info = RequestInfo::parse(method, path, query).unwrap();
    let mut request = metrics.begin(&info, info.is_long_running());
    request.answered(StatusCode::from_u16(code).unwrap());
    match bytes {
        Some(bytes) => request.finish(bytes),
        None => drop(request),
    }
}

fn text(metrics: &Metrics) -> String {
    metrics.render(&HealthReport::default(), 7)
}

/// The value of the one sample whose line starts with this.
fn sample(text: &str, start: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(start))?;
    line.rsplit_once(' ').map(|(_, value)| value.to_owned())
}

const LIST: &str = "verb=\"LIST\",group=\"wardle.example.com\",version=\"v1\",resource=\"flunders\",subresource=\"\",scope=\"namespace\"";
const UNKNOWN: &str = "verb=\"GET\",group=\"\",version=\"\",resource=\"unknown\",subresource=\"\",scope=\"\"";

#[test]
fn requests_are_counted_under_upstreams_names() {
    let metrics = Metrics::default();
    let list = "/apis/wardle.example.com/v1/namespaces/a/flunders";
    for bytes in [500, 5_000, 50_000] {
        count(&metrics, "GET", list, 200, Some(bytes));
    }
    count(&metrics, "GET", list, 503, Some(0));
    count(&metrics, "GET", list, 200, None);
    let text = text(&metrics);
    let is = |start: &str, value: &str| {
        assert_eq!(sample(&text, start).as_deref(), Some(value), "{start}\n{text}")
    };
    is(&format!("apiserver_request_total{{{LIST},component=\"apiserver\",code=\"200\"}}"), "4");
    is(&format!("apiserver_request_total{{{LIST},component=\"apiserver\",code=\"503\"}}"), "1");
    is(&format!("apiserver_request_duration_seconds_count{{{LIST}"), "5");
    is(
        &format!("apiserver_request_duration_seconds_bucket{{{LIST},component=\"apiserver\",le=\"+Inf\"}}"),
        "5",
    );
    is(&format!("apiserver_response_sizes_bucket{{{LIST},component=\"apiserver\",le=\"1000\"}}"), "2");
    is(&format!("apiserver_response_sizes_bucket{{{LIST},component=\"apiserver\",le=\"10000\"}}"), "3");
    is(&format!("apiserver_response_sizes_sum{{{LIST}"), "55500");
    is(&format!("apiserver_request_aborts_total{{{LIST}}}"), "1");
    is("trellis_catalog_generation", "7");
}

#[test]
fn what_is_in_flight_goes_up_and_down() {
    let metrics = Metrics::default();
    let begin = |method: &str, path: &str, query: &str| {
        let info = RequestInfo::parse(method, path, query).unwrap();
        let mut request = metrics.begin(&info, info.is_long_running());
        request.answered(StatusCode::OK);
        request
    };
    let read = begin("GET", "/api/v1/pods", "");
    let write = begin("POST", "/api/v1/namespaces/a/pods", "");
    let watch = begin("GET", "/api/v1/pods", "watch=true");
    let long = "apiserver_longrunning_requests{verb=\"WATCH\",group=\"\",version=\"v1\",resource=\"pods\",subresource=\"\",scope=\"cluster\",component=\"apiserver\"}";
    let both = text(&metrics);
    assert_eq!(
        sample(&both, "apiserver_current_inflight_requests{request_kind=\"readOnly\"}").as_deref(),
        Some("1")
    );
    assert_eq!(
        sample(&both, "apiserver_current_inflight_requests{request_kind=\"mutating\"}").as_deref(),
        Some("1")
    );
    assert_eq!(sample(&both, long).as_deref(), Some("1"), "{both}");
    drop(read);
    write.finish(0);
    watch.finish(9);
    let none = text(&metrics);
    assert_eq!(
        sample(&none, "apiserver_current_inflight_requests{request_kind=\"readOnly\"}").as_deref(),
        Some("0")
    );
    assert_eq!(
        sample(&none, "apiserver_current_inflight_requests{request_kind=\"mutating\"}").as_deref(),
        Some("0")
    );
    assert_eq!(sample(&none, long), None);
}

#[test]
fn invented_paths_make_no_series() {
    let metrics = Metrics::default();
    for number in 0..10_000 {
        count(&metrics, "GET", &format!("/apis/g{number}.example.com/v1/things{number}/x"), 404, Some(19));
        count(&metrics, "GET", &format!("/nothing/{number}"), 403, Some(19));
    }
    let text = text(&metrics);
    assert_eq!(
        sample(&text, &format!("apiserver_request_total{{{UNKNOWN},component=\"apiserver\",code=\"404\"}}"))
            .as_deref(),
        Some("10000")
    );
    assert!(text.len() < 20_000, "{} bytes", text.len());
}

#[test]
fn even_good_answers_make_no_more_series_than_there_may_be() {
    let metrics = Metrics::default();
    for number in 0..5_000 {
        count(&metrics, "GET", &format!("/apis/example.com/v1/things{number}/x"), 200, Some(1));
    }
    let text = text(&metrics);
    let series = text.lines().filter(|line| line.starts_with("apiserver_request_total{")).count();
    assert_eq!(series, 4097);
    assert_eq!(sample(&text, &format!("apiserver_request_total{{{UNKNOWN}")).as_deref(), Some("904"));
}

#[test]
fn labels_are_escaped() {
    let metrics = Metrics::default();
    count(&metrics, "GET", "/apis/example.com/v1/%22%0a%5c", 200, Some(1));
    assert!(text(&metrics).contains("resource=\"\\\"\\n\\\\\""));
}

#[test]
fn servers_are_shown_until_they_are_gone() {
    let metrics = Metrics::default();
    let server = metrics.server(&ServerName::new("wardle"));
    server.connections(3);
    server.connections(-1);
    server.retried("goaway");
    server.retried("goaway");
    server.failed("ConnectionRefused");
    server.ejected();
    let health = HealthReport {
        servers: vec![Arc::new(ServerHealth {
            name: ServerName::new("wardle"),
            source: "File",
            conditions: vec![Condition {
                kind: "Available",
                status: Some(false),
                reason: "ConnectionRefused".to_owned(),
                message: String::new(),
                last_transition: String::new(),
            }],
            endpoints: vec![
                EndpointHealth { address: "a:1".to_owned(), failure: None, last_probe: Moment::default() },
                EndpointHealth {
                    address: "a:2".to_owned(),
                    failure: Some(Failure::new(Cause::ConnectionRefused, "")),
                    last_probe: Moment::default(),
                },
            ],
            group_versions: Vec::new(),
            last_discovery: Moment::default(),
        })],
    };
    let text = metrics.render(&health, 1);
    let is = |start: &str, value: &str| {
        assert_eq!(sample(&text, start).as_deref(), Some(value), "{start}\n{text}")
    };
    is("trellis_server_connections{name=\"wardle\"}", "2");
    is("trellis_server_retries_total{name=\"wardle\",reason=\"goaway\"}", "2");
    is("trellis_server_endpoint_ejections_total{name=\"wardle\"}", "1");
    is("aggregator_unavailable_apiservice_total{name=\"wardle\",reason=\"ConnectionRefused\"}", "1");
    is("aggregator_unavailable_apiservice{name=\"wardle\"}", "1");
    is(
        "trellis_registration_condition{name=\"wardle\",type=\"Available\",reason=\"ConnectionRefused\"}",
        "0",
    );
    is("trellis_registration_endpoints{name=\"wardle\",state=\"ready\"}", "1");
    drop(server);
    assert!(!metrics.render(&HealthReport::default(), 2).contains("wardle"));
}

#[test]
fn the_text_is_what_prometheus_reads() {
    let metrics = Metrics::default();
    count(&metrics, "GET", "/api/v1/pods", 200, Some(1));
    metrics.server(&ServerName::new("a")).retried("connect");
    let text = text(&metrics);
    let mut families = std::collections::BTreeSet::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(comment) => {
                let mut words = comment.split(' ');
                let (kind, name) = (words.next().unwrap(), words.next().unwrap());
                assert!(kind == "HELP" || families.insert(name.to_owned()), "{name} twice");
            }
            None => {
                let name = line.split(['{', ' ']).next().unwrap();
                let family =
                    ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
                assert!(families.contains(name) || family.is_some_and(|f| families.contains(f)), "{line}");
                assert!(line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok(), "{line}");
            }
        }
    }
}
