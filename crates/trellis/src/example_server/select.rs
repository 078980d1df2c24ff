//! Which notes a list or a watch is about: label and field selectors.

use std::{borrow::Cow, collections::BTreeMap, str::FromStr};

use kube_wire::{
    RequestInfo, Status,
    selector::{FieldSelector, LabelSelector, SelectorError},
};
use serde_json::Value;

/// The selectors of a request.
pub(super) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// Reads the selectors; only name and namespace can be selected by field.
    pub(super) fn of(info: &RequestInfo<'_>) -> Result<Self, Status> {
        let (labels, fields) = (parse(&info.label_selector)?, parse::<FieldSelector>(&info.field_selector)?);
        if let Some(field) = fields.fields().find(|field| metadata_field(field).is_none()) {
            return Err(Status::bad_request(format!("field label not supported: {field}")));
        }
        Ok(Self { labels, fields })
    }

    /// Whether a note is selected.
    pub(super) fn takes(&self, note: &Value) -> bool {
        let metadata = &note["metadata"];
        let field = |name: &str| {
            Cow::Borrowed(metadata_field(name).and_then(|field| metadata[field].as_str()).unwrap_or_default())
        };
        self.fields.matches(field) && (self.labels.is_empty() || self.labels.matches(&labels(metadata)))
    }
}

fn parse<S: FromStr<Err = SelectorError>>(text: &str) -> Result<S, Status> {
    text.parse().map_err(|error: SelectorError| Status::bad_request(error.to_string()))
}

fn labels(metadata: &Value) -> BTreeMap<String, String> {
    let entries = metadata["labels"].as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn metadata_field(selector: &str) -> Option<&'static str> {
    match selector {
        "metadata.name" => Some("name"),
        "metadata.namespace" => Some("namespace"),
        _ => None,
    }
}
