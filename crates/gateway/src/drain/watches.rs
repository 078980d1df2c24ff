//! The watches that are open, so that a stopping door can end them a few at a time.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Context,
    time::Duration,
};

use futures_util::task::AtomicWaker;

const SHARDS: usize = 16;
const DRAIN_TICK: Duration = Duration::from_millis(50);

/// All open watches.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    shards: [Mutex<Shard>; SHARDS],
    next: AtomicUsize,
}

#[derive(Debug, Default)]
struct Shard {
    places: Vec<Option<Arc<Flag>>>,
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct Flag {
    ended: AtomicBool,
    waker: AtomicWaker,
}

/// One open watch: tells its body when to end.
#[derive(Debug)]
pub(crate) struct WatchTicket {
    flag: Arc<Flag>,
    watches: Arc<Watches>,
    shard: usize,
    place: usize,
}

impl Watches {
    /// A watch opens.
    pub(crate) fn open(self: &Arc<Self>) -> WatchTicket {
        let shard = self.next.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let flag = Arc::new(Flag::default());
        let place = self.with(shard, |shard| match shard.free.pop() {
            Some(place) => {
                shard.places[place] = Some(flag.clone());
                place
            }
            None => {
                shard.places.push(Some(flag.clone()));
                shard.places.len() - 1
            }
        });
        WatchTicket { flag, watches: self.clone(), shard, place }
    }

    /// Ends all of them, `rate` a second; those that open meanwhile too. Never returns.
    pub(crate) async fn drain(&self, rate: u32) {
        let per_tick = (f64::from(rate.max(1)) * DRAIN_TICK.as_secs_f64()).ceil() as usize;
        let mut tick = tokio::time::interval(DRAIN_TICK);
        loop {
            tick.tick().await;
            self.end_some(per_tick);
        }
    }

    fn end_some(&self, count: usize) {
        let mut left = count;
        for shard in 0..SHARDS {
            let flags: Vec<_> = self.with(shard, |shard| {
                let open = shard.places.iter().flatten().filter(|flag| !flag.ended.load(Ordering::Relaxed));
                open.take(left).cloned().collect()
            });
            left -= flags.len();
            for flag in flags {
                flag.ended.store(true, Ordering::Release);
                flag.waker.wake();
            }
        }
    }

    fn with<T>(&self, shard: usize, f: impl FnOnce(&mut Shard) -> T) -> T {
        f(&mut self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WatchTicket {
    /// Whether the watch is to end now; else the task is woken when it is.
    pub(crate) fn poll_ended(&self, cx: &Context<'_>) -> bool {
        if self.flag.ended.load(Ordering::Acquire) {
            return true;
        }
        self.flag.waker.register(cx.waker());
        self.flag.ended.load(Ordering::Acquire)
    }
}

impl Drop for WatchTicket {
    fn drop(&mut self) {
        self.watches.with(self.shard, |shard| {
            shard.places[self.place] = None;
            shard.free.push(self.place);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watches_end_a_few_at_a_time_and_places_are_used_again() {
        let watches = Arc::new(Watches::default());
        let tickets: Vec<_> = (0..40).map(|_| watches.open()).collect();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let ended = |cx: &mut Context<'_>| tickets.iter().filter(|t| t.poll_ended(cx)).count();
        assert_eq!(ended(&mut cx), 0);
        watches.end_some(7);
        assert_eq!(ended(&mut cx), 7);
        watches.end_some(100);
        assert_eq!(ended(&mut cx), 40);
        drop(tickets);
        let _again: Vec<_> = (0..40).map(|_| watches.open()).collect();
        let places: usize = (0..SHARDS).map(|i| watches.with(i, |s| s.places.len())).sum();
        assert!(places <= 48, "places are used again: {places}");
    }
}
