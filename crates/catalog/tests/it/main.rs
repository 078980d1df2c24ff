//! Tests of the catalog through its public face.

mod bounds;
mod documents;
mod openapi_index;
mod properties;
mod reuse;
mod scenario;
mod support;
