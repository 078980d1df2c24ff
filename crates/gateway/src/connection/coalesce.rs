//! Large pieces of an answer leave together.
//!
//! An HTTP/2 connection writes and flushes each frame of 16 kB by itself, so that an answer of 1 MB is
//! 64 system calls and, with the heads of the frames, 128 TLS records. Here large pieces are held
//! until there are 64 kB of them, or until the connection has nothing more to say.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::AsyncWrite;

/// Pieces from this size on are held: answers of the usual size go out at once, without a copy.
const LARGE: usize = 8 << 10;
/// Most bytes that are held.
const MOST: usize = 64 << 10;

/// A writer that holds large pieces.
///
/// Its user must flush again whenever it is woken, as the HTTP/2 connection does: a flush that follows
/// a held piece only asks to be called again, after what else is ready has been written.
pub(super) struct Coalesce<S> {
    pub(super) inner: S,
    held: Vec<u8>,
    /// How much of what is held was written.
    written: usize,
    /// Something was added after the last flush.
    growing: bool,
}

impl<S: AsyncWrite + Unpin> Coalesce<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, held: Vec::new(), written: 0, growing: false }
    }

    /// Holds the pieces, or tells that they have to be written: they are small, or too many.
    fn hold(&mut self, cx: &mut Context<'_>, pieces: &[io::IoSlice<'_>]) -> Poll<io::Result<Option<usize>>> {
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        if self.held.is_empty() && !(LARGE..MOST).contains(&length) {
            return Poll::Ready(Ok(None));
        }
        if self.held.len() + length > MOST {
            ready!(self.write_held(cx))?;
            if length >= MOST {
                return Poll::Ready(Ok(None));
            }
        }
        self.held.reserve_exact(MOST - self.held.len());
        for piece in pieces {
            self.held.extend_from_slice(piece);
        }
        self.growing = true;
        Poll::Ready(Ok(Some(length)))
    }

    /// Writes what is held; the room for it stays.
    fn write_held(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.held.len() {
            match ready!(Pin::new(&mut self.inner).poll_write(cx, &self.held[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        self.held.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, piece: &[u8]) -> Poll<io::Result<usize>> {
        match ready!(self.hold(cx, &[io::IoSlice::new(piece)]))? {
            Some(held) => Poll::Ready(Ok(held)),
            None => Pin::new(&mut self.inner).poll_write(cx, piece),
        }
    }

    pub(super) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match ready!(self.hold(cx, pieces))? {
            Some(held) => Poll::Ready(Ok(held)),
            None => Pin::new(&mut self.inner).poll_write_vectored(cx, pieces),
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.growing) && !self.held.is_empty() {
            cx.waker().wake_by_ref();
            return Poll::Ready(Ok(()));
        }
        ready!(self.write_held(cx))?;
        // An idle connection keeps no room.
        self.held = Vec::new();
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_held(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Takes at most `room` bytes a time, and none when there is no room.
    struct Peer {
        room: usize,
        writes: Vec<usize>,
        taken: Vec<u8>,
        flushed: usize,
    }

    impl AsyncWrite for Peer {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            piece: &[u8],
        ) -> Poll<io::Result<usize>> {
            if self.room == 0 {
                return Poll::Pending;
            }
            let length = piece.len().min(self.room);
            self.writes.push(length);
            self.taken.extend_from_slice(&piece[..length]);
            Poll::Ready(Ok(length))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.flushed += 1;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn writer(room: usize) -> Coalesce<Peer> {
        Coalesce::new(Peer { room, writes: Vec::new(), taken: Vec::new(), flushed: 0 })
    }

    fn written(writer: &mut Coalesce<Peer>, piece: &[u8]) {
        let cx = &mut Context::from_waker(Waker::noop());
        let parts =
            [io::IoSlice::new(&piece[..piece.len() / 2]), io::IoSlice::new(&piece[piece.len() / 2..])];
        assert!(
            matches!(writer.poll_write_vectored(cx, &parts), Poll::Ready(Ok(length)) if length == piece.len())
        );
    }

    #[test]
    fn frames_leave_together() {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut writer = writer(usize::MAX);
        let mut sent = Vec::new();
        for frame in 0..8 {
            let frame = vec![frame; 16_000];
            sent.extend_from_slice(&frame);
            written(&mut writer, &frame);
            assert!(writer.poll_flush(cx).is_ready());
        }
        assert_eq!(writer.inner.writes, [64_000], "only when there was no room");
        assert!(writer.poll_flush(cx).is_ready());
        assert_eq!(writer.inner.writes, [64_000, 64_000]);
        assert!(writer.inner.taken == sent && writer.inner.flushed == 1 && writer.held.capacity() == 0);
    }

    #[test]
    fn a_small_piece_goes_at_once_unless_something_is_before_it() {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut writer = writer(usize::MAX);
        assert!(matches!(writer.poll_write(cx, b"small"), Poll::Ready(Ok(5))));
        assert!(writer.poll_flush(cx).is_ready());
        assert!(writer.inner.writes == [5] && writer.inner.flushed == 1);
        written(&mut writer, &[1; LARGE]);
        assert!(matches!(writer.poll_write(cx, b"after"), Poll::Ready(Ok(5))));
        assert!(writer.poll_shutdown(cx).is_ready());
        assert!(writer.inner.taken.ends_with(b"\x01after"));
    }

    #[test]
    fn a_peer_that_does_not_read_is_awaited() {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut writer = writer(0);
        for _ in 0..4 {
            written(&mut writer, &[2; 16 << 10]);
        }
        assert!(writer.poll_write(cx, b"more").is_pending(), "no more than 64 kB are held");
        assert!(writer.poll_flush(cx).is_ready(), "asks to be called again");
        assert!(writer.poll_flush(cx).is_pending());
        writer.inner.room = 10_000;
        assert!(writer.poll_flush(cx).is_ready());
        assert_eq!(writer.inner.taken, [2; 64 << 10]);
    }
}
