//! Bytes as they are: for requests that no library would send.

use std::{io, time::Duration};

use pki::ALPN_HTTP1;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Stream, Target};

/// A connection on which a test writes what it likes.
pub struct Raw {
    stream: Box<dyn Stream>,
}

impl Raw {
    /// Connects; over TLS with HTTP/1.1 as the protocol.
    ///
    /// # Errors
    /// When the connection does not come about.
    pub async fn connect(target: &Target) -> io::Result<Self> {
        Ok(Self { stream: target.connect(ALPN_HTTP1).await? })
    }

    /// Connects with another protocol in the TLS handshake.
    ///
    /// # Errors
    /// When the connection does not come about.
    pub async fn connect_with(target: &Target, alpn: &[u8]) -> io::Result<Self> {
        Ok(Self { stream: target.connect(alpn).await? })
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// When the peer has closed.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Ends our side.
    ///
    /// # Errors
    /// When the peer has closed.
    pub async fn finish(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }

    /// Reads until the peer closes, or nothing comes for `quiet`.
    pub async fn read_all(&mut self, quiet: Duration) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 16 << 10];
        while let Ok(Ok(count)) = tokio::time::timeout(quiet, self.stream.read(&mut buffer)).await {
            if count == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..count]);
        }
        all
    }

    /// Reads until these bytes have come, and gives all up to their end.
    ///
    /// # Errors
    /// When the peer closes before.
    pub async fn read_until(&mut self, wanted: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        while !all.ends_with(wanted) {
            all.push(self.stream.read_u8().await?);
        }
        Ok(all)
    }

    /// Whether the peer closes within this time; what comes before is dropped.
    pub async fn is_closed_within(&mut self, patience: Duration) -> bool {
        let mut sink = tokio::io::sink();
        tokio::time::timeout(patience, tokio::io::copy(&mut self.stream, &mut sink)).await.is_ok()
    }

    /// The connection itself.
    pub fn into_stream(self) -> Box<dyn Stream> {
        self.stream
    }
}
