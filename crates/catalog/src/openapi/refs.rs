//! References between the pieces of a document: `{"$ref": "#/definitions/NAME"}`.

use std::{borrow::Cow, collections::HashMap, fmt};

use kube_wire::query;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::{
    OpenApiError,
    parts::{Name, Section},
};

/// The targets of all references in a piece, in order, doubles included.
pub(super) fn collect(text: &RawValue) -> Result<Vec<(Section, String)>, OpenApiError> {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text.get());
    Collector { found: &mut found, is_reference: false }.deserialize(&mut reader)?;
    Ok(found)
}

/// The section and the name that a reference means.
pub(super) fn target(reference: &str) -> Option<(Section, Cow<'_, str>)> {
    let (section, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let section = Section::ALL.into_iter().find(|known| known.key() == section)?;
    let name = query::decode_path(name)?;
    if !name.contains('~') {
        return Some((section, name));
    }
    Some((section, Cow::Owned(name.replace("~1", "/").replace("~0", "~"))))
}

/// Which pieces get another name: the old name, and what is appended to it.
pub(super) type Renames = HashMap<(Section, String), String>;

/// Lets every reference to a renamed piece mean its new name.
pub(super) fn rename(value: &mut Value, renames: &Renames) {
    visit(value, &mut |reference| {
        if let Some((section, name)) = target(reference)
            && let Some(suffix) = renames.get(&(section, name.into_owned()))
        {
            reference.push_str(suffix);
        }
    });
}

/// Calls `change` with every reference.
pub(super) fn visit(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(reference) if key == "$ref" => change(reference),
                    value => visit(value, change),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, change)),
        _ => {}
    }
}

/// Reads a value and keeps nothing of it but the references.
struct Collector<'f> {
    found: &'f mut Vec<(Section, String)>,
    is_reference: bool,
}

impl<'de> DeserializeSeed<'de> for Collector<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Collector<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.is_reference
            && let Some((section, name)) = target(text)
        {
            self.found.push((section, name.into_owned()));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(key)) = map.next_key()? {
            map.next_value_seed(Collector { found: &mut *self.found, is_reference: key == "$ref" })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Collector { found: &mut *self.found, is_reference: false })?.is_some() {
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
