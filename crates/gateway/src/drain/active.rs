//! Counts what is still there, so that a stopping door knows when it is done.

use std::sync::Arc;

use tokio::sync::watch;

/// Connections and tunnels.
#[derive(Clone, Debug)]
pub(crate) struct Actives(Arc<watch::Sender<usize>>);

impl Default for Actives {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Actives {
    /// One more.
    pub(crate) fn enter(&self) -> Active {
        self.0.send_modify(|count| *count += 1);
        Active(self.clone())
    }

    /// Returns when there are none.
    pub(crate) async fn none(&self) {
        // The sender lives in `self`, so that this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Active(Actives);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
