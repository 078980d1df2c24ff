//! Where in a document a JSON pointer leads.

use std::fmt;

use serde_json::{Map, Value};

/// "There is nothing there".
pub(super) struct Missing;

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("missing value")
    }
}

/// A place in an object or a list, filled or not.
pub(super) struct Place<'a> {
    container: Container<'a>,
    key: String,
}

enum Container<'a> {
    Object(&'a mut Map<String, Value>),
    List(&'a mut Vec<Value>),
}

impl<'a> Place<'a> {
    /// The place that a pointer names; none when what should hold it is not there.
    pub(super) fn find(document: &'a mut Value, pointer: &str) -> Option<Self> {
        let (_, path) = pointer.split_once('/')?;
        let (above, key) = path.rsplit_once('/').map_or((None, path), |(above, key)| (Some(above), key));
        let mut value = document;
        for token in above.into_iter().flat_map(|above| above.split('/')) {
            value = match value {
                Value::Object(map) => map.get_mut(&unescaped(token))?,
                Value::Array(list) => {
                    let index = existing(&unescaped(token), list.len()).ok()?;
                    list.get_mut(index)?
                }
                _ => return None,
            };
        }
        let container = match value {
            Value::Object(map) => Container::Object(map),
            Value::Array(list) => Container::List(list),
            _ => return None,
        };
        Some(Self { container, key: unescaped(key) })
    }

    /// The last part of the pointer.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// What is there.
    pub(super) fn get(&mut self) -> Result<Option<&Value>, String> {
        match &mut self.container {
            Container::Object(map) => Ok(map.get(&self.key)),
            Container::List(list) => Ok(list.get(existing(&self.key, list.len())?)),
        }
    }

    /// Puts something in; in a list before what is there.
    pub(super) fn add(self, value: Value) -> Result<(), String> {
        match self.container {
            Container::Object(map) => drop(map.insert(self.key, value)),
            Container::List(list) if self.key == "-" => list.push(value),
            Container::List(list) => {
                let number = number(&self.key)
                    .map_err(|why| format!("value was not a proper array index: '{}': {why}", self.key))?;
                // The place after the last element can be named, too.
                let index = within(number, list.len() + 1)?;
                list.insert(index, value);
            }
        }
        Ok(())
    }

    /// Puts something in the place of what is there.
    pub(super) fn set(self, value: Value) -> Result<(), String> {
        match self.container {
            Container::Object(map) => drop(map.insert(self.key, value)),
            Container::List(list) => {
                let index = existing(&self.key, list.len())?;
                if let Some(place) = list.get_mut(index) {
                    *place = value;
                }
            }
        }
        Ok(())
    }

    /// Takes out what is there.
    pub(super) fn remove(self) -> Result<Value, String> {
        match self.container {
            Container::Object(map) => map
                .remove(&self.key)
                .ok_or_else(|| format!("Unable to remove nonexistent key: {}: {Missing}", self.key)),
            Container::List(list) => Ok(list.remove(existing(&self.key, list.len())?)),
        }
    }
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// An index below `len`.
fn existing(key: &str, len: usize) -> Result<usize, String> {
    within(number(key)?, len)
}

/// A number as Go reads it, in its words when it is none.
fn number(key: &str) -> Result<i64, String> {
    let digits = key.strip_prefix(['+', '-']).unwrap_or(key);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.Atoi: parsing {}: invalid syntax", super::super::quoted(key)));
    }
    let out = || format!("strconv.Atoi: parsing {}: value out of range", super::super::quoted(key));
    key.parse().map_err(|_| out())
}

/// Negative numbers count from the end.
fn within(number: i64, len: usize) -> Result<usize, String> {
    let out = || format!("Unable to access invalid index: {number}: invalid index referenced");
    let len = i64::try_from(len).map_err(|_| out())?;
    let index = if number < 0 { number + len } else { number };
    if (0..len).contains(&index) { usize::try_from(index).map_err(|_| out()) } else { Err(out()) }
}
