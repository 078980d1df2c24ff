//! The registration API, served in this process where there is no core.

use std::sync::Arc;

use catalog::Contribution;

use crate::{documents::DocumentStore, store::Store};

pub(crate) fn contribution(_store: &Arc<Store>, _documents: &Arc<DocumentStore>) -> Vec<Contribution> {
    Vec::new()
}
