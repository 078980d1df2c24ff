//! Tests of the catalog through its public face.

mod bounds;
mod documents;
mod openapi_edition;
mod openapi_index;
mod openapi_merge;
mod openapi_properties;
mod openapi_protobuf;
mod openapi_support;
mod openapi_v3;
mod properties;
mod reuse;
mod scenario;
mod support;
