//! HTTP/2 by hand, for the one thing that a proper server library does not do: GOAWAY that says that
//! a request just received was not looked at.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

const PREFACE: usize = 24;
const HEADER: usize = 9;
const HEADERS: u8 = 0x1;
const SETTINGS: u8 = 0x4;
const GOAWAY: u8 = 0x7;
const ACK: u8 = 0x1;

/// Takes the preface and settings, waits for the first request, answers GOAWAY with last stream 0,
/// and reads on until the client closes.
pub(crate) async fn refuse_first(mut io: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut preface = [0; PREFACE];
    io.read_exact(&mut preface).await?;
    io.write_all(&frame(SETTINGS, 0, &[])).await?;
    loop {
        let mut header = [0; HEADER];
        io.read_exact(&mut header).await?;
        let length = u64::from(u32::from_be_bytes([0, header[0], header[1], header[2]]));
        tokio::io::copy(&mut (&mut io).take(length), &mut tokio::io::sink()).await?;
        match (header[3], header[4]) {
            (SETTINGS, flags) if flags & ACK == 0 => io.write_all(&frame(SETTINGS, ACK, &[])).await?,
            // Last stream identifier 0, error NO_ERROR.
            (HEADERS, _) => io.write_all(&frame(GOAWAY, 0, &[0; 8])).await?,
            _ => {}
        }
        io.flush().await?;
    }
}

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, 0];
    frame.extend_from_slice(payload);
    frame
}
