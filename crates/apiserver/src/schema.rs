//! What the shape of an object is: which fields there are, how lists and maps are merged, who owns what, and
//! for custom resources what values there may be.

mod embedded;
mod shape;
pub mod structural;
pub mod types;
mod validate;

pub use shape::{drop_nulls, prune, set_defaults, shape};
use validate::validate_at;

pub use validate::validate;
