//! When something that concerns all servers is made anew: at once after a quiet time, and in a burst of
//! changes no more often than a fixed share of the time allows.

use std::time::{Duration, Instant};

/// How often, for one kind of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// After each time a pause of so many times what it took.
    pub(super) pauses: u32,
    /// The shortest pause: changes this close together share one.
    pub(super) shortest: Duration,
    /// The longest.
    pub(super) longest: Duration,
}

/// The rhythm of one kind of work.
#[derive(Debug)]
pub(super) struct Rhythm {
    limits: Limits,
    /// None: all is up to date.
    wanted: Option<Instant>,
    rests_until: Instant,
}

impl Rhythm {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, wanted: None, rests_until: Instant::now() }
    }

    /// Something changed.
    pub(super) fn want(&mut self) {
        self.want_within(Duration::ZERO);
    }

    /// Something changed of which more will be known very soon: it may wait for that, but no longer.
    pub(super) fn want_within(&mut self, patience: Duration) {
        let latest = Instant::now() + patience;
        self.wanted = Some(self.wanted.map_or(latest, |wanted| wanted.min(latest)));
    }

    /// When it is to be done; none when there is nothing to do.
    pub(super) fn due(&self) -> Option<Instant> {
        self.wanted.map(|wanted| wanted.max(self.rests_until))
    }

    pub(super) fn is_due(&self) -> bool {
        self.due().is_some_and(|due| due <= Instant::now())
    }

    /// It was done; it had been begun at `begun`.
    pub(super) fn done(&mut self, begun: Instant) {
        let Limits { pauses, shortest, longest } = self.limits;
        let now = Instant::now();
        self.wanted = None;
        self.rests_until = now + (now.duration_since(begun) * pauses).clamp(shortest, longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { pauses: 2, shortest: Duration::from_secs(100), longest: Duration::from_secs(300) };

    #[test]
    fn the_first_change_is_not_kept_waiting_and_those_after_it_share_a_pause() {
        let mut rhythm = Rhythm::new(LIMITS);
        assert!(!rhythm.is_due());
        rhythm.want();
        assert!(rhythm.is_due(), "at once after a quiet time");
        rhythm.done(Instant::now());
        assert_eq!(rhythm.due(), None);
        rhythm.want();
        rhythm.want();
        assert!(!rhythm.is_due(), "the next ones wait for each other");
    }

    #[test]
    fn patience_ends_with_the_first_who_has_none() {
        let mut rhythm = Rhythm::new(LIMITS);
        rhythm.want_within(Duration::from_secs(3600));
        assert!(!rhythm.is_due());
        rhythm.want();
        rhythm.want_within(Duration::from_secs(3600));
        assert!(rhythm.is_due());
    }

    #[test]
    fn what_takes_long_rests_long_within_bounds() {
        for (took, least, most) in [(0, 100, 101), (120, 240, 241), (1000, 300, 301)] {
            let mut rhythm = Rhythm::new(LIMITS);
            let Some(begun) = Instant::now().checked_sub(Duration::from_secs(took)) else { continue };
            rhythm.done(begun);
            rhythm.want();
            let pause = rhythm.due().map(|due| due.saturating_duration_since(Instant::now()));
            let bounds = Duration::from_secs(least - 1)..=Duration::from_secs(most);
            assert!(pause.is_some_and(|pause| bounds.contains(&pause)), "{took}: {pause:?}");
        }
    }
}
