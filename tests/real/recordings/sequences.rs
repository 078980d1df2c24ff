//! Steps on one object each. All sequences take their first step, then all their second: each step has
//! seconds of its own, so that times say in which step something happened.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::server::{Answer, Resource, Server, line, next_second, normalized, now};

#[derive(Deserialize)]
struct Sequence {
    name: String,
    resource: String,
    steps: Vec<Map<String, Value>>,
}

const VERBS: [(&str, &str, &str); 6] = [
    ("create", "POST", "application/json"),
    ("update", "PUT", "application/json"),
    ("json", "PATCH", "application/json-patch+json"),
    ("merge", "PATCH", "application/merge-patch+json"),
    ("strategic", "PATCH", "application/strategic-merge-patch+json"),
    ("apply", "PATCH", "application/apply-patch+yaml"),
];
/// Of those whom nothing else is said of.
const AGENT: &str = "recorder/1.0 (test)";

/// Where a sequence is.
struct Course {
    sequence: Sequence,
    object: String,
    /// The last answer that was an object.
    live: Option<Value>,
    /// Steps as they are kept.
    steps: Vec<Value>,
}

pub(super) fn record(server: &Server, file: &str) -> String {
    let sequences: Vec<Sequence> = super::rows(file);
    let prefix = file.trim_end_matches(".yaml");
    let begin = |(number, sequence)| {
        let object = format!("{prefix}-{number:02}");
        Course { sequence, object, live: None, steps: Vec::new() }
    };
    let mut courses: Vec<Course> = sequences.into_iter().enumerate().map(begin).collect();
    let longest = courses.iter().map(|course| course.sequence.steps.len()).max().unwrap_or(0);
    let mut started = Vec::new();
    for step in 0..longest {
        next_second();
        started.push(now());
        for course in courses.iter_mut().filter(|course| step < course.sequence.steps.len()) {
            course.take(server, step, &started);
        }
    }
    let lines = courses.iter().flat_map(|course| {
        let head = json!({"sequence": course.sequence.name, "resource": course.sequence.resource});
        std::iter::once(line(&head)).chain(course.steps.iter().map(line))
    });
    lines.collect()
}

impl Course {
    fn take(&mut self, server: &Server, number: usize, started: &[i64]) {
        let step = self.sequence.steps[number].clone();
        let what = format!("{}, step {}", self.sequence.name, number + 1);
        let (verb, method, media_type) =
            VERBS.into_iter().find(|(verb, ..)| step.contains_key(*verb)).unwrap_or_else(|| panic!("{what}"));
        let text = |name: &str| step.get(name).and_then(Value::as_str);
        let resource = Resource::new(&self.sequence.resource, text("version"));
        let body = match verb {
            "create" | "update" | "apply" if step.get("raw").is_none() => {
                self.whole(&step[verb], &resource, verb)
            }
            _ => step[verb].clone(),
        };
        let mut path = resource.path();
        if verb != "create" {
            path = format!("{path}/{}", self.object);
        }
        if let Some(subresource) = text("subresource") {
            path = format!("{path}/{subresource}");
        }
        let manager = text("manager").or((verb == "apply").then_some("applier"));
        let pairs = [
            ("fieldManager", manager.map(str::to_owned)),
            ("fieldValidation", text("validation").map(str::to_owned)),
            ("force", step.get("force").map(Value::to_string)),
        ];
        let query: Vec<_> = pairs
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", escaped(&value?))))
            .collect();
        let path = format!("{path}?{}", query.join("&"));
        let agent = text("agent").unwrap_or(AGENT);
        let Answer { code, body: answer } = server.send_as(agent, method, &path, media_type, &body);
        let uid = self.live.as_ref().or(Some(&answer)).and_then(|object| object["metadata"]["uid"].as_str());
        let mut shown = normalized(&answer, uid, started);
        in_order(&mut shown);
        let sent = normalized(&body, uid, started);
        let mut kept = json!({
            "verb": verb, "api_version": resource.api_version, "kind": resource.kind, "name": self.object,
            "agent": agent, "body": sent, "code": code, "answer": shown,
        });
        for name in ["manager", "subresource", "force", "validation", "later", "foreign"] {
            let value =
                step.get(name).cloned().or_else(|| manager.filter(|_| name == "manager").map(Value::from));
            if let Some(value) = value {
                kept[name] = value;
            }
        }
        self.steps.push(kept);
        if code < 300 {
            self.live = Some(answer);
        }
    }

    /// The object with its name and kind; for an update the version that is replaced.
    fn whole(&self, body: &Value, resource: &Resource, verb: &str) -> Value {
        let mut body = body.clone();
        let Some(object) = body.as_object_mut() else { return body };
        object.entry("apiVersion").or_insert_with(|| json!(resource.api_version));
        object.entry("kind").or_insert_with(|| json!(resource.kind));
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.entry("name").or_insert_with(|| json!(self.object));
            let version = self.live.as_ref().map(|live| live["metadata"]["resourceVersion"].clone());
            if let (Some(version), "update") = (version, verb) {
                metadata.entry("resourceVersion").or_insert(version);
            }
        }
        body
    }
}

/// For a query.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Upstream names the managers in conflict in no order.
fn in_order(answer: &mut Value) {
    if answer["code"] == 409
        && let Some(causes) = answer["details"]["causes"].as_array_mut()
    {
        causes.sort_by_key(Value::to_string);
    }
}
