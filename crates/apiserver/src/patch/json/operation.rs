//! The operations of a JSON patch.

use serde_json::{Map, Value};

use super::super::{PatchError, words::json_type};
use super::pointer::Missing;

/// What an operation does.
pub(super) enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Test,
    Copy,
}

/// One operation; nothing about it is checked yet.
pub(super) struct Operation<'a>(Option<&'a Map<String, Value>>);

/// The operations of a patch.
pub(super) fn read(patch: &Value) -> Result<Vec<Operation<'_>>, PatchError> {
    let wrong = |value: &Value, wanted: &str| {
        PatchError::malformed(format!(
            "json: cannot unmarshal {} into Go value of type {wanted}",
            json_type(value)
        ))
    };
    let operations = match patch {
        Value::Null => return Ok(Vec::new()),
        Value::Array(operations) => operations,
        other => return Err(wrong(other, "jsonpatch.Patch")),
    };
    let read = operations.iter().map(|operation| match operation {
        Value::Null => Ok(Operation(None)),
        Value::Object(members) => Ok(Operation(Some(members))),
        other => Err(wrong(other, "jsonpatch.Operation")),
    });
    read.collect()
}

/// What a strict reader finds: members that no operation has.
pub(super) fn findings(patch: &Value) -> Result<Vec<String>, PatchError> {
    let wrong = |value: &Value, wanted: &str| {
        let found = json_type(value);
        PatchError::malformed(format!(
            "error decoding patch: json: cannot unmarshal {found} into Go {wanted}"
        ))
    };
    let operations = match patch {
        Value::Null => return Ok(Vec::new()),
        Value::Array(operations) => operations,
        other => return Err(wrong(other, "value of type []handlers.jsonPatchOp")),
    };
    let mut findings = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        let members = match operation {
            Value::Null => continue,
            Value::Object(members) => members,
            other => return Err(wrong(other, "value of type handlers.jsonPatchOp")),
        };
        for (name, value) in members {
            match &**name {
                "value" => {}
                "op" | "path" | "from" => {
                    if !value.is_string() && !value.is_null() {
                        return Err(wrong(value, &format!("struct field jsonPatchOp.{name} of type string")));
                    }
                }
                other => findings.push(format!("json patch unknown field \"[{number}].{other}\"")),
            }
        }
    }
    Ok(findings)
}

impl<'a> Operation<'a> {
    pub(super) fn kind(&self) -> Result<Kind, PatchError> {
        let word = self.text("op").unwrap_or("unknown");
        Ok(match word {
            "add" => Kind::Add,
            "remove" => Kind::Remove,
            "replace" => Kind::Replace,
            "move" => Kind::Move,
            "test" => Kind::Test,
            "copy" => Kind::Copy,
            other => return Err(PatchError::DoesNotApply(format!("Unexpected kind: {other}"))),
        })
    }

    pub(super) fn path(&self, kind: &str) -> Result<&'a str, PatchError> {
        self.text("path").ok_or_else(|| {
            PatchError::DoesNotApply(format!("{kind} operation failed to decode path: {Missing}"))
        })
    }

    pub(super) fn from(&self, kind: &str) -> Result<&'a str, PatchError> {
        self.text("from").ok_or_else(|| {
            PatchError::DoesNotApply(format!("{kind} operation failed to decode from: {Missing}"))
        })
    }

    pub(super) fn value(&self) -> Option<&'a Value> {
        self.0?.get("value")
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.0?.get(name)?.as_str()
    }
}
