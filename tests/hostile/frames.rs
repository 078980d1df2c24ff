//! HTTP/2 by hand: frames as a client would send them that no library lets one send.

use std::{collections::BTreeSet, io, time::Duration};

use testkit::{Target, client::Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

pub(crate) const DATA: u8 = 0x0;
pub(crate) const HEADERS: u8 = 0x1;
pub(crate) const RST_STREAM: u8 = 0x3;
pub(crate) const SETTINGS: u8 = 0x4;
pub(crate) const PING: u8 = 0x6;
pub(crate) const GOAWAY: u8 = 0x7;
pub(crate) const WINDOW_UPDATE: u8 = 0x8;
pub(crate) const CONTINUATION: u8 = 0x9;

pub(crate) const ACK: u8 = 0x1;
pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;

/// One frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Header fields as literals that nobody has to remember. Names and values are not looked at.
pub(crate) fn fields<N: AsRef<[u8]>, V: AsRef<[u8]>>(fields: &[(N, V)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        string(&mut block, name.as_ref());
        string(&mut block, value.as_ref());
    }
    block
}

fn string(block: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text.len();
    if rest < 127 {
        block.push(rest as u8);
    } else {
        block.push(127);
        rest -= 127;
        while rest >= 128 {
            block.push((rest % 128) as u8 | 0x80);
            rest /= 128;
        }
        block.push(rest as u8);
    }
    block.extend_from_slice(text);
}

/// A connection of which a test writes the frames.
pub(crate) struct Frames {
    stream: Box<dyn Stream>,
}

/// What came on a connection.
#[derive(Debug, Default)]
pub(crate) struct Came {
    /// Streams that have ended, in whatever way.
    pub(crate) ended: BTreeSet<u32>,
    /// Streams whose answer had status 200.
    pub(crate) ok: BTreeSet<u32>,
    /// Whether the connection is over: GOAWAY, or its end.
    pub(crate) over: bool,
}

impl Frames {
    /// Connects, and says that any amount may be sent.
    pub(crate) async fn connect(target: &Target) -> io::Result<Self> {
        let mut frames = Self { stream: target.connect(pki::ALPN_H2).await? };
        let mut hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // SETTINGS_INITIAL_WINDOW_SIZE and the window of the connection.
        hello.extend(frame(SETTINGS, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]));
        hello.extend(frame(WINDOW_UPDATE, 0, 0, &(i32::MAX - 65_535).to_be_bytes()));
        frames.write(&hello).await?;
        Ok(frames)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Reads until all of `streams` have ended or the connection is over; what is missing after
    /// `patience` is missing.
    pub(crate) async fn read(&mut self, streams: &BTreeSet<u32>, patience: Duration) -> Came {
        let mut came = Came::default();
        let reading = async {
            while !streams.is_subset(&came.ended) && !came.over {
                if self.read_frame(&mut came).await.is_err() {
                    came.over = true;
                }
            }
        };
        // A timeout shows in what came.
        let _ = tokio::time::timeout(patience, reading).await;
        came
    }

    async fn read_frame(&mut self, came: &mut Came) -> io::Result<()> {
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).await?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await?;
        let (kind, flags) = (header[3], header[4]);
        match kind {
            // Index 8 of the static table; the status comes first.
            HEADERS if payload.first() == Some(&0x88) => {
                came.ok.insert(stream);
            }
            SETTINGS if flags & ACK == 0 => self.write(&frame(SETTINGS, ACK, 0, &[])).await?,
            PING if flags & ACK == 0 => self.write(&frame(PING, ACK, 0, &payload)).await?,
            GOAWAY => came.over = true,
            _ => {}
        }
        let ends = matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0;
        if ends || kind == RST_STREAM {
            came.ended.insert(stream);
        }
        Ok(())
    }
}
