//! A request over HTTP/2.

use std::{
    future::poll_fn,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};

use super::{Answer, SendError};
use crate::{
    body::{RequestBody, SharedUpload, Source, UploadFailure},
    pool::{Http2Lease, Waiting},
};

pub(super) async fn send(
    lease: Http2Lease,
    request: Request<()>,
    body: &RequestBody,
) -> Result<Answer, SendError> {
    let without_body = matches!(body, RequestBody::Empty);
    let (response, stream) =
        lease.sender().send_request(request, without_body).map_err(|error| unsent(&lease, &error))?;
    let mut waiting = Waiting::new(lease, response);
    let (mut lease, answered) = match body {
        RequestBody::Empty => {
            drop(stream);
            poll_fn(|cx| waiting.poll_answer(cx)).await
        }
        RequestBody::Full(bytes) => {
            let pending = bytes.clone();
            exchange(waiting, Pump { stream, upload: None, pending }).await?
        }
        RequestBody::Upload(upload) => {
            exchange(waiting, Pump { stream, upload: Some(upload.clone()), pending: Bytes::new() }).await?
        }
    };
    match answered {
        Ok(answer) => {
            lease.answered();
            let (parts, stream) = answer.into_parts();
            Ok(Answer { parts, source: Source::Http2(stream, lease) })
        }
        Err(error) => Err(classify(&lease, &error)),
    }
}

/// The connection took nothing of it.
fn unsent(lease: &Http2Lease, error: &h2::Error) -> SendError {
    lease.exhausted();
    SendError::Unprocessed(if error.is_go_away() { "goaway" } else { "closed" }, lease.failure(error))
}

fn classify(lease: &Http2Lease, error: &h2::Error) -> SendError {
    let failure = lease.failure(error);
    // With GOAWAY a peer names the last stream that it looks at; only those after it fail this way.
    if error.is_go_away() && error.is_remote() {
        lease.exhausted();
        return SendError::Unprocessed("goaway", failure);
    }
    if error.is_reset() && error.is_remote() && error.reason() == Some(Reason::REFUSED_STREAM) {
        return SendError::Unprocessed("refused_stream", failure);
    }
    if error.is_io() || error.is_go_away() {
        lease.exhausted();
    }
    SendError::Lost(failure)
}

enum PumpError {
    Upload(UploadFailure),
    /// The peer takes no more of it.
    Stream,
}

/// The head of an answer, or why there is none, with the lease.
type Answered = (Http2Lease, Result<Response<RecvStream>, h2::Error>);

/// Sends the body and waits for the answer, side by side. An answer may come before the body is
/// through; the rest goes on beside it then.
async fn exchange(mut waiting: Waiting, pump: Pump) -> Result<Answered, SendError> {
    let mut pump = Some(pump);
    let answered = poll_fn(|cx| {
        if let Some(running) = &mut pump {
            match running.poll(cx) {
                Poll::Pending => {}
                Poll::Ready(Err(PumpError::Upload(failure))) => {
                    return Poll::Ready(Err(SendError::Upload(failure)));
                }
                // What the answer is, or why there is none, the other half knows better.
                Poll::Ready(Ok(()) | Err(PumpError::Stream)) => pump = None,
            }
        }
        waiting.poll_answer(cx).map(Ok)
    })
    .await?;
    if let (Some(mut rest), Ok(_)) = (pump, &answered.1) {
        tokio::spawn(async move {
            // The peer must not take what came for the whole.
            if let Err(PumpError::Upload(_)) = poll_fn(|cx| rest.poll(cx)).await {
                rest.stream.send_reset(Reason::CANCEL);
            }
        });
    }
    Ok(answered)
}

fn gone(_: h2::Error) -> PumpError {
    PumpError::Stream
}

/// Moves a body into a stream as fast as the peer takes it.
struct Pump {
    stream: SendStream<Bytes>,
    upload: Option<SharedUpload>,
    pending: Bytes,
}

impl Pump {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PumpError>> {
        loop {
            while !self.pending.is_empty() {
                ready!(self.poll_send(cx))?;
            }
            let Some(upload) = &self.upload else { return self.finish() };
            let mut upload = upload.lock();
            let next = match upload.poll_next(cx) {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    drop(upload);
                    return self.poll_reset(cx);
                }
            };
            drop(upload);
            match next {
                None => return self.finish(),
                Some(Err(failure)) => return Poll::Ready(Err(PumpError::Upload(failure))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.pending = data,
                    Err(frame) => {
                        let trailers = frame.into_trailers().unwrap_or_default();
                        return Poll::Ready(self.stream.send_trailers(trailers).map_err(gone));
                    }
                },
            }
        }
    }

    /// Sends as much of `pending` as the peer has room for.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PumpError>> {
        self.stream.reserve_capacity(self.pending.len());
        let mut room = self.stream.capacity();
        if room == 0 {
            room = match ready!(self.stream.poll_capacity(cx)) {
                Some(room) => room.map_err(gone)?,
                None => return Poll::Ready(Err(PumpError::Stream)),
            };
        }
        let piece = self.pending.split_to(room.min(self.pending.len()));
        Poll::Ready(self.stream.send_data(piece, false).map_err(gone))
    }

    fn finish(&mut self) -> Poll<Result<(), PumpError>> {
        Poll::Ready(self.stream.send_data(Bytes::new(), true).map_err(gone))
    }

    /// Nothing to send now; a peer that wants no more says so by a reset.
    fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PumpError>> {
        self.stream.poll_reset(cx).map(|_| Err(PumpError::Stream))
    }
}
