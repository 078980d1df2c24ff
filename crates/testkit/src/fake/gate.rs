//! Connections that can be frozen: nothing is read, nothing is written, nothing is closed, as when a
//! cable is pulled.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The switch for all connections of a server.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    frozen: bool,
    waiting: Vec<Waker>,
    /// Bytes as they came, while recording is on.
    raw: Option<Vec<u8>>,
}

impl Gate {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_frozen(&self, frozen: bool) {
        let mut state = self.state();
        state.frozen = frozen;
        if !frozen {
            state.waiting.drain(..).for_each(Waker::wake);
        }
    }

    pub(crate) fn record_raw(&self) {
        self.state().raw = Some(Vec::new());
    }

    pub(crate) fn raw(&self) -> Vec<u8> {
        self.state().raw.clone().unwrap_or_default()
    }

    fn poll_open(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.frozen {
            return Poll::Ready(());
        }
        state.waiting.push(cx.waker().clone());
        Poll::Pending
    }

    fn saw(&self, bytes: &[u8]) {
        if let Some(raw) = &mut self.state().raw {
            raw.extend_from_slice(bytes);
        }
    }
}

/// A connection behind the gate: once below TLS, once above it, where the bytes are those of HTTP.
pub(crate) struct Gated<S> {
    pub(crate) stream: S,
    pub(crate) gate: Gate,
    /// Whether what is read here is recorded.
    pub(crate) records: bool,
}

impl<S: AsyncRead + Unpin> AsyncRead for Gated<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        std::task::ready!(self.gate.poll_open(cx));
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if self.records {
            self.gate.saw(&buf.filled()[before..]);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gated<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        std::task::ready!(self.gate.poll_open(cx));
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.gate.poll_open(cx));
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.gate.poll_open(cx));
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
