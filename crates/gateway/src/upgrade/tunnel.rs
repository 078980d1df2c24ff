//! Bytes both ways until both sides are done.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional_with_sizes;

use crate::{
    body::Held,
    connection::Client,
    drain::{Active, Phase},
    pool::Http1Lease,
};

/// Buffer for each direction.
const BUFFER: usize = 16 * 1024;

/// What ends with the tunnel.
pub(super) struct Until {
    client: Arc<Client>,
    held: Held,
    _lease: Http1Lease,
    _active: Active,
}

impl Until {
    pub(super) fn new(client: &Arc<Client>, mut held: Held, lease: Http1Lease) -> Self {
        // A tunnel is no request in flight any more.
        held.permits = [None, None];
        held.open.get_or_insert_with(|| client.begin()).is_long_running();
        Self { client: client.clone(), held, _lease: lease, _active: client.door.actives.enter() }
    }
}

/// Copies; the end of one direction is passed on and does not end the other.
pub(super) async fn run(client: OnUpgrade, backend: OnUpgrade, mut until: Until) {
    let door = until.client.door.clone();
    let copying = async {
        let (client, backend) = tokio::try_join!(client, backend)?;
        let (mut client, mut backend) = (TokioIo::new(client), TokioIo::new(backend));
        let copied = copy_bidirectional_with_sizes(&mut client, &mut backend, BUFFER, BUFFER).await;
        Ok::<_, hyper::Error>(copied)
    };
    tokio::select! {
        copied = copying => match copied {
            Ok(Ok((_, to_client))) => {
                until.held.sent(usize::try_from(to_client).unwrap_or(usize::MAX));
                until.held.complete();
            }
            Ok(Err(error)) => tracing::debug!(%error, "a tunnel broke"),
            Err(error) => tracing::debug!(%error, "an upgrade was not completed"),
        },
        () = door.shutdown.reached(Phase::Ended) => {}
    }
}
