//! The gateway's front: accepts connections until it is told to stop.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::{sleep, timeout},
};

use crate::{
    Config, Shutdown,
    connection::{self, Place},
    drain::Phase,
    limits::{Gauge, Permit},
    proxy::Door,
};

/// After an error of `accept` (no file descriptors left): what is open may close meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The door: one value, any number of listeners.
#[derive(Clone)]
pub struct Gateway {
    door: Arc<Door>,
    places: Arc<Gauge>,
    place_left: Arc<Notify>,
}

impl Gateway {
    /// A door of these parts, that stops when `shutdown` says so.
    pub fn new(config: Config, shutdown: Shutdown) -> Self {
        let places = Gauge::new(config.limits.max_connections);
        Self { door: Arc::new(Door::new(config, shutdown)), places, place_left: Arc::default() }
    }

    /// Serves `listener` until the door has stopped: first unready, then drained, then ended. The TLS
    /// configuration is read anew for each connection, so that a new one counts from the next on.
    pub async fn serve(&self, listener: TcpListener, tls: Arc<ArcSwap<rustls::ServerConfig>>) {
        tokio::select! {
            () = self.accept(&listener, &tls) => {}
            () = self.door.shutdown.reached(Phase::Draining) => {}
            () = self.delay() => {}
            () = self.door.deadlines.enforce() => {}
        }
        drop(listener);
        self.drain().await;
    }

    async fn accept(&self, listener: &TcpListener, tls: &ArcSwap<rustls::ServerConfig>) {
        loop {
            let Some(permit) = self.places.enter() else {
                // The rest waits in the kernel's queue.
                let _ = timeout(ACCEPT_PAUSE, self.place_left.notified()).await;
                continue;
            };
            match listener.accept().await {
                Ok((stream, peer)) => {
                    if let Err(error) = self.begin(stream, peer, permit, tls.load_full()) {
                        tracing::debug!(%peer, %error, "a connection broke at once");
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Gives a connection to a worker.
    fn begin(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        permit: Permit,
        tls: Arc<rustls::ServerConfig>,
    ) -> std::io::Result<()> {
        // Taken out of this thread's poll, to be put into the worker's.
        let stream = stream.into_std()?;
        let seat = self.door.backends.workers().seat();
        let runtime = seat.runtime().clone();
        let place = Place { _permit: permit, _active: self.door.actives.enter(), _seat: seat };
        runtime.spawn(connection::serve(self.door.clone(), tls, stream, peer, place));
        Ok(())
    }

    /// Between the first signal and the draining `/readyz` fails and all else goes on.
    async fn delay(&self) {
        let shutdown = &self.door.shutdown;
        shutdown.reached(Phase::Unready).await;
        sleep(self.door.limits.shutdown_delay).await;
        shutdown.handle().advance(Phase::Draining);
    }

    /// Lets what is there come to its end, within limits.
    async fn drain(&self) {
        let (shutdown, limits) = (&self.door.shutdown, &self.door.limits);
        tokio::select! {
            () = self.door.actives.none() => {}
            () = self.door.watches.drain(limits.watch_drain_rate) => {}
            () = sleep(limits.drain_timeout) => {}
            () = shutdown.reached(Phase::Ended) => {}
        }
        shutdown.handle().advance(Phase::Ended);
    }
}
