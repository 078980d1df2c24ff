//! When to ask again. Healthy servers are asked on a common grid, so that one wake-up of the process
//! serves many of them; servers spread over the phases of the grid by their names.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::{Duration, Instant},
};

use catalog::ServerName;

use crate::config::Polling;

/// Width of the grid.
const GRID: Duration = Duration::from_millis(100);
/// All servers that are known from before have been asked once so long after a start.
const LONGEST_START: Duration = Duration::from_secs(1);
/// First pause after a failure; doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// However urgent it is, an endpoint is not asked more often.
const SHORTEST: Duration = Duration::from_millis(100);
/// Endpoints that only stand by are asked this much more rarely.
const STAND_BY: u32 = 5;

/// The common rhythm.
#[derive(Debug)]
pub(crate) struct Pace {
    start: Instant,
    random: RandomState,
    discovery: Duration,
    longest: Duration,
}

impl Pace {
    pub(crate) fn new(polling: &Polling) -> Self {
        Self {
            start: Instant::now(),
            random: RandomState::new(),
            discovery: polling.discovery,
            longest: polling.longest_pause,
        }
    }

    /// When a server is asked first that is known from before a restart. Servers share the time until then:
    /// a start with hundreds of them is not to begin with hundreds of handshakes.
    pub(crate) fn after_restart(&self, now: Instant, name: &ServerName) -> Instant {
        let span = self.discovery.min(LONGEST_START).saturating_sub(GRID).as_millis().max(1);
        let place = u128::from(self.random.hash_one(name)) % span;
        now + GRID + Duration::from_millis(u64::try_from(place).unwrap_or(0))
    }

    /// After a success: the last point of the grid within the interval.
    pub(crate) fn after_success(&self, now: Instant, leads: bool) -> Instant {
        let interval = if leads { self.discovery } else { self.discovery * STAND_BY };
        let latest = now + interval;
        let beyond = latest.duration_since(self.start).as_nanos() % GRID.as_nanos();
        let rounded = latest - Duration::from_nanos(u64::try_from(beyond).unwrap_or(0));
        if rounded > now { rounded } else { latest }
    }

    /// After this many failures in a row: longer and longer, a little at random.
    pub(crate) fn after_failures(&self, failures: u32) -> Duration {
        let doubled =
            FIRST_PAUSE.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
        let pause = doubled.min(self.longest);
        let salt = self.random.hash_one((failures, Instant::now()));
        let percent = u32::try_from(salt % 20).unwrap_or(0);
        pause - pause * percent / 100
    }

    /// The first moment at which an endpoint may be asked that was last asked at `asked`.
    pub(crate) fn earliest(&self, now: Instant, asked: Option<Instant>) -> Instant {
        asked.map_or(now, |asked| now.max(asked + SHORTEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_restart_servers_are_asked_one_after_the_other() {
        let pace = Pace::new(&Polling::default());
        let now = Instant::now();
        let name = |number: u32| ServerName::new(&format!("server-{number}"));
        let mut due: Vec<_> = (0..200).map(|n| pace.after_restart(now, &name(n)) - now).collect();
        due.sort_unstable();
        assert!(due[0] >= GRID && due[199] <= LONGEST_START);
        // By chance a third of them may meet; hardly ever half of them.
        let gaps = due.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(gaps > 100, "{due:?}");
    }

    #[test]
    fn pauses_grow_up_to_a_bound_and_successes_stay_within_the_interval() {
        let polling = Polling::default();
        let pace = Pace::new(&polling);
        let mut least = Duration::ZERO;
        for failures in 1..100 {
            let pause = pace.after_failures(failures);
            assert!(pause <= polling.longest_pause && pause >= least.min(polling.longest_pause * 4 / 5));
            least = pause * 4 / 5;
        }
        let now = Instant::now();
        for milliseconds in 0..300 {
            let now = now + Duration::from_millis(milliseconds);
            let due = pace.after_success(now, true);
            assert!(due > now && due <= now + polling.discovery);
        }
    }
}
