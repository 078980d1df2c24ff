//! Reading the expected values.

use std::path::Path;

use serde::de::DeserializeOwned;

/// The cases of one table; there must be some.
pub(crate) fn cases<T: DeserializeOwned>(table: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{table}.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<T> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty(), "{} has no cases", path.display());
    cases
}
