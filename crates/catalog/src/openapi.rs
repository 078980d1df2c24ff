//! OpenAPI documents of many servers: one Swagger 2.0 document made of all of theirs, in JSON and in
//! protobuf, and a v3 document for each group version of a server that has only Swagger.
//!
//! Documents are taken apart at their top level only. Paths and definitions stay text until one of
//! them must be changed, so that a merge needs the memory of its result and of one source. A merge is
//! made when somebody asks for it, outside the async hot path.

mod claim;
mod convert;
mod gvk;
mod identity;
mod merge;
mod names;
mod of_catalog;
mod parts;
mod plan;
mod proto;
mod refs;
mod schema;

pub use claim::{Claim, Owner};
pub use convert::v2_to_v3;
pub use merge::{MergedV2, Skipped, Source, merge_v2};
pub use proto::encode as encode_v2;

/// `Content-Type` of the Swagger document in protobuf, as upstream answers.
pub const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The name of the same type under which kubectl asks for it.
pub const V2_PROTOBUF_ACCEPTED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Definitions, parameters and responses of one document.
pub const MAX_COMPONENTS: usize = 50_000;
/// Bytes of a merged document.
pub const MAX_MERGED_BYTES: usize = 256 << 20;

/// Why a document cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenApiError {
    /// The store does not give it.
    #[error("cannot read OpenAPI document {hash}: {source}")]
    Read {
        /// Hash of the document.
        hash: String,
        /// The store's error.
        source: std::io::Error,
    },
    /// It is not UTF-8.
    #[error("the OpenAPI document is not text: {0}")]
    Text(#[from] std::str::Utf8Error),
    /// It is not JSON, or nested too deeply.
    #[error("the OpenAPI document is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It does not say `"swagger": "2.0"`.
    #[error("the OpenAPI document is not of version 2.0")]
    Version,
    /// It has more definitions, parameters and responses than [`MAX_COMPONENTS`].
    #[error("the OpenAPI document has more than {MAX_COMPONENTS} definitions")]
    TooMany,
    /// The merged document would be larger than [`MAX_MERGED_BYTES`].
    #[error("the merged OpenAPI document would be larger than {MAX_MERGED_BYTES} bytes")]
    TooLarge,
}
