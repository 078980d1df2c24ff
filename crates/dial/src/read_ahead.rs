//! A socket that is read in large pieces while much comes in.
//!
//! TLS asks for 4 kB at a time, which makes 256 system calls of an answer of 1 MB. A read that is filled
//! to the brim says that there is more; what comes next is fetched in large pieces, until there is no more
//! and the room is given back: most connections are idle most of the time.

use std::{
    future::Future as _,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Bytes that are fetched at a time while much comes in.
const PIECE: usize = 32 * 1024;

/// A socket with a buffer for reading, empty while little comes in.
#[derive(Debug)]
pub struct ReadAhead {
    tcp: TcpStream,
    ahead: BytesMut,
    /// The last read was filled to the brim.
    more: bool,
}

impl ReadAhead {
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self { tcp, ahead: BytesMut::new(), more: false }
    }

    /// The socket, for its options.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    fn poll_direct(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.tcp).poll_read(cx, buf))?;
        self.more = buf.remaining() == 0;
        Poll::Ready(Ok(()))
    }

    /// Fills the buffer. Ready with nothing in it at the end of the stream.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.ahead.reserve(PIECE);
        let filled = pin!(self.tcp.read_buf(&mut self.ahead)).poll(cx);
        if !matches!(filled, Poll::Ready(Ok(read)) if read > 0) {
            self.ahead = BytesMut::new();
            self.more = false;
        }
        Poll::Ready(ready!(filled).map(drop))
    }
}

impl AsyncRead for ReadAhead {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            if !self.more {
                return self.poll_direct(cx, buf);
            }
            ready!(self.poll_fill(cx))?;
        }
        let taken = buf.remaining().min(self.ahead.len());
        buf.put_slice(&self.ahead[..taken]);
        self.ahead.advance(taken);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ReadAhead {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt as _, net::TcpListener};

    use super::*;

    /// Whatever the sizes of reads, the bytes are those that were sent, and nothing is kept at rest.
    #[tokio::test]
    async fn bytes_come_through_in_order_and_the_room_is_given_back() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut sender = TcpStream::connect(listener.local_addr()?).await?;
        let mut reader = ReadAhead::new(listener.accept().await?.0);
        let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let sending = tokio::spawn({
            let sent = sent.clone();
            async move {
                sender.write_all(&sent).await?;
                io::Result::Ok(sender)
            }
        });
        let mut got = Vec::new();
        for size in [1, 4096, 100, 40_000].into_iter().cycle() {
            let mut buf = vec![0; size.min(sent.len() - got.len())];
            let read = reader.read(&mut buf).await?;
            got.extend_from_slice(&buf[..read]);
            if got.len() == sent.len() {
                break;
            }
        }
        assert!(got == sent, "other bytes than were sent");
        let sender = sending.await.map_err(io::Error::other)??;
        let idle = tokio::time::timeout(std::time::Duration::from_millis(10), reader.read(&mut [0; 8])).await;
        assert!(idle.is_err());
        assert_eq!(reader.ahead.capacity(), 0);
        drop(sender);
        assert_eq!(reader.read(&mut [0; 8]).await?, 0);
        Ok(())
    }
}
