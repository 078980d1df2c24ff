//! What a server asks the core that it stands beside: whose a token is, who may do what, which namespaces
//! there are, and whose certificates count.
//!
//! So a server that is reached without a door before it knows its callers as kube-apiserver does. Its own
//! account needs what upstream's servers need: the cluster role `system:auth-delegator`, the role
//! `extension-apiserver-authentication-reader` in `kube-system`, and `get` on namespaces.

mod access;
mod client;
mod kubeconfig;
mod memo;
mod namespaces;
mod published;
mod tokens;

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use futures_util::Stream;
use serde::de::DeserializeOwned;

use crate::hooks::Later;

pub use access::AccessReviews;
pub use client::{Client, Connection, Credential};
pub use kubeconfig::InvalidKubeconfig;
pub use namespaces::CoreNamespaces;
pub use published::{Published, PublishedError};
pub use tokens::TokenReviews;

/// How long the core's yes to a review is believed, as upstream has it.
const KEEP_YES: Duration = Duration::from_secs(10);
/// How long its no is: what was just permitted should not wait.
const KEEP_NO: Duration = Duration::from_secs(3);
/// How long a core that does not answer is left alone with the same question.
const KEEP_FAILURE: Duration = Duration::from_secs(1);

/// Lines of a watch, without the line feed.
pub type Lines = Pin<Box<dyn Stream<Item = Result<Bytes, CoreError>> + Send>>;

/// Reaches the core under the server's own identity. Paths begin with a slash and may have a query.
pub trait Core: Send + Sync {
    /// Gets a document.
    ///
    /// # Errors
    /// When there is no answer in bounded time, or one that is no success.
    fn get<'a>(&'a self, path: &'a str) -> Later<'a, Result<Bytes, CoreError>>;

    /// Posts JSON and gives the body of the answer.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn post<'a>(&'a self, path: &'a str, body: Bytes) -> Later<'a, Result<Bytes, CoreError>>;

    /// Begins a watch.
    ///
    /// # Errors
    /// As [`get`](Self::get); the lines have errors of their own.
    fn watch<'a>(&'a self, path: &'a str) -> Later<'a, Result<Lines, CoreError>>;
}

/// Why the core did not answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CoreError {
    /// No connection came about.
    #[error("cannot connect to the core: {0}")]
    Connect(String),
    /// The connection broke.
    #[error("the connection to the core broke: {0}")]
    Broken(String),
    /// It took too long.
    #[error("the core did not answer in time")]
    Timeout,
    /// It answered, but not with a success.
    #[error("the core answered {code}: {message}")]
    Refused {
        /// HTTP status.
        code: u16,
        /// The beginning of the answer.
        message: String,
    },
    /// It answered with more than is ever needed.
    #[error("the answer of the core has more than {0} bytes")]
    TooLarge(usize),
    /// It answered something else than was asked for.
    #[error("the answer of the core cannot be read: {0}")]
    Unreadable(String),
    /// The server's own credential cannot be read.
    #[error("the credential for the core: {0}")]
    Credential(String),
}

fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, CoreError> {
    serde_json::from_slice(answer).map_err(|error| CoreError::Unreadable(error.to_string()))
}
