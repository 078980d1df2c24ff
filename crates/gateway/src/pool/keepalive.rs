//! Finds out that a connection of HTTP/2 is dead: soon while requests wait, at leisure while there are
//! only watches, not at all while there is nothing.

use std::{sync::atomic::Ordering, time::Duration};

use catalog::{Cause, Failure};
use h2::{Ping, PingPong};
use tokio::time::{Instant, sleep, timeout};

use super::http2::Http2Connection;

/// While requests wait.
const BUSY_INTERVAL: Duration = Duration::from_millis(500);
/// While only watches are open.
const QUIET_INTERVAL: Duration = Duration::from_secs(10);
/// How long a pong may take: together with the busy interval, below 1.5 s.
const PONG_TIMEOUT: Duration = Duration::from_millis(900);
/// A timer that fires this much too late says that this process was starved, not the peer silent.
const STARVED: Duration = Duration::from_millis(200);
/// After so long without a stream the connection closes.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// The same when there are others beside it: what a burst opened keeps its memory until it closes.
const SURPLUS_LIMIT: Duration = Duration::from_secs(10);

/// Returns when the connection is not to be kept: with the failure when it is dead, with none when it
/// was idle for long or is retired and done. `surplus` says whether others would do instead of it.
pub(super) async fn watch(
    connection: &Http2Connection,
    ping: Option<PingPong>,
    surplus: impl Fn() -> bool,
) -> Option<Failure> {
    let Some(mut ping) = ping else { return std::future::pending().await };
    let mut begun = 0;
    loop {
        match rest(connection, &mut begun, &surplus).await {
            Rest::Busy => sleep(BUSY_INTERVAL).await,
            Rest::Quiet => {}
            Rest::Over => return None,
        }
        connection.refresh();
        if connection.streams() > 0 && !answers(&mut ping).await {
            return Some(Failure::new(Cause::ResponseTimeout, "it does not answer pings"));
        }
    }
}

enum Rest {
    /// Requests wait, or came since the last look.
    Busy,
    /// Only watches, for as long as their interval.
    Quiet,
    /// Nothing at all for long.
    Over,
}

async fn rest(connection: &Http2Connection, begun_before: &mut usize, surplus: &impl Fn() -> bool) -> Rest {
    let begun = connection.begun.load(Ordering::Relaxed);
    if std::mem::replace(begun_before, begun) != begun || connection.waiting.load(Ordering::SeqCst) > 0 {
        return Rest::Busy;
    }
    connection.asleep.store(true, Ordering::SeqCst);
    if connection.waiting.load(Ordering::SeqCst) > 0 {
        connection.asleep.store(false, Ordering::SeqCst);
        return Rest::Busy;
    }
    let limit = match connection.streams() {
        0 if surplus() => SURPLUS_LIMIT,
        0 => IDLE_LIMIT,
        _ => QUIET_INTERVAL,
    };
    let woken = timeout(limit, connection.wake.notified()).await.is_ok();
    connection.asleep.store(false, Ordering::SeqCst);
    match (woken, connection.streams() > 0) {
        (_, false) if connection.is_retired() || !woken => {
            connection.retire();
            Rest::Over
        }
        (true, _) => Rest::Busy,
        (false, _) => Rest::Quiet,
    }
}

async fn answers(ping: &mut PingPong) -> bool {
    let pong = ping.ping(Ping::opaque());
    tokio::pin!(pong);
    loop {
        let asked = Instant::now();
        match timeout(PONG_TIMEOUT, &mut pong).await {
            Ok(pong) => return pong.is_ok(),
            Err(_) if asked.elapsed() > PONG_TIMEOUT + STARVED => continue,
            Err(_) => return false,
        }
    }
}
