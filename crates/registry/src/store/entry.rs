//! An object as it is kept in memory: as text, in two parts. The tree of a JSON object takes ten times as
//! much, and objects are read rarely; and of the many versions of an object whose status changes, the log
//! keeps but one copy of all the rest.

use std::sync::Arc;

use serde_json::{Value, json};

use super::set_metadata;
use crate::object::Declared;

/// One version of one object.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// All of it but the status and the version.
    object: Arc<str>,
    status: Option<Arc<str>>,
    version: u64,
}

/// The current version of an object, with the object as the registry uses it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) kept: Kept,
    pub(super) declared: Arc<Declared>,
}

impl Kept {
    pub(super) fn new(mut value: Value, version: u64) -> Self {
        let status = value.as_object_mut().and_then(|object| object.remove("status"));
        Self {
            object: value.to_string().into(),
            status: status.map(|status| status.to_string().into()),
            version,
        }
    }

    /// The same with another status.
    pub(super) fn with_status(&self, status: &Arc<str>, version: u64) -> Self {
        Self { object: Arc::clone(&self.object), status: Some(Arc::clone(status)), version }
    }

    /// The same at another version.
    pub(super) fn at(&self, version: u64) -> Self {
        Self { version, ..self.clone() }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn has_status(&self, status: &str) -> bool {
        self.status.as_deref() == Some(status)
    }

    /// The whole object.
    pub(super) fn value(&self) -> Arc<Value> {
        // Both were written here: that they cannot be read does not happen.
        let mut value: Value = serde_json::from_str(&self.object).unwrap_or_default();
        set_metadata(&mut value, "resourceVersion", json!(self.version.to_string()));
        let status = self.status.as_deref().and_then(|status| serde_json::from_str::<Value>(status).ok());
        if let (Some(status), Some(object)) = (status, value.as_object_mut()) {
            object.insert("status".to_owned(), status);
        }
        Arc::new(value)
    }
}

impl Entry {
    pub(super) fn value(&self) -> Arc<Value> {
        self.kept.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_with_the_status_and_version_of_the_moment() {
        let value = json!({ "metadata": { "name": "a", "resourceVersion": "1" }, "status": { "n": 1 } });
        let first = Kept::new(value.clone(), 1);
        assert_eq!(*first.value(), value);
        assert!(first.has_status(r#"{"n":1}"#));
        let second = first.with_status(&r#"{"n":2}"#.into(), 2);
        let expected = json!({ "metadata": { "name": "a", "resourceVersion": "2" }, "status": { "n": 2 } });
        assert_eq!(*second.value(), expected);
        assert!(Arc::ptr_eq(&first.object, &second.object), "but one copy of all the rest");
        assert_eq!(*first.value(), value, "the older version is what it was");
    }
}
