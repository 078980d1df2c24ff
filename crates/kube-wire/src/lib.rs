//! What goes over the wire of a Kubernetes API: types, negotiation, identity headers, `Status`,
//! ETags, discovery forms. Pure: no I/O, no async runtime, no HTTP library.
//!
//! The words of errors, the order of lists and the rules of parsing are upstream's, because clients
//! and people search for them; the code is not.

pub mod accept;
pub mod discovery;
pub mod encoding;
pub mod etag;
pub mod identity;
pub mod object;
pub mod protobuf;
pub mod query;
pub mod request_info;
pub mod selector;
pub mod status;
pub mod table;
pub mod version;
pub mod yaml;

pub use accept::Accept;
pub use encoding::Encoding;
pub use identity::UserInfo;
pub use request_info::RequestInfo;
pub use status::{Reason, Status, StatusDetails};
