//! Whether an object fits a form, and what is left of it when it is made to.

use kube_wire::object::time;
use serde_json::Value;

use super::{Form, Kind};
use crate::validation::{FieldError, Path};

/// Why an object does not fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// It cannot be read: the rest of a sentence that says where it comes from.
    Type(String),
    /// It can be read, and a field has a value that is none of those there are.
    Choice(Box<FieldError>),
}

/// Checks the types of an object's values. Fields that are not known and those that are `null` are taken
/// out, times are written as upstream writes them. `package` is the version, for the names of structs.
///
/// # Errors
/// For the first value that does not fit.
pub fn fit(form: &Form, package: &str, object: &mut Value) -> Result<(), Misfit> {
    let mut place = Place { form, package, owner: String::new(), path: String::new() };
    place.value(form.root(), object)
}

struct Place<'f> {
    form: &'f Form,
    package: &'f str,
    /// The innermost struct.
    owner: String,
    /// Fields from the object on, without keys of maps and places in lists.
    path: String,
}

impl Place<'_> {
    fn value(&mut self, kind: &Kind, value: &mut Value) -> Result<(), Misfit> {
        let fits = match (self.form.resolve(kind), &*value) {
            (Kind::Any, _) | (_, Value::Null) => return Ok(()),
            (Kind::Text(_) | Kind::Choice(_) | Kind::Time, Value::String(_))
            | (Kind::Boolean, Value::Bool(_))
            | (Kind::Number, Value::Number(_))
            | (Kind::List(_), Value::Array(_))
            | (Kind::Map(_) | Kind::Struct(_) | Kind::Named(_), Value::Object(_)) => true,
            (Kind::Integer(_), Value::Number(number)) => number.is_i64(),
            _ => false,
        };
        if !fits {
            return Err(self.wrong_type(kind, value));
        }
        match value {
            Value::String(text) => self.text(kind, text),
            Value::Array(items) => {
                let element = self.form.element(kind).clone();
                items.iter_mut().try_for_each(|item| self.value(&element, item))
            }
            Value::Object(fields) => {
                fields.retain(|_, value| !value.is_null());
                match self.form.fields_of(kind).cloned() {
                    Some(known) => {
                        if !known.open {
                            fields.retain(|name, _| known.fields.contains_key(name));
                        }
                        let (owner, depth) = (self.owner.clone(), self.path.len());
                        for (name, value) in fields.iter_mut() {
                            let Some(kind) = known.fields.get(name) else { continue };
                            self.owner.clone_from(&known.name);
                            self.path.push('.');
                            self.path.push_str(name);
                            self.value(kind, value)?;
                            self.path.truncate(depth);
                        }
                        self.owner = owner;
                        Ok(())
                    }
                    None => {
                        let Kind::Map(values) = kind else { return Ok(()) };
                        fields.values_mut().try_for_each(|value| self.value(values, value))
                    }
                }
            }
            _ => Ok(()),
        }
    }

    fn text(&self, kind: &Kind, text: &mut String) -> Result<(), Misfit> {
        match kind {
            Kind::Time => match time::parse(text) {
                Some(seconds) => {
                    *text = time::format(seconds);
                    Ok(())
                }
                None => Err(Misfit::Type(format!(
                    "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""
                ))),
            },
            Kind::Choice(words) if !words.contains(text) => {
                let path = Path::new(self.path.trim_start_matches('.'));
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                Err(Misfit::Choice(Box::new(FieldError::not_supported(&path, &*text, &words))))
            }
            _ => Ok(()),
        }
    }

    fn wrong_type(&self, kind: &Kind, value: &Value) -> Misfit {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if !number.is_i64() && matches!(kind, Kind::Integer(_)) => {
                format!("number {number}")
            }
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let of = self.type_name(kind);
        match &*self.owner {
            "" => Misfit::Type(format!("json: cannot unmarshal {found} into Go value of type {of}")),
            owner => Misfit::Type(format!(
                "json: cannot unmarshal {found} into Go struct field {owner}{} of type {of}",
                self.path
            )),
        }
    }

    /// The type as Go writes it.
    fn type_name(&self, kind: &Kind) -> String {
        match kind {
            Kind::Any => "interface {}".to_owned(),
            Kind::Text(name) | Kind::Integer(name) => (*name).to_owned(),
            Kind::Choice(_) => "string".to_owned(),
            Kind::Boolean => "bool".to_owned(),
            Kind::Number => "float64".to_owned(),
            Kind::Time => "string".to_owned(),
            Kind::List(element) => format!("[]{}", self.type_name(element)),
            Kind::Map(values) => format!("map[string]{}", self.type_name(values)),
            // The common structs are of meta/v1.
            Kind::Struct(fields) if fields.name.ends_with("Meta") || fields.name == "OwnerReference" => {
                format!("v1.{}", fields.name)
            }
            Kind::Struct(fields) => format!("{}.{}", self.package, fields.name),
            Kind::Named(name) => format!("{}.{name}", self.package),
        }
    }
}
