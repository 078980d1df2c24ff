//! `FieldsV1`: a tree of JSON objects whose keys are path elements.

use serde_json::{Map, Value};

use super::{super::value::go_json, FieldSet, PathElement};

/// Why `FieldsV1` cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFields {
    /// It has something else than objects.
    #[error("fields must be objects inside objects")]
    NoObject,
    /// A key without a letter and a colon.
    #[error("parsing key as path element: {0:?} has no type and colon")]
    NoElement(String),
    /// A key whose rest is not what its letter says.
    #[error("parsing key as path element: {0:?} is malformed")]
    Malformed(String),
}

impl FieldSet {
    /// Reads `FieldsV1`. Elements of an unknown kind are left out.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn from_fields_v1(fields: &Value) -> Result<Self, InvalidFields> {
        match fields {
            Value::Object(map) => Ok(read(map)?.0.unwrap_or_default()),
            Value::Null => Ok(Self::new()),
            _ => Err(InvalidFields::NoObject),
        }
    }

    /// Writes `FieldsV1`.
    pub fn to_fields_v1(&self) -> Value {
        Value::Object(self.write(false))
    }

    fn write(&self, member: bool) -> Map<String, Value> {
        let mut fields = Map::new();
        if member && !(self.members.is_empty() && self.children.is_empty()) {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for element in self.members.iter().filter(|element| !self.children.contains_key(element)) {
            fields.insert(key(element), Value::Object(Map::new()));
        }
        for (element, child) in &self.children {
            fields.insert(key(element), Value::Object(child.write(self.members.contains(element))));
        }
        fields
    }
}

/// What is in an object, and whether the object itself is a member.
fn read(fields: &Map<String, Value>) -> Result<(Option<FieldSet>, bool), InvalidFields> {
    let mut set: Option<FieldSet> = None;
    let mut member = false;
    for (name, below) in fields {
        if name == "." {
            member = true;
            continue;
        }
        let Some(element) = element(name)? else { continue };
        let (child, is_member) = match below {
            Value::Object(below) => read(below)?,
            Value::Null => (None, true),
            _ => return Err(InvalidFields::NoObject),
        };
        let set = set.get_or_insert_default();
        if is_member {
            set.members.insert(element.clone());
        }
        if let Some(child) = child {
            set.children.insert(element, child);
        }
    }
    member |= set.is_none();
    Ok((set, member))
}

fn element(key: &str) -> Result<Option<PathElement>, InvalidFields> {
    let mut chars = key.chars();
    let (Some(kind), Some(':')) = (chars.next(), chars.next()) else {
        return Err(InvalidFields::NoElement(key.to_owned()));
    };
    let rest = chars.as_str();
    let malformed = || InvalidFields::Malformed(key.to_owned());
    Ok(Some(match kind {
        'f' => PathElement::Field(rest.to_owned()),
        'v' => PathElement::Value(serde_json::from_str(rest).map_err(|_| malformed())?),
        'k' => match serde_json::from_str(rest) {
            Ok(Value::Object(fields)) => PathElement::Key(fields.into_iter().collect()),
            _ => return Err(malformed()),
        },
        'i' => PathElement::Index(rest.parse().map_err(|_| malformed())?),
        _ => return Ok(None),
    }))
}

fn key(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Value(value) => format!("v:{}", go_json(value)),
        PathElement::Key(fields) => {
            let write = |(name, value): &(String, Value)| {
                format!("{}:{}", Value::from(name.as_str()), go_json(value))
            };
            let fields: Vec<_> = fields.iter().map(write).collect();
            format!("k:{{{}}}", fields.join(","))
        }
        PathElement::Index(index) => format!("i:{index}"),
    }
}
