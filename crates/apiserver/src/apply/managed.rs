//! `metadata.managedFields`: who set what, how, and when.

use std::collections::BTreeMap;

use kube_wire::object::time;
use serde_json::{Map, Value, json};

use super::{MAX_MANAGER, fields::FieldSet};

const APPLY: &str = "Apply";
const UPDATE: &str = "Update";

/// Who: an applier is the same one in all versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerId {
    /// All of it in one text, which also gives the order.
    key: String,
    pub(super) manager: String,
    pub(super) operation: String,
    /// Empty for appliers.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

/// What somebody has set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owned {
    pub(super) fields: FieldSet,
    pub(super) api_version: String,
    pub(super) applied: bool,
}

/// All managers of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managed {
    pub(super) owned: BTreeMap<ManagerId, Owned>,
    /// RFC 3339 times of the last change.
    pub(super) times: BTreeMap<ManagerId, String>,
}

impl ManagerId {
    pub(super) fn applier(manager: &str, subresource: &str) -> Self {
        Self::new(manager, APPLY, "", subresource)
    }

    pub(super) fn updater(manager: &str, api_version: &str, subresource: &str) -> Self {
        Self::new(manager, UPDATE, api_version, subresource)
    }

    /// The update that is going on. It is nobody else's identifier, because it is no JSON.
    pub(super) fn current() -> Self {
        Self { key: "current-operation".to_owned(), ..Self::updater("", "", "") }
    }

    fn new(manager: &str, operation: &str, api_version: &str, subresource: &str) -> Self {
        let pairs = [
            ("manager", manager),
            ("operation", operation),
            ("apiVersion", api_version),
            ("subresource", subresource),
        ];
        let pairs: Vec<_> = pairs
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("\"{name}\":{}", super::value::go_json(&Value::from(value))))
            .collect();
        Self {
            key: format!("{{{}}}", pairs.join(",")),
            manager: manager.to_owned(),
            operation: operation.to_owned(),
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    pub(super) fn applies(&self) -> bool {
        self.operation == APPLY
    }
}

impl Managed {
    /// Reads the entries.
    pub(super) fn read(entries: &[Value]) -> Result<Self, String> {
        let mut managed = Self::default();
        for (number, entry) in entries.iter().enumerate() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            let (operation, api_version) = (text("operation"), text("apiVersion"));
            if ![APPLY, UPDATE].contains(&operation) {
                return Err("operation must be `Apply` or `Update`".to_owned());
            }
            if api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {number}")),
                other => {
                    return Err(format!("invalid fieldsType {other:?} in managed fields entry {number}"));
                }
            }
            let applied = operation == APPLY;
            let id = match applied {
                true => ManagerId::applier(text("manager"), text("subresource")),
                false => ManagerId::updater(text("manager"), api_version, text("subresource")),
            };
            let fields = FieldSet::from_fields_v1(&entry["fieldsV1"]).map_err(|error| error.to_string())?;
            managed.owned.insert(id.clone(), Owned { fields, api_version: api_version.to_owned(), applied });
            if let Some(time) = entry["time"].as_str() {
                managed.times.insert(id, time.to_owned());
            }
        }
        Ok(managed)
    }

    /// Writes the entries: appliers first, then by time and name.
    pub(super) fn write(&self) -> Vec<Value> {
        let mut entries: Vec<_> = self.owned.iter().collect();
        entries.sort_by_cached_key(|(id, owned)| {
            let operation = if owned.applied { APPLY } else { &*id.operation };
            let (name, version) = (id.manager.clone(), owned.api_version.clone());
            (operation.to_owned(), self.seconds(id), name, version, id.subresource.clone())
        });
        entries.into_iter().map(|(id, owned)| self.entry(id, owned)).collect()
    }

    fn entry(&self, id: &ManagerId, owned: &Owned) -> Value {
        let operation = if owned.applied { APPLY } else { &*id.operation };
        let mut entry = Map::from_iter([
            ("operation".to_owned(), json!(operation)),
            ("apiVersion".to_owned(), json!(owned.api_version)),
            ("fieldsType".to_owned(), json!("FieldsV1")),
            ("fieldsV1".to_owned(), owned.fields.to_fields_v1()),
        ]);
        let optional = [("manager", &id.manager), ("subresource", &id.subresource)];
        let time = self.times.get(id).map(|time| ("time", time));
        for (name, value) in optional.into_iter().chain(time) {
            if !value.is_empty() {
                entry.insert(name.to_owned(), json!(value));
            }
        }
        Value::Object(entry)
    }

    /// When a manager last changed something, in seconds.
    pub(super) fn seconds(&self, id: &ManagerId) -> i64 {
        self.times.get(id).and_then(|time| time::parse(time)).unwrap_or(0)
    }
}

/// The manager of a write that names none: the product in the user agent, printable characters only.
pub fn manager_from_user_agent(user_agent: &str) -> String {
    let mut manager = String::new();
    for c in user_agent.split('/').next().unwrap_or_default().chars() {
        // Of spaces, Go's `unicode.IsPrint` has only the one in ASCII.
        if c.is_control() || (c.is_whitespace() && c != ' ') {
            continue;
        }
        if manager.len() + c.len_utf8() > MAX_MANAGER {
            break;
        }
        manager.push(c);
    }
    manager
}
