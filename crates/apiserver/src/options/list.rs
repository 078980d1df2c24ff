//! Options of list, watch and deletecollection.

use std::time::Duration;

use kube_wire::{
    Reason, Status,
    selector::{FieldSelector, LabelSelector},
};

use super::{flag, invalid_options, not_a_version, number, parameter};
use crate::{
    resource::Definition,
    validation::{FieldError, Path},
};

/// How a resource version is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// This state.
    Exact,
    /// This state or a later one.
    NotOlderThan,
}

/// What to list or watch.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// By labels.
    pub labels: LabelSelector,
    /// By fields.
    pub fields: FieldSelector,
    /// Objects at most; none: all.
    pub limit: Option<usize>,
    /// The token of the page before.
    pub continue_token: Option<String>,
    /// The resource version as it was sent.
    pub resource_version: Option<String>,
    /// How it is meant.
    pub version_match: Option<VersionMatch>,
    /// How long a watch lasts.
    pub timeout: Option<Duration>,
    /// Whether the watch begins with what is there.
    pub send_initial_events: Option<bool>,
    /// Whether the client understands bookmarks.
    pub bookmarks: bool,
}

impl ListOptions {
    /// Reads the options of a request for a list or a watch; `name` is in the path.
    ///
    /// # Errors
    /// 400 and 422 in upstream's words.
    pub fn read(query: &str, watch: bool, definition: &Definition, name: &str) -> Result<Self, Status> {
        let limit = number(query, "limit")?;
        let timeout = number(query, "timeoutSeconds")?;
        let labels = parameter(query, "labelSelector").unwrap_or_default();
        let labels = labels.parse().map_err(|error| Status::bad_request(format!("{error}")))?;
        let fields = parameter(query, "fieldSelector").unwrap_or_default();
        let mut options = Self {
            labels,
            fields: field_selector(&fields)?,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0),
            continue_token: parameter(query, "continue"),
            resource_version: parameter(query, "resourceVersion"),
            version_match: None,
            timeout: timeout.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
            send_initial_events: flag(query, "sendInitialEvents"),
            bookmarks: flag(query, "allowWatchBookmarks").unwrap_or_default(),
        };
        options.check(parameter(query, "resourceVersionMatch"), watch)?;
        options.known_fields(definition)?;
        options.name(name)?;
        Ok(options)
    }

    fn check(&mut self, version_match: Option<String>, watch: bool) -> Result<(), Status> {
        let errors = match watch {
            true => self.watch_mistakes(version_match.as_deref()),
            false => self.list_mistakes(version_match.as_deref()),
        };
        self.version_match = match version_match.as_deref() {
            Some("Exact") => Some(VersionMatch::Exact),
            Some("NotOlderThan") => Some(VersionMatch::NotOlderThan),
            _ => None,
        };
        invalid_options("ListOptions", &errors)
    }

    fn list_mistakes(&self, version_match: Option<&str>) -> Vec<FieldError> {
        let field = Path::new("resourceVersionMatch");
        let mut errors = Vec::new();
        let mut forbid = |detail: &str| errors.push(FieldError::forbidden(&field, detail));
        if let Some(word) = version_match {
            if self.resource_version.is_none() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if self.continue_token.is_some() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
            if !matches!(word, "Exact" | "NotOlderThan") {
                errors.push(FieldError::not_supported(&field, word, &["Exact", "NotOlderThan", ""]));
            }
            if word == "Exact" && self.resource_version.as_deref() == Some("0") {
                let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(FieldError::forbidden(&field, detail));
            }
        }
        if self.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden(&Path::new("sendInitialEvents"), detail));
        }
        errors
    }

    fn watch_mistakes(&self, version_match: Option<&str>) -> Vec<FieldError> {
        let field = Path::new("resourceVersionMatch");
        let mut errors = Vec::new();
        if self.send_initial_events.is_some() && version_match != Some("NotOlderThan") {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(&field, detail));
        }
        let Some(word) = version_match else { return errors };
        if self.send_initial_events.is_none() {
            let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(&field, detail));
        }
        if word != "NotOlderThan" {
            errors.push(FieldError::not_supported(&field, word, &["NotOlderThan"]));
        }
        if self.continue_token.is_some() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(&field, detail));
        }
        errors
    }

    fn known_fields(&self, definition: &Definition) -> Result<(), Status> {
        let mut known = vec!["metadata.name"];
        if definition.namespaced() {
            known.push("metadata.namespace");
        }
        known.extend(definition.selectable.iter().map(String::as_str));
        match self.fields.fields().find(|field| !known.contains(field)) {
            None => Ok(()),
            Some(field) if definition.unstructured => {
                Err(Status::bad_request(format!("field label not supported: {field}")))
            }
            Some(field) => {
                let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
                Err(Status::bad_request(format!(
                    "{field:?} is not a known field selector: only {}",
                    known.join(", ")
                )))
            }
        }
    }

    /// A name in the path is a field selector.
    fn name(&mut self, name: &str) -> Result<(), Status> {
        if name.is_empty() {
            return Ok(());
        }
        if self.fields.is_empty() {
            self.fields = field_selector(&format!("metadata.name={}", escape(name)))?;
        }
        match self.fields.required("metadata.name") == Some(name) {
            true => Ok(()),
            false => Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name")),
        }
    }

    /// The resource version as a number, zero when there is none.
    ///
    /// # Errors
    /// With upstream's sentence.
    pub fn version(&self) -> Result<u64, String> {
        let Some(text) = &self.resource_version else { return Ok(0) };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|_| digits)
            .ok_or_else(|| format!("resourceVersion: Invalid value: {text:?}: {}", not_a_version(text)))
    }

    /// The resource version of a watch; upstream has an answer of its own for this mistake.
    ///
    /// # Errors
    /// 500 without a reason.
    pub fn watch_version(&self) -> Result<u64, Status> {
        self.version().map_err(|sentence| Status::failure(500, Reason::Unknown, sentence))
    }
}

fn field_selector(text: &str) -> Result<FieldSelector, Status> {
    text.parse().map_err(|error: kube_wire::selector::SelectorError| match error {
        kube_wire::selector::SelectorError::Term(term) => {
            Status::bad_request(format!("invalid selector: '{text}'; can't understand '{term}'"))
        }
        other => Status::bad_request(other.to_string()),
    })
}

fn escape(value: &str) -> String {
    value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=")
}
