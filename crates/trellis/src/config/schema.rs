//! The published JSON schema of the configuration file.

use serde_json::Value;

use super::ServeOptions;

/// The schema, made from the types; a copy is kept as `schema/door-config.schema.json`.
pub(crate) fn schema() -> Value {
    let mut schema = schemars::schema_for!(ServeOptions).to_value();
    for property in schema["properties"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        only_given_values(property);
    }
    schema
}

/// Takes out the null that stands for a key that is not there: whoever writes a key gives a value.
fn only_given_values(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    if fields.get("default").is_some_and(|default| default.is_null() || *default == Value::Array(Vec::new()))
    {
        fields.remove("default");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only);
        }
    }
}
