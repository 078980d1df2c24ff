//! What the query asks for.

use std::time::Duration;

use http::{header, request::Parts};
use kube_wire::{
    RequestInfo, Status, query,
    selector::{FieldSelector, LabelSelector},
    status::StatusCause,
    table::IncludeObject,
};

/// Longest name of a field manager.
const MAX_MANAGER: usize = 128;

/// What to do with fields that do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// The parameters that this API knows.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) dry_run: bool,
    pub(super) validation: FieldValidation,
    /// As given; none: the first word of the user agent.
    pub(super) given_manager: Option<String>,
    pub(super) manager: String,
    pub(super) force: bool,
    pub(super) labels: LabelSelector,
    /// The name that a field selector asks for, and the one that it excludes by being impossible.
    pub(super) fields: FieldSelector,
    pub(super) resource_version: String,
    pub(super) send_initial_events: Option<bool>,
    pub(super) bookmarks: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) include_object: IncludeObject,
}

impl Options {
    pub(super) fn parse(parts: &Parts, info: &RequestInfo<'_>) -> Result<Self, Status> {
        let text = parts.uri.query().unwrap_or_default();
        let get = |key: &str| query::first(text, key).unwrap_or_default();
        let bad = |error: kube_wire::selector::SelectorError| Status::bad_request(error.to_string());
        let labels = info.label_selector.parse().map_err(bad)?;
        let fields: FieldSelector = info.field_selector.parse().map_err(bad)?;
        if let Some(other) = fields.fields().find(|field| *field != "metadata.name") {
            return Err(Status::bad_request(format!("field label not supported: {other}")));
        }
        let given_manager = Some(get("fieldManager").into_owned()).filter(|manager| !manager.is_empty());
        if given_manager.as_ref().is_some_and(|manager| manager.len() > MAX_MANAGER) {
            return Err(invalid("fieldManager", "may not be longer than 128"));
        }
        let manager = given_manager.clone().unwrap_or_else(|| user_agent(parts));
        Ok(Self {
            dry_run: match &*get("dryRun") {
                "" => false,
                "All" => true,
                other => {
                    return Err(invalid(
                        "dryRun",
                        &format!("Unsupported value: {other:?}: supported values: \"All\""),
                    ));
                }
            },
            validation: match &*get("fieldValidation") {
                "" | "Warn" => FieldValidation::Warn,
                "Strict" => FieldValidation::Strict,
                "Ignore" => FieldValidation::Ignore,
                other => {
                    let why = format!(
                        "Unsupported value: {other:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
                    );
                    return Err(invalid("fieldValidation", &why));
                }
            },
            given_manager,
            manager,
            force: truth(&get("force")),
            labels,
            fields,
            resource_version: get("resourceVersion").into_owned(),
            send_initial_events: Some(get("sendInitialEvents")).filter(|v| !v.is_empty()).map(|v| truth(&v)),
            bookmarks: truth(&get("allowWatchBookmarks")),
            timeout: get("timeoutSeconds")
                .parse()
                .ok()
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            include_object: IncludeObject::parse(&get("includeObject")).ok_or_else(|| {
                Status::bad_request(format!("invalid includeObject: {}", get("includeObject")))
            })?,
        })
    }
}

fn truth(word: &str) -> bool {
    matches!(word, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

fn user_agent(parts: &Parts) -> String {
    let agent =
        parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let first = agent.split('/').next().unwrap_or_default();
    let short: String = first.chars().take(MAX_MANAGER).collect();
    if short.is_empty() { "unknown".to_owned() } else { short }
}

/// 422 for an option.
pub(super) fn invalid(field: &str, why: &str) -> Status {
    let cause = StatusCause {
        reason: "FieldValueInvalid".to_owned(),
        message: why.to_owned(),
        field: field.to_owned(),
    };
    Status::invalid("PatchOptions", "meta.k8s.io", "", vec![cause])
}
