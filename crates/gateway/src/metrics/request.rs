//! Series of requests, by what they are about.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use http::StatusCode;
use kube_wire::request_info::RequestInfo;

use super::{
    Counter, Level,
    exposition::Exposition,
    histogram::Histogram,
    labels::{Borrowed, Labels},
};

/// Combinations of labels that are told apart; what comes later counts as `unknown`.
const MAX_SERIES: usize = 4096;

/// Upper bounds of `apiserver_request_duration_seconds`, seconds.
const DURATIONS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];
/// Upper bounds of `apiserver_response_sizes`, bytes.
const SIZES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Status codes with a counter of their own; the rest shares the last one.
const CODES: [u16; 24] = [
    101, 200, 201, 202, 204, 206, 301, 304, 400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 500,
    502, 503, 504,
];

/// The counters of one combination.
#[derive(Debug)]
struct Series {
    labels: Labels,
    codes: [Counter; CODES.len() + 1],
    durations: Histogram<{ DURATIONS.len() + 1 }, 1_000_000>,
    sizes: Histogram<{ SIZES.len() + 1 }, 1>,
    long_running: Level,
    aborts: Counter,
}

type Table = HashMap<u64, Vec<Arc<Series>>>;

/// All series of requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    table: ArcSwap<Table>,
    /// Held while a series is added.
    adding: Mutex<usize>,
    read_only: Level,
    mutating: Level,
}

impl Requests {
    pub(super) fn begin(self: &Arc<Self>, info: &RequestInfo<'_>, long_running: bool) -> RequestMetrics {
        let labels = Borrowed::of(info, long_running);
        let place = match self.find(&labels) {
            Some(series) => Place::Known(series),
            None => Place::New(Box::new(labels.owned())),
        };
        let mutating = !matches!(labels.verb, "GET" | "LIST" | "WATCH" | "HEAD" | "OPTIONS");
        let kind = match (long_running, mutating) {
            (true, _) => Kind::LongRunning,
            (false, true) => Kind::Mutating,
            (false, false) => Kind::ReadOnly,
        };
        self.in_flight(kind, 1);
        RequestMetrics { requests: self.clone(), place, started: Instant::now(), kind, code: 0, bytes: None }
    }

    fn in_flight(&self, kind: Kind, delta: i64) {
        match kind {
            Kind::LongRunning => {}
            Kind::Mutating => self.mutating.add(delta),
            Kind::ReadOnly => self.read_only.add(delta),
        }
    }

    fn find(&self, labels: &Borrowed<'_>) -> Option<Arc<Series>> {
        let table = self.table.load();
        table.get(&labels.hash_code())?.iter().find(|series| labels.same(&series.labels)).cloned()
    }

    /// The series of these labels, made when there is room.
    fn make(&self, labels: Labels) -> Arc<Series> {
        let mut count = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have made it meanwhile.
        if let Some(series) = self.find(&labels.borrowed()) {
            return series;
        }
        let labels = if *count < MAX_SERIES { labels } else { labels.unknown() };
        if let Some(series) = self.find(&labels.borrowed()) {
            return series;
        }
        let series = Arc::new(Series::new(labels));
        let mut table = Table::clone(&self.table.load());
        table.entry(series.labels.borrowed().hash_code()).or_default().push(series.clone());
        self.table.store(Arc::new(table));
        *count += 1;
        series
    }

    pub(super) fn render(&self, text: &mut Exposition) {
        let table = self.table.load();
        let mut all: Vec<&Arc<Series>> = table.values().flatten().collect();
        all.sort_by_key(|series| series.labels.sort_key());
        render_counts(text, &all);
        render_long_running(text, &all);
        const IN_FLIGHT: &str = "apiserver_current_inflight_requests";
        text.family(
            IN_FLIGHT,
            "Requests in flight, long-running ones not counted, per request kind.",
            "gauge",
        );
        text.sample(IN_FLIGHT, &[("request_kind", "mutating")], self.mutating.get());
        text.sample(IN_FLIGHT, &[("request_kind", "readOnly")], self.read_only.get());
    }
}

fn render_counts(text: &mut Exposition, all: &[&Arc<Series>]) {
    const TOTAL: &str = "apiserver_request_total";
    text.family(TOTAL, "Counter of requests broken down for each verb, group, version, resource, scope, component, and HTTP response code.", "counter");
    for series in all {
        let names = CODES.iter().map(u16::to_string).chain(["other".to_owned()]);
        for (code, counter) in names.zip(&series.codes).filter(|(_, counter)| counter.get() > 0) {
            let labels = series.labels.with(&[("component", "apiserver"), ("code", &code)]);
            text.sample(TOTAL, &labels, counter.get());
        }
    }
    const DURATION: &str = "apiserver_request_duration_seconds";
    text.family(DURATION, "Response latency in seconds for each verb, group, version, resource, subresource, scope and component.", "histogram");
    for series in all {
        series.durations.render(
            text,
            DURATION,
            &series.labels.with(&[("component", "apiserver")]),
            &DURATIONS,
        );
    }
    const SIZE: &str = "apiserver_response_sizes";
    text.family(
        SIZE,
        "Response size in bytes for each group, version, verb, resource, subresource, scope and component.",
        "histogram",
    );
    for series in all {
        series.sizes.render(text, SIZE, &series.labels.with(&[("component", "apiserver")]), &SIZES);
    }
}

fn render_long_running(text: &mut Exposition, all: &[&Arc<Series>]) {
    const LONG: &str = "apiserver_longrunning_requests";
    text.family(LONG, "Gauge of all active long-running requests broken out by verb, group, version, resource, scope and component.", "gauge");
    for series in all.iter().filter(|series| series.long_running.get() != 0) {
        text.sample(LONG, &series.labels.with(&[("component", "apiserver")]), series.long_running.get());
    }
    const ABORTS: &str = "apiserver_request_aborts_total";
    text.family(ABORTS, "Number of requests which were aborted, for each group, version, verb, resource, subresource and scope.", "counter");
    for series in all.iter().filter(|series| series.aborts.get() > 0) {
        text.sample(ABORTS, &series.labels.with(&[]), series.aborts.get());
    }
}

/// One request, from its head to the end of its answer. Dropped unfinished: counted as aborted.
/// Small: a watch holds it for hours.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    requests: Arc<Requests>,
    place: Place,
    started: Instant,
    kind: Kind,
    code: u16,
    bytes: Option<u64>,
}

#[derive(Debug)]
enum Place {
    Known(Arc<Series>),
    New(Box<Labels>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    LongRunning,
    Mutating,
    ReadOnly,
}

impl RequestMetrics {
    /// The head of the answer is known.
    pub(crate) fn answered(&mut self, code: StatusCode) {
        let first = std::mem::replace(&mut self.code, code.as_u16()) == 0;
        let series = self.settle(code.as_u16());
        if first && self.kind == Kind::LongRunning {
            series.long_running.add(1);
        }
    }

    /// The answer ended; `bytes` of body were sent.
    pub(crate) fn finish(mut self, bytes: u64) {
        self.bytes = Some(bytes);
    }

    /// The series in which this request is counted, now that its outcome is known.
    fn settle(&mut self, code: u16) -> Arc<Series> {
        let labels = match &self.place {
            Place::Known(series) => return series.clone(),
            Place::New(labels) => labels,
        };
        let error = code == 0 || code >= 400;
        let labels = if error { labels.unknown() } else { (**labels).clone() };
        let series = self.requests.make(labels);
        self.place = Place::Known(series.clone());
        series
    }
}

impl Drop for RequestMetrics {
    fn drop(&mut self) {
        self.requests.in_flight(self.kind, -1);
        let series = self.settle(self.code);
        if self.code != 0 {
            let index = CODES.iter().position(|code| *code == self.code).unwrap_or(CODES.len());
            series.codes[index].add(1);
            if self.kind == Kind::LongRunning {
                series.long_running.add(-1);
            }
        }
        let elapsed = self.started.elapsed();
        series.durations.observe(elapsed.as_secs_f64(), &DURATIONS, micros(elapsed));
        match self.bytes {
            #[expect(clippy::cast_precision_loss, reason = "compared with bounds that are powers of ten")]
            Some(bytes) => series.sizes.observe(bytes as f64, &SIZES, bytes),
            None => series.aborts.add(1),
        }
    }
}

fn micros(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)
}

impl Series {
    fn new(labels: Labels) -> Self {
        Self {
            labels,
            codes: std::array::from_fn(|_| Counter::default()),
            durations: Histogram::new(),
            sizes: Histogram::new(),
            long_running: Level::default(),
            aborts: Counter::default(),
        }
    }
}
