//! From decisions to the files of every host.
//!
//! `deploy/` is the deployment: `tree.txt` says what lies on which host, everything else are those
//! files, with decisions between double braces. Filling in is all that happens here: the same
//! decisions, keys and facts give the same bytes. No input or output.

mod deploy;
mod error;
mod explain;
mod keys;
mod layout;
mod template;
mod tree;

pub use deploy::Deploy;
pub use error::Error;
pub use explain::{Explanation, Part, explain};
pub use keys::{Keys, NoKeys};
pub use layout::{Entry, Hosts, Layout, Origin};
pub use template::{Line, Template};
pub use tree::{File, Folder, RenderedLine, Tree, render};
