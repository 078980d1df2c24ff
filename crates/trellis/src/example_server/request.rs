//! One request to the notes, read once: who, what, with which options.

use bytes::Bytes;
use http::{HeaderMap, header};
use kube_wire::{RequestInfo, Status, UserInfo, query};

use super::{
    answer::Shape,
    apply::Writer,
    note::{FieldValidation, GROUP, RESOURCE},
    store::{Key, Store},
};

/// A request about notes.
pub(super) struct Call<'a> {
    /// The notes.
    pub(super) store: &'a std::sync::Arc<Store>,
    /// Who asks.
    pub(super) user: &'a UserInfo,
    /// Verb, namespace and name.
    pub(super) info: &'a RequestInfo<'a>,
    /// The query, without `?`.
    pub(super) query: &'a str,
    /// The headers.
    pub(super) headers: &'a HeaderMap,
    /// The body, whole.
    pub(super) body: &'a Bytes,
    /// RFC 3339.
    pub(super) now: String,
}

impl Call<'_> {
    /// The first value of a query parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        query::first(self.query, name).map(|value| value.into_owned()).filter(|value| !value.is_empty())
    }

    /// The note that the path names.
    pub(super) fn key(&self) -> Key {
        (self.info.namespace.to_string(), self.info.name.to_string())
    }

    /// The namespace, unless the request spans all.
    pub(super) fn namespace(&self) -> Option<&str> {
        Some(&*self.info.namespace).filter(|namespace| !namespace.is_empty())
    }

    /// `?dryRun=All`.
    pub(super) fn dry_run(&self) -> Result<bool, Status> {
        match self.parameter("dryRun").as_deref() {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => Err(Status::bad_request(format!(
                "dryRun: Unsupported value: {other:?}: supported values: \"All\""
            ))),
        }
    }

    /// `?fieldValidation=`.
    pub(super) fn field_validation(&self) -> Result<FieldValidation, Status> {
        FieldValidation::parse(self.parameter("fieldValidation").as_deref())
    }

    /// `?fieldManager=`, or what the user agent begins with.
    pub(super) fn manager(&self) -> String {
        self.parameter("fieldManager").unwrap_or_else(|| {
            let agent = self.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
            agent.and_then(|agent| agent.split('/').next()).unwrap_or("unknown").to_owned()
        })
    }

    /// Who writes.
    pub(super) fn writer<'b>(&'b self, manager: &'b str) -> Writer<'b> {
        Writer { manager, time: &self.now, force: query::flag(self.query, "force") }
    }

    /// The form in which the answer is wanted.
    pub(super) fn shape(&self) -> Result<Shape, Status> {
        Shape::negotiate(self.headers, self.query)
    }

    /// The MIME type of the body, without parameters.
    pub(super) fn content_type(&self) -> &str {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.and_then(|value| value.split(';').next()).map_or("", str::trim)
    }

    /// 404 for the note that the path names.
    pub(super) fn not_found(&self) -> Status {
        Status::not_found(RESOURCE, GROUP, &self.info.name)
    }
}
