//! TCP to a host: every address it has, without waiting long for a dead one.

use std::{io, net::SocketAddr, time::Duration};

use catalog::{Cause, Failure};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};

/// The next address is tried when the one before has not answered for so long (RFC 8305).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 16;

/// Idle connections are probed by the kernel this often, as Go's clients do.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Connects to the first address of `host` that answers.
pub(crate) async fn open(host: &str, port: u16) -> Result<TcpStream, Failure> {
    let addresses = resolve(host, port).await?;
    let stream = race(&addresses).await?;
    tune(&stream).map_err(|error| io_failure(&error, &format!("{host}:{port}")))?;
    Ok(stream)
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Failure> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let not_resolved =
        |why: &str| Failure::new(Cause::NameNotResolved, format!("{bare} does not resolve: {why}"));
    let found = lookup_host((bare, port)).await.map_err(|error| not_resolved(&error.to_string()))?;
    let addresses: Vec<_> = found.take(MAX_ADDRESSES).collect();
    match addresses.is_empty() {
        true => Err(not_resolved("no addresses")),
        false => Ok(addresses),
    }
}

/// Attempts start one after the other and then run side by side; the first that stands wins.
async fn race(addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
    let mut attempts = FuturesUnordered::new();
    let mut waiting = addresses.iter();
    let mut first_failure = None;
    loop {
        if let Some(address) = waiting.next() {
            attempts.push(attempt(*address));
        }
        let more = waiting.len() > 0;
        tokio::select! {
            ended = attempts.next() => match ended {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(failure)) => { first_failure.get_or_insert(failure); }
                None => {
                    let none = || Failure::new(Cause::NameNotResolved, "no addresses");
                    return Err(first_failure.unwrap_or_else(none));
                }
            },
            () = tokio::time::sleep(NEXT_ADDRESS_AFTER), if more => {}
        }
    }
}

async fn attempt(address: SocketAddr) -> Result<TcpStream, Failure> {
    TcpStream::connect(address).await.map_err(|error| io_failure(&error, &address.to_string()))
}

fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Why no TCP connection came about.
fn io_failure(error: &io::Error, address: &str) -> Failure {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut};
    let cause = match error.kind() {
        ConnectionRefused => Cause::ConnectionRefused,
        // Advice is the same as for silence: look at address and firewalls.
        TimedOut | HostUnreachable | NetworkUnreachable => Cause::ConnectTimeout,
        _ => Cause::ConnectionLost,
    };
    Failure::new(cause, format!("{address}: {error}"))
}
