//! A finished answer: bytes, entity tag and content type, made once and shared by all requests.

use bytes::Bytes;
use kube_wire::etag;

/// A document as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The body.
    pub body: Bytes,
    /// Strong entity tag with its quotes, 128 upper-case hexadecimal digits: SHA-512 of the body, or of the
    /// tags of the parts that the body consists of.
    pub etag: String,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
}

impl Document {
    /// Plain JSON.
    pub const JSON: &'static str = "application/json";

    /// The aggregated form of discovery, its parameters in the order that clients compare.
    pub const AGGREGATED: &'static str = kube_wire::discovery::v2::CONTENT_TYPE;
    /// The same in YAML.
    pub const AGGREGATED_YAML: &'static str =
        "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    /// The same in protobuf.
    pub const AGGREGATED_PROTOBUF: &'static str =
        "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

    /// Hashes `body`.
    pub fn new(body: impl Into<Bytes>, content_type: &'static str) -> Self {
        let body = body.into();
        Self { etag: etag::strong(&body), body, content_type }
    }

    /// Hashes `tags`, which name all the content of `body`: a large document of parts that are hashed
    /// already costs next to nothing when one of them changes.
    pub(crate) fn of_parts(body: impl Into<Bytes>, tags: &str, content_type: &'static str) -> Self {
        Self { body: body.into(), etag: etag::strong(tags.as_bytes()), content_type }
    }
}

/// The two forms of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `APIVersions`, `APIGroupList`, `APIGroup`, `APIResourceList`.
    Legacy,
    /// `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`.
    Aggregated,
}
