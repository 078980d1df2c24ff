//! Opens a connection to an endpoint of a backend, and says why when it cannot.
//!
//! [`TlsSetup`] is built once for each revision of a server, [`connect`] opens one connection with
//! it, and [`Client`] carries the few requests that the door makes on its own account over one kept
//! connection. The data path keeps its own pools on top of [`connect`].

mod call;
mod client;
mod connect;
mod failure;
mod io;
mod read_ahead;
mod setup;
mod tcp;

pub use call::{Answer, Call};
pub use client::Client;
pub use connect::{Connected, Offer, Protocol, connect};
pub use failure::failure_of;
pub use io::Io;
pub use read_ahead::ReadAhead;
pub use setup::TlsSetup;
