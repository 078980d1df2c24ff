//! What is counted, under upstream's names where it has one.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use http::{HeaderValue, Response, StatusCode, header};
use kube_wire::RequestInfo;

use super::{Body, Limits, body::full};

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Upper ends of the buckets of request times, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 60.0];
/// Sets of labels at most: what names nothing that is served counts under no name.
const MAX_SERIES: usize = 2000;

/// All counters.
pub(super) struct Metrics {
    reading: Arc<Gauge>,
    writing: Arc<Gauge>,
    watching: Arc<Gauge>,
    requests: Mutex<BTreeMap<Labels, Series>>,
}

/// Upstream's labels, but for those that always have the same value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    verb: &'static str,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: &'static str,
}

#[derive(Clone, Default)]
struct Series {
    /// By status code.
    codes: BTreeMap<u16, u64>,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

/// Counts what is in flight against a maximum.
#[derive(Debug)]
struct Gauge {
    now: AtomicUsize,
    max: usize,
}

/// A place among those in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct Running(Option<Arc<Gauge>>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(gauge) = &self.0 {
            gauge.now.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn enter(gauge: &Arc<Gauge>) -> Option<Running> {
    if gauge.now.fetch_add(1, Ordering::Relaxed) >= gauge.max {
        gauge.now.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    Some(Running(Some(Arc::clone(gauge))))
}

impl Metrics {
    pub(super) fn new(limits: &Limits) -> Self {
        let gauge = |max| Arc::new(Gauge { now: AtomicUsize::new(0), max });
        Self {
            reading: gauge(limits.max_in_flight),
            writing: gauge(limits.max_mutating_in_flight),
            watching: gauge(limits.max_watches),
            requests: Mutex::default(),
        }
    }

    /// A place for an ordinary request; none when all are taken.
    pub(super) fn enter(&self, info: &RequestInfo<'_>) -> Option<Running> {
        // Whoever asks for the health of a busy server needs an answer most of all.
        if !info.is_resource && super::health::is_path(&info.path) {
            return Some(Running(None));
        }
        let reads = matches!(&*info.verb, "get" | "list" | "watch" | "head");
        enter(if reads { &self.reading } else { &self.writing })
    }

    /// A place for a watch.
    pub(super) fn enter_watch(&self) -> Option<Running> {
        enter(&self.watching)
    }

    /// A request has its answer.
    pub(super) fn finished(&self, info: &RequestInfo<'_>, code: StatusCode, begun: Instant) -> Running {
        // What names nothing that is served may name anything.
        let known = code != StatusCode::NOT_FOUND && info.is_resource;
        let labels = if known { Labels::of(info) } else { Labels::default() };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = if requests.len() >= MAX_SERIES && !requests.contains_key(&labels) {
            Labels::default()
        } else {
            labels
        };
        let series = requests.entry(labels).or_default();
        *series.codes.entry(code.as_u16()).or_default() += 1;
        // A watch takes as long as its client likes.
        if !info.is_long_running() {
            let seconds = begun.elapsed().as_secs_f64();
            series.seconds += seconds;
            let place = BUCKETS.iter().position(|end| seconds <= *end);
            series.buckets[place.unwrap_or(BUCKETS.len() - 1)] += 1;
        }
        Running(None)
    }

    pub(super) fn answer(&self) -> Response<Body> {
        let mut response = Response::new(full(self.text()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        response
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let gauges = [("readOnly", &self.reading), ("mutating", &self.writing), ("watch", &self.watching)];
        family(&mut out, "apiserver_current_inflight_requests", "Requests being served.", "gauge");
        for (kind, gauge) in gauges {
            let now = gauge.now.load(Ordering::Relaxed);
            let _ = writeln!(out, "apiserver_current_inflight_requests{{request_kind=\"{kind}\"}} {now}");
        }
        family(&mut out, "apiserver_request_total", "Requests by verb, resource and code.", "counter");
        for (labels, series) in &requests {
            for (code, count) in &series.codes {
                let labels = text_of(labels);
                let _ = writeln!(out, "apiserver_request_total{{code=\"{code}\",{labels}}} {count}");
            }
        }
        const DURATION: &str = "apiserver_request_duration_seconds";
        family(&mut out, DURATION, "Time until the answer, without watches.", "histogram");
        for (labels, series) in &requests {
            let (labels, mut sum) = (text_of(labels), 0);
            for (end, count) in BUCKETS.iter().zip(series.buckets) {
                sum += count;
                let _ = writeln!(out, "{DURATION}_bucket{{{labels},le=\"{end}\"}} {sum}");
            }
            let _ = writeln!(out, "{DURATION}_bucket{{{labels},le=\"+Inf\"}} {sum}");
            let _ = writeln!(out, "{DURATION}_sum{{{labels}}} {}", series.seconds);
            let _ = writeln!(out, "{DURATION}_count{{{labels}}} {sum}");
        }
        out
    }
}

fn family(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

impl Labels {
    fn of(info: &RequestInfo<'_>) -> Self {
        let verb = match &*info.verb {
            "get" => "GET",
            "list" => "LIST",
            "watch" => "WATCH",
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" => "DELETE",
            "deletecollection" => "DELETECOLLECTION",
            _ => "other",
        };
        let scope = match (info.name.is_empty(), info.namespace.is_empty()) {
            (false, _) => "resource",
            (true, false) => "namespace",
            (true, true) => "cluster",
        };
        Self {
            verb,
            group: info.group.to_string(),
            version: info.version.to_string(),
            resource: info.resource.to_string(),
            subresource: info.subresource.to_string(),
            scope,
        }
    }
}

fn text_of(labels: &Labels) -> String {
    let escaped = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    let Labels { verb, group, version, resource, subresource, scope } = labels;
    let pairs = [
        ("component", "apiserver"),
        ("dry_run", ""),
        ("group", group),
        ("resource", resource),
        ("scope", scope),
        ("subresource", subresource),
        ("verb", verb),
        ("version", version),
    ];
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.join(",")
}
