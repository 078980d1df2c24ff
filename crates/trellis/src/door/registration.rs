//! Registrations: the object that is sent, and what its status says.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use registry::{
    object::{Resource, check},
    registration::{GROUP, KIND, PLURAL, VERSION},
};
use serde_json::{Map, Value, json};

use crate::exit::{Code, Outcome, Problem};

/// A registration as it is sent.
pub(crate) struct Registration {
    /// The name.
    pub(crate) name: String,
    /// The spec.
    pub(crate) spec: Map<String, Value>,
}

/// What the door says about a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing yet about what was sent.
    Unknown,
    /// It answers, with these groups.
    Available(Vec<String>),
    /// It does not, and this is why.
    Not(String),
}

impl Registration {
    /// The registration of a server at these base URLs.
    pub(crate) fn new(name: String, urls: &[String]) -> Self {
        let mut spec = Map::new();
        match urls {
            [url] => drop(spec.insert("url".to_owned(), json!(url))),
            urls => {
                // A path that all endpoints share is the base path of the server.
                let (endpoints, paths): (Vec<&str>, Vec<&str>) =
                    urls.iter().map(|url| split_path(url)).unzip();
                let path = paths.first().copied().unwrap_or_default();
                if !path.is_empty() && paths.iter().all(|other| *other == path) {
                    spec.insert("endpoints".to_owned(), json!(endpoints));
                    spec.insert("path".to_owned(), json!(path));
                } else {
                    spec.insert("endpoints".to_owned(), json!(urls));
                }
            }
        }
        Self { name, spec }
    }

    /// Sets a field of the spec.
    pub(crate) fn set(&mut self, field: &str, value: Value) {
        self.spec.insert(field.to_owned(), value);
    }

    /// Trusts the authorities of this PEM bundle.
    pub(crate) fn trust(&mut self, pem: &[u8]) {
        self.set("caBundle", json!(STANDARD.encode(pem)));
    }

    /// The object.
    pub(crate) fn object(&self) -> Value {
        json!({
            "apiVersion": format!("{GROUP}/{VERSION}"),
            "kind": KIND,
            "metadata": { "name": self.name },
            "spec": self.spec,
        })
    }

    /// Checks it as the door would, so that a mistake is told before anything is sent.
    pub(crate) fn check(&self) -> Outcome {
        match check(Resource::ApiServer, &self.object()) {
            Ok(_) => Ok(()),
            Err(problems) => {
                let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
                Err(Problem::new(Code::Input, format!("this cannot be registered:{}", lines.concat()))
                    .next("`trellis register --help` shows what can be given"))
            }
        }
    }

    /// Path of all registrations.
    pub(crate) fn collection() -> String {
        format!("/apis/{GROUP}/{VERSION}/{PLURAL}")
    }

    /// Path of one.
    pub(crate) fn path(name: &str) -> String {
        format!("{}/{name}", Self::collection())
    }
}

impl State {
    /// Reads the status of a registration.
    pub(crate) fn of(object: &Value) -> Self {
        let status = &object["status"];
        let generation = object["metadata"]["generation"].as_i64();
        let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let find = |kind: &str| conditions.iter().find(|condition| condition["type"] == kind);
        let Some(available) = find("Available") else { return Self::Unknown };
        if status["observedGeneration"].as_i64() != generation && generation.is_some() {
            return Self::Unknown;
        }
        // A server that answers with a group that is another's is of no use: that goes first.
        if let Some(conflict) = find("Conflict").filter(|conflict| conflict["status"] == "True") {
            return Self::Not(sentence(conflict));
        }
        match available["status"].as_str() {
            Some("True") => Self::Available(groups(status)),
            Some("False") => Self::Not(sentence(available)),
            _ => Self::Unknown,
        }
    }
}

fn sentence(condition: &Value) -> String {
    let text = |field: &str| condition[field].as_str().unwrap_or_default();
    format!("{}: {}", text("reason"), text("message"))
}

fn groups(status: &Value) -> Vec<String> {
    let named = |group: &Value| match group {
        Value::String(name) => Some(name.clone()),
        group => group["name"].as_str().or(group["groupVersion"].as_str()).map(str::to_owned),
    };
    status["groups"].as_array().into_iter().flatten().filter_map(named).collect()
}

/// Name for a registration that was given none: the host of its URL, with what no name may have replaced.
pub(crate) fn default_name(url: &str) -> String {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name: String = host
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    name.trim_matches(['-', '.']).to_owned()
}

/// A URL without its path, and the path.
fn split_path(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    match url[start..].find('/') {
        Some(slash) => {
            let (endpoint, path) = url.split_at(start + slash);
            (endpoint, path.trim_end_matches('/'))
        }
        None => (url, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_from_the_host() {
        for (url, name) in [
            ("https://notes.example.com:8443/prefix", "notes.example.com"),
            ("https://Notes_1", "notes-1"),
            ("https://10.0.0.7", "10.0.0.7"),
            ("https://[fd00::7]:8443", "fd00--7"),
            ("not a url", "not-a-url"),
            ("", ""),
        ] {
            assert_eq!(default_name(url), name, "{url}");
        }
    }

    #[test]
    fn endpoints_share_their_path() {
        let urls = ["https://a:1/p/".to_owned(), "https://b:2/p".to_owned()];
        let registration = Registration::new("n".into(), &urls);
        assert_eq!(
            Value::Object(registration.spec),
            json!({"endpoints": ["https://a:1", "https://b:2"], "path": "/p"})
        );
    }

    #[test]
    fn a_conflict_goes_before_available() {
        let object = json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [
            {"type": "Available", "status": "True", "reason": "Passed", "message": "all is well"},
            {"type": "Conflict", "status": "True", "reason": "GroupTaken", "message": "a.b belongs to c"},
        ]}});
        assert_eq!(State::of(&object), State::Not("GroupTaken: a.b belongs to c".into()));
    }

    #[test]
    fn a_status_of_an_older_generation_says_nothing() {
        let object = json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1, "conditions": [
            {"type": "Available", "status": "True", "reason": "Passed", "message": ""},
        ]}});
        assert_eq!(State::of(&object), State::Unknown);
    }
}
