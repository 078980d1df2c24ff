//! Answers that a client leaves unread although their time is over.
//!
//! Who does not read one stream of HTTP/2 is not asked for its bytes, so the answer is never polled again,
//! and never sees its own deadline. What it holds (a place among the requests in flight, a stream to the
//! backend) is taken from it here; the stream itself costs its own client alone.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::answer::Flow;
use crate::workers;

/// How often is looked, and as long an answer has after its time is over.
const INTERVAL: Duration = Duration::from_secs(5);

/// An answer that can be ended from outside; none when it was.
pub(super) type SharedFlow = Arc<Mutex<Option<Flow>>>;

pub(super) fn lock(flow: &SharedFlow) -> MutexGuard<'_, Option<Flow>> {
    flow.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All answers on their way to clients of HTTP/2 that have a deadline, by the worker they belong to.
#[derive(Debug)]
pub(crate) struct Deadlines(Box<[Mutex<Shard>]>);

#[derive(Default)]
struct Shard {
    places: Vec<Option<(Instant, SharedFlow)>>,
    free: Vec<usize>,
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shard").field("places", &self.places.len()).finish_non_exhaustive()
    }
}

/// The entry of one answer, until it is dropped.
pub(super) struct Entry {
    deadlines: Arc<Deadlines>,
    shard: usize,
    place: usize,
}

impl Deadlines {
    /// For so many workers.
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self((0..places.max(1)).map(|_| Mutex::default()).collect()))
    }

    /// An answer that is to be over at `deadline`.
    pub(super) fn enter(self: &Arc<Self>, deadline: Instant, flow: SharedFlow) -> Entry {
        let shard = workers::current() % self.0.len();
        let mut places = self.shard(shard);
        let entry = Some((deadline, flow));
        let place = match places.free.pop() {
            Some(place) => {
                places.places[place] = entry;
                place
            }
            None => {
                places.places.push(entry);
                places.places.len() - 1
            }
        };
        drop(places);
        Entry { deadlines: self.clone(), shard, place }
    }

    /// Ends what is overdue, again and again. Never returns.
    pub(crate) async fn enforce(&self) {
        loop {
            sleep(INTERVAL).await;
            self.end(Instant::now());
        }
    }

    fn end(&self, now: Instant) {
        for shard in 0..self.0.len() {
            let overdue: Vec<SharedFlow> = {
                let places = self.shard(shard);
                let entries = places.places.iter().flatten();
                entries.filter(|(at, _)| *at + INTERVAL <= now).map(|(_, flow)| flow.clone()).collect()
            };
            for flow in overdue {
                let ended = lock(&flow).take();
                drop(ended);
            }
        }
    }

    fn shard(&self, number: usize) -> MutexGuard<'_, Shard> {
        self.0[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut shard = self.deadlines.shard(self.shard);
        let gone = shard.places[self.place].take();
        shard.free.push(self.place);
        drop(shard);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use bytes::Bytes;
    use http_body::{Body as _, Frame, SizeHint};

    use super::*;
    use crate::{
        body::{Body, Held, Proxied, Source},
        limits::Gauge,
    };

    /// A body of which nothing ever comes.
    struct Silent;

    impl http_body::Body for Silent {
        type Data = Bytes;
        type Error = catalog::BodyError;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, catalog::BodyError>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(1)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_reads_gives_back_what_it_holds() {
        let (gauge, deadlines) = (Gauge::new(1), Deadlines::new(1));
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut held = Held::default();
        held.permits[0] = gauge.enter();
        let source = Source::InProcess(catalog::Body::new(Silent));
        let mut body = Body::proxied(Proxied::new(source, held, Some(deadline)).watched_by(&deadlines));
        deadlines.end(deadline);
        assert!(gauge.enter().is_none(), "it has a little more time");
        deadlines.end(deadline + INTERVAL);
        assert!(gauge.enter().is_some());
        let polled = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(Some(Err(_)))), "its client is told");
        drop(body);
        assert!(deadlines.shard(0).places.iter().all(Option::is_none));
    }
}
