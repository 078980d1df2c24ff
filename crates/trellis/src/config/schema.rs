//! The published JSON schema of the configuration file.

use serde_json::Value;

use super::ServeOptions;

/// The schema, made from the types; a copy is kept as `schema/door-config.schema.json`.
pub(crate) fn schema() -> Value {
    schemars::schema_for!(ServeOptions).to_value()
}

#[cfg(test)]
mod tests {
    /// The copy in the repository is what editors and other tools use; `UPDATE_EXPECT=1` renews it.
    #[test]
    fn the_published_schema_is_this_one() {
        let text = serde_json::to_string_pretty(&super::schema()).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../../schema/door-config.schema.json"].assert_eq(&text);
    }
}
