//! A client's byte stream, that does not wait for ever: neither for a client that does not read, nor for
//! one that never begins.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep},
};
use tokio_rustls::server::TlsStream;

use super::{Client, coalesce::Coalesce};

/// The stream of a client.
pub(super) struct ClientIo {
    stream: Stream,
    client: Arc<Client>,
    /// Runs while the client leaves its bytes unread; rare, so it is made when needed.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Until the client has begun to speak.
    opening: Option<Opening>,
}

/// Only an HTTP/2 connection flushes again when it is woken.
enum Stream {
    Http1(TlsStream<TcpStream>),
    Http2(Coalesce<TlsStream<TcpStream>>),
}

impl Stream {
    fn tls(&mut self) -> Pin<&mut TlsStream<TcpStream>> {
        Pin::new(match self {
            Self::Http1(stream) => stream,
            Self::Http2(stream) => &mut stream.inner,
        })
    }
}

/// The first words of HTTP/2, which hyper awaits without end: its pings begin after them.
struct Opening {
    /// Bytes that are still to come.
    missing: usize,
    deadline: Pin<Box<Sleep>>,
}

/// The preface, and the head of the first frame.
const OPENING: usize = 24 + 9;

impl ClientIo {
    pub(super) fn http1(stream: TlsStream<TcpStream>, client: Arc<Client>) -> Self {
        Self { stream: Stream::Http1(stream), client, stalled: None, opening: None }
    }

    /// For a client that has to open with the preface of HTTP/2 as soon as it would have to send the
    /// head of a request.
    pub(super) fn http2(stream: TlsStream<TcpStream>, client: Arc<Client>) -> Self {
        let deadline = Box::pin(tokio::time::sleep(client.door.limits.header_timeout));
        let opening = Some(Opening { missing: OPENING, deadline });
        Self { stream: Stream::Http2(Coalesce::new(stream)), client, stalled: None, opening }
    }

    fn poll_opening(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = self.stream.tls().poll_read(cx, buf);
        let Some(opening) = &mut self.opening else { return read };
        if opening.deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        opening.missing = opening.missing.saturating_sub(buf.filled().len() - before);
        if opening.missing == 0 {
            self.opening = None;
        }
        read
    }

    fn progress<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let limit = self.client.door.limits.write_stall_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        while stalled.as_mut().poll(cx).is_ready() {
            // Whoever follows a log may stop reading for as long as he likes.
            if !self.client.has_long_running() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            stalled.as_mut().reset(Instant::now() + limit);
        }
        Poll::Pending
    }
}

impl AsyncRead for ClientIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.opening {
            None => self.stream.tls().poll_read(cx, buf),
            Some(_) => self.poll_opening(cx, buf),
        }
    }
}

impl AsyncWrite for ClientIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.stream {
            Stream::Http1(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Http2(stream) => stream.poll_write(cx, buf),
        };
        self.progress(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = match &mut self.stream {
            Stream::Http1(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Http2(stream) => stream.poll_flush(cx),
        };
        self.progress(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Http1(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Http2(stream) => stream.poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.stream {
            Stream::Http1(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Http2(stream) => stream.poll_write_vectored(cx, bufs),
        };
        self.progress(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Http1(stream) => stream.is_write_vectored(),
            Stream::Http2(stream) => stream.inner.is_write_vectored(),
        }
    }
}
