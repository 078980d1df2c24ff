//! The core: one more backend, with objects that tell of others.

mod view;

pub(crate) use view::{CoreView, adopted_versions, core_discovery};
