//! Discovery documents: the legacy forms and the aggregated one, and the way between them.

mod convert;
mod encode;
mod protobuf;
pub mod v1;
pub mod v2;

pub use convert::{from_legacy, to_legacy};
pub use encode::encode;

/// Why a legacy document has no aggregated form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A subresource is namespaced and its parent is not, or the other way round.
    #[error("the scopes of {parent} and its subresource {subresource} do not match")]
    Scope {
        /// The parent resource.
        parent: String,
        /// The subresource.
        subresource: String,
    },
}
