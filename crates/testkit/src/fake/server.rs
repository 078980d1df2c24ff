//! A test server that runs.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, PoisonError,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use super::{
    Act, Builder, Group, Recorded, SharedRef,
    connection::{self, Setup},
};

/// Bound on waiting for what a test expects, so that it fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// A test server that listens; it stops when it is dropped.
pub struct FakeServer {
    address: SocketAddr,
    shared: SharedRef,
    setup: Setup,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl FakeServer {
    /// What it shall be.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) async fn start(shared: SharedRef, setup: Setup, listen: SocketAddr) -> Self {
        let listener = bind(listen);
        let address = listener.local_addr().expect("the address of a listener");
        let server = Self { address, shared, setup, accepting: Mutex::new(None) };
        server.accept(listener);
        server
    }

    fn accept(&self, listener: TcpListener) {
        let (shared, setup) = (self.shared.clone(), self.setup.clone());
        let task = tokio::spawn(async move {
            // Ends with this task, and every connection with it.
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                        let _ = stream.set_nodelay(true);
                        connections.spawn(connection::serve(shared.clone(), setup.clone(), stream));
                    },
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        *self.accepting() = Some(task);
    }

    fn accepting(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<()>>> {
        self.accepting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, `https` or `http`.
    pub fn url(&self) -> String {
        let scheme = if self.setup.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Does `act` for every request below this path prefix; the latest one set wins.
    pub fn act(&self, prefix: &str, act: Act) {
        self.shared.script().acts.push((prefix.to_owned(), act));
    }

    /// Back to proper answers.
    pub fn behave(&self) {
        self.shared.script().acts.clear();
        self.half_open(false);
        self.garbage(false);
        self.goaway_every(0);
        self.freeze(false);
    }

    /// Offers these groups from now on.
    pub fn set_groups(&self, groups: impl Into<Vec<Group>>) {
        self.shared.script().groups = groups.into();
    }

    /// New connections are accepted, and nothing else is done with them.
    pub fn half_open(&self, half_open: bool) {
        self.shared.half_open.store(half_open, Relaxed);
    }

    /// New connections are answered with something that is not HTTP.
    pub fn garbage(&self, garbage: bool) {
        self.shared.garbage.store(garbage, Relaxed);
    }

    /// Connections say GOAWAY (with HTTP/1.1 `Connection: close`) after so many requests; zero: never.
    pub fn goaway_every(&self, requests: u32) {
        self.shared.goaway_every.store(requests, Relaxed);
    }

    /// So many of the next HTTP/2 connections answer their first request with GOAWAY, unprocessed.
    pub fn goaway_first(&self, connections: u32) {
        self.shared.goaway_first.store(connections, Relaxed);
    }

    /// Stops all reading and writing, as when the network is gone; false lets it go on.
    pub fn freeze(&self, frozen: bool) {
        self.shared.gate.set_frozen(frozen);
    }

    /// Closes the port and every connection.
    pub async fn kill(&self) {
        let task = self.accepting().take();
        if let Some(task) = task {
            task.abort();
            let _ = task.await;
        }
        self.shared.killed.send_modify(|count| *count += 1);
    }

    /// Listens on the same port again, with what was stored before.
    ///
    /// # Panics
    /// When another process took the port meanwhile.
    pub async fn restart(&self) {
        self.kill().await;
        self.accept(bind(self.address));
    }

    /// All requests received whole, in their order.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.log.all()
    }

    /// The last request received.
    ///
    /// # Panics
    /// When there was none.
    pub fn last_request(&self) -> Recorded {
        self.requests().pop().expect("no request was received")
    }

    /// Forgets the requests received so far; counters go on.
    pub fn forget_requests(&self) {
        self.shared.log.clear();
    }

    /// All bytes of HTTP received, when recorded.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.gate.raw()
    }

    /// Connections open now.
    pub fn open_connections(&self) -> usize {
        self.shared.connections.load(SeqCst)
    }

    /// Connections accepted so far.
    pub fn accepted_connections(&self) -> usize {
        self.shared.accepted.load(SeqCst)
    }

    /// Waits until so many requests have begun.
    ///
    /// # Panics
    /// After 30 s.
    pub async fn wait_started(&self, count: usize) {
        wait(self.shared.log.started.subscribe(), count, "requests to begin").await;
    }

    /// Waits until so many requests have come whole.
    ///
    /// # Panics
    /// After 30 s.
    pub async fn wait_received(&self, count: usize) {
        wait(self.shared.log.received.subscribe(), count, "requests to come whole").await;
    }

    /// Waits until so many requests were given up by the client (or cut off) before their answer ended.
    ///
    /// # Panics
    /// After 30 s.
    pub async fn wait_cancelled(&self, count: usize) {
        wait(self.shared.cancelled.subscribe(), count, "requests to be cancelled").await;
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        if let Some(task) = self.accepting().take() {
            task.abort();
        }
        self.shared.killed.send_modify(|count| *count += 1);
    }
}

async fn wait(mut counter: watch::Receiver<usize>, count: usize, what: &str) {
    let waited = tokio::time::timeout(PATIENCE, counter.wait_for(|so_far| *so_far >= count)).await;
    assert!(waited.is_ok(), "waited {PATIENCE:?} for {count} {what}");
}

fn bind(address: SocketAddr) -> TcpListener {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }
    .expect("a socket");
    socket.set_reuseaddr(true).expect("SO_REUSEADDR");
    socket.bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    socket.listen(1024).expect("a listening socket")
}
