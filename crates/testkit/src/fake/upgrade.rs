//! Upgraded connections.

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::watch,
};

use super::{
    api_status,
    body::{Answer, AnswerBody},
};

/// Accepts whatever is asked for; sends back what comes; after the peer's end says `bye`, so that
/// half-close is seen to work.
pub(crate) fn echo(killed: watch::Receiver<usize>, request: Request<Incoming>) -> Answer {
    let Some(protocol) = request.headers().get(header::UPGRADE).cloned() else {
        return api_status(400, "no upgrade was asked for");
    };
    let subprotocol = request.headers().get(header::SEC_WEBSOCKET_PROTOCOL).cloned();
    tokio::spawn(serve(killed, request));
    let mut answer = Response::new(AnswerBody::new(Empty::new().map_err(|never| match never {})));
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, protocol);
    if let Some(subprotocol) = subprotocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, subprotocol);
    }
    answer
}

async fn serve(mut killed: watch::Receiver<usize>, request: Request<Incoming>) {
    let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
    let mut io = TokioIo::new(upgraded);
    let echoing = async {
        let mut buffer = vec![0; 16 << 10];
        loop {
            match io.read(&mut buffer).await {
                Ok(0) => break,
                Ok(count) => io.write_all(&buffer[..count]).await?,
                Err(error) => return Err(error),
            }
            io.flush().await?;
        }
        io.write_all(b"bye").await?;
        io.shutdown().await
    };
    // However it ends, the connection ends with it.
    tokio::select! {
        _ = echoing => {}
        _ = killed.changed() => {}
    }
}
