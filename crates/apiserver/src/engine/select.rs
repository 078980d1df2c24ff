//! Which objects a selector means, without reading more of them than it asks about.

use std::{borrow::Cow, collections::BTreeMap};

use kube_wire::selector::{FieldSelector, LabelSelector};
use serde::Deserialize;

use crate::{
    object::text,
    resource::{Fields, text_at},
    storage::Key,
};

/// Selectors of a list or a watch.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    /// Whether the fields are other ones than those that the key says.
    deep: bool,
}

#[derive(Deserialize)]
struct Labelled {
    #[serde(default)]
    metadata: Labels,
}

#[derive(Default, Deserialize)]
struct Labels {
    #[serde(default, deserialize_with = "kube_wire::object::null_default")]
    labels: BTreeMap<String, String>,
}

impl Selection {
    /// By labels and fields.
    pub fn new(labels: LabelSelector, fields: FieldSelector) -> Self {
        let deep = fields.fields().any(|field| !matches!(field, "metadata.name" | "metadata.namespace"));
        Self { labels, fields, deep }
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The name that it pins down.
    pub fn name(&self) -> Option<&str> {
        self.fields.required("metadata.name")
    }

    /// Whether it selects the object with these bytes.
    pub fn takes(&self, key: &Key, value: &[u8]) -> bool {
        if self.is_empty() {
            return true;
        }
        if self.deep {
            return serde_json::from_slice::<Fields>(value).is_ok_and(|fields| self.takes_fields(&fields));
        }
        let by_key = self.fields.matches(|field| match field {
            "metadata.name" => Cow::Borrowed(key.name()),
            _ => Cow::Borrowed(key.namespace().unwrap_or_default()),
        });
        by_key
            && (self.labels.is_empty()
                || serde_json::from_slice::<Labelled>(value)
                    .is_ok_and(|object| self.labels.matches(&object.metadata.labels)))
    }

    fn takes_fields(&self, object: &Fields) -> bool {
        let labels = || {
            let labels = object.get("metadata").and_then(|metadata| metadata.get("labels"));
            labels.and_then(|labels| BTreeMap::deserialize(labels).ok()).unwrap_or_default()
        };
        let fields = self.fields.matches(|field| match field {
            "metadata.name" | "metadata.namespace" => Cow::Borrowed(text(object, field)),
            other => text_at(object, other),
        });
        fields && (self.labels.is_empty() || self.labels.matches(&labels()))
    }
}
