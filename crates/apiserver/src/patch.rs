//! Changes of an object that a client describes: JSON patch (RFC 6902), merge patch (RFC 7386) and strategic
//! merge patch, as kube-apiserver carries them out, quirks and texts included.
//!
//! What is here takes and gives JSON values. Reading the body comes before, defaults, validation and the
//! check of the name after.

mod error;
mod json;
mod merge;
mod strategic;
mod words;

pub use error::PatchError;
pub use json::json_patch;
pub use merge::merge_patch;
pub use strategic::strategic_merge_patch;
pub(crate) use words::{go_type, go_value, quoted};

use serde_json::Value;

/// Operations in one JSON patch.
pub const MAX_OPERATIONS: usize = 10_000;
/// Bytes by which the `copy` operations of one JSON patch may grow a document.
pub const MAX_COPIED: usize = 3 << 20;
/// Objects and lists inside each other.
pub const MAX_DEPTH: usize = 120;

/// A document after a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// What became of it.
    pub document: Value,
    /// What a strict reader has against the patch: unknown fields of operations.
    pub findings: Vec<String>,
}

/// How many objects and lists are inside each other; at most `limit` + 1 is told apart.
fn depth(value: &Value, limit: usize, budget: &mut usize) -> usize {
    let deepest = |depths: &mut dyn Iterator<Item = usize>| 1 + depths.max().unwrap_or(0);
    if limit == 0 {
        return usize::from(value.is_array() || value.is_object());
    }
    *budget = budget.saturating_sub(1);
    match value {
        Value::Array(items) => deepest(&mut items.iter().map(|item| depth(item, limit - 1, budget))),
        Value::Object(map) => deepest(&mut map.values().map(|item| depth(item, limit - 1, budget))),
        _ => 0,
    }
}
