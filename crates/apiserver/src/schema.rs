//! What the shape of an object is: which fields there are, how lists and maps are merged, who owns what.

pub mod types;
