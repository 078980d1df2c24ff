//! From rendered files to hosts on which they lie: observe, compare, show, apply, resume.
//!
//! One SSH stream for each host carries a short script ([`HOST_SCRIPT`]) and then requests to it. What has been laid
//! down is recorded on the host itself ([`Record`]), so that drift is seen, an interrupted run is resumed by the
//! next one, and whatever is removed is exactly what was put there.

mod apply;
mod diff;
mod error;
mod facts;
mod journal;
mod lock;
mod observe;
mod path;
mod plan;
pub mod preflight;
mod record;
mod removal;
mod session;
mod ssh;
mod survey;
mod units;
mod wanted;

pub use apply::{Context, Credential, Ending, Issued, Joins, Owner, apply, remove};
pub use error::{Error, SshCause};
pub use facts::{Facts, Link, Listener};
pub use journal::{Event, Journal, Listener as EventListener, State};
pub use lock::{Holder, StateLock};
pub use observe::{HostLock, Kind, Observed, Seen, UnitState, observe};
pub use path::HostPath;
pub use plan::{Change, Conflict, HostPlan, Reason, compare};
pub use record::{Entry, Record};
pub use removal::removal;
pub use session::{Payload, Request, Session};
pub use ssh::{SshOptions, Target};
pub use survey::{Source, Surveyed, survey};
pub use units::{Leaf, UnitRule, Units};
pub use wanted::{Content, File, Folder, Wanted};

/// What runs on a host.
pub const HOST_SCRIPT: &str = include_str!("host.sh");
