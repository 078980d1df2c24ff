//! When an endpoint that failed is tried again.

use std::time::Duration;

use catalog::Failure;
use tokio::time::Instant;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(800);

/// Failures in a row, and the pause that they bring. Connection-level failures only: whatever a
/// server answers, it answers.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    last: Option<(Failure, Instant)>,
    in_a_row: u32,
}

impl Recovery {
    /// Another failure: the pause doubles.
    pub(super) fn failed(&mut self, failure: Failure) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.in_a_row.min(8)).min(LONGEST_PAUSE);
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.last = Some((failure, Instant::now() + pause));
    }

    /// It works; true when it did not before.
    pub(super) fn recovered(&mut self) -> bool {
        self.in_a_row = 0;
        self.last.take().is_some()
    }

    /// The last failure while the pause lasts.
    pub(super) fn paused(&self) -> Option<&Failure> {
        self.last.as_ref().filter(|(_, until)| Instant::now() < *until).map(|(failure, _)| failure)
    }

    /// The last failure, until it recovers.
    pub(super) fn last(&self) -> Option<&Failure> {
        self.last.as_ref().map(|(failure, _)| failure)
    }
}

#[cfg(test)]
mod tests {
    use catalog::Cause;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_a_limit_and_end_with_success() {
        let mut recovery = Recovery::default();
        assert!(recovery.paused().is_none());
        for pause in [50, 100, 200, 400, 800, 800, 800] {
            recovery.failed(Failure::new(Cause::ConnectionRefused, ""));
            tokio::time::advance(Duration::from_millis(pause - 1)).await;
            assert!(recovery.paused().is_some(), "{pause}");
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(recovery.paused().is_none(), "{pause}");
            assert!(recovery.last().is_some());
        }
        assert!(recovery.recovered());
        assert!(!recovery.recovered());
        assert!(recovery.last().is_none());
    }
}
