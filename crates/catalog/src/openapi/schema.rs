//! Schemas of Swagger 2.0 in the words of OpenAPI 3.0.

use serde_json::{Map, Value, json};

use super::refs;

const OLD: [(&str, &str); 2] =
    [("#/definitions/", "#/components/schemas/"), ("#/responses/", "#/components/responses/")];

/// The schema with references into `components`, none of which has siblings: a reference with, say, a
/// description becomes `allOf`.
pub(super) fn convert(mut schema: Value) -> Value {
    refs::visit(&mut schema, &mut |reference| {
        for (old, new) in OLD {
            if let Some(name) = reference.strip_prefix(old) {
                *reference = format!("{new}{name}");
            }
        }
    });
    wrap(&mut schema);
    if schema.get("type").is_some_and(|kind| kind == "file") {
        return json!({"type": "string", "format": "binary"});
    }
    schema
}

/// Only where schemas stand: a property may be called `$ref`.
fn wrap(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for (key, value) in fields.iter_mut() {
        match (&**key, value) {
            ("properties" | "patternProperties", Value::Object(properties)) => {
                properties.values_mut().for_each(wrap);
            }
            ("allOf" | "items", Value::Array(schemas)) => schemas.iter_mut().for_each(wrap),
            ("items" | "additionalProperties" | "additionalItems", schema) => wrap(schema),
            _ => {}
        }
    }
    if fields.len() > 1
        && let Some(reference @ Value::String(_)) = fields.remove("$ref")
    {
        fields.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
}

/// What describes the value of a parameter or header that is no body.
const SIMPLE: [&str; 17] = [
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "collectionFormat",
];

/// Takes the description of the value out of a parameter or header.
pub(super) fn take_simple(fields: &mut Map<String, Value>) -> Value {
    let taken = SIMPLE.iter().filter_map(|key| Some(((*key).to_owned(), fields.remove(*key)?)));
    let mut schema = Value::Object(taken.collect());
    let mut level = Some(&mut schema);
    while let Some(Value::Object(fields)) = level {
        // Version 3 says by other means how lists are written.
        fields.remove("collectionFormat");
        level = fields.get_mut("items");
    }
    schema
}
