//! The threads that serve clients.
//!
//! Each has a runtime of its own, and connections to backends of its own (see the pools). A request stays
//! on the thread that its client's connection was given to, so that nothing on its way wakes another
//! thread: at a kilobyte an answer that cost more than everything else together.

use std::{
    cell::Cell,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    runtime::{Builder, Handle},
    sync::watch,
};

thread_local! {
    /// Which worker this thread is, counted from 1; 0 on all other threads.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The threads that serve clients. They end when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Workers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    workers: Box<[Worker]>,
    /// Where the search for the least busy one begins, so that equals take turns.
    turn: AtomicUsize,
    /// Dropped with the last clone: the threads wait for that.
    _running: watch::Sender<()>,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    connections: AtomicUsize,
}

impl Workers {
    /// Starts `count` threads, at least one.
    ///
    /// # Errors
    /// When the system gives no more threads or file descriptors.
    pub fn start(count: usize) -> io::Result<Self> {
        let (running, stopped) = watch::channel(());
        let workers =
            (1..=count.max(1)).map(|number| start(number, stopped.clone())).collect::<io::Result<_>>()?;
        Ok(Self(Arc::new(Shared { workers, turn: AtomicUsize::new(0), _running: running })))
    }

    /// As many as there are processors for this process.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub fn for_this_machine() -> io::Result<Self> {
        Self::start(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The places that something kept per thread needs: one for each worker, and one for all other threads.
    pub(crate) fn places(&self) -> usize {
        self.0.workers.len() + 1
    }

    /// A place on the worker that has the fewest connections.
    pub(crate) fn seat(&self) -> Seat {
        let workers = &self.0.workers;
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        let number = (0..workers.len())
            .map(|step| turn.wrapping_add(step) % workers.len())
            .min_by_key(|number| workers[*number].connections.load(Ordering::Relaxed))
            .unwrap_or_default();
        workers[number].connections.fetch_add(1, Ordering::Relaxed);
        Seat { workers: self.clone(), number }
    }
}

/// A connection's place on a worker, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    workers: Workers,
    number: usize,
}

impl Seat {
    /// Where the connection's tasks belong.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.workers.0.workers[self.number].runtime
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.workers.0.workers[self.number].connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of the worker that this thread is, below [`Workers::places`]; 0 on all other threads.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

fn start(number: usize, mut stopped: watch::Receiver<()>) -> io::Result<Worker> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let worker = Worker { runtime: runtime.handle().clone(), connections: AtomicUsize::new(0) };
    let run = move || {
        CURRENT.set(number);
        // An error says that all clones are gone, which is what is awaited.
        let _ = runtime.block_on(stopped.changed());
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name(format!("worker-{number}")).spawn(run)?;
    Ok(worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_dealt_out_evenly_and_places_are_given_back() -> io::Result<()> {
        let workers = Workers::start(3)?;
        let mut seats: Vec<_> = (0..6).map(|_| workers.seat()).collect();
        let count = |seats: &[Seat], number| seats.iter().filter(|seat| seat.number == number).count();
        assert_eq!([0, 1, 2].map(|number| count(&seats, number)), [2, 2, 2]);
        seats.retain(|seat| seat.number != 1);
        assert_eq!(workers.seat().number, 1);
        Ok(())
    }

    #[test]
    fn a_task_runs_on_the_worker_of_its_seat() -> io::Result<()> {
        let workers = Workers::start(2)?;
        assert_eq!(current(), 0);
        let (sender, receiver) = std::sync::mpsc::channel();
        let seat = workers.seat();
        seat.runtime().spawn(async move { sender.send(current()) });
        assert_eq!(receiver.recv().ok(), Some(seat.number + 1));
        Ok(())
    }
}
