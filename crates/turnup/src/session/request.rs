//! What a host is asked for.

use std::{fmt, path::PathBuf, sync::Arc};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::Error;

/// How much of a file of this machine is in memory at once, in bytes.
const BLOCK: usize = 128 << 10;

/// The contents of a file.
#[derive(Clone, PartialEq, Eq)]
pub enum Payload {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// A file of this machine, which has this many bytes.
    Local {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
}

impl Payload {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Local { size, .. } => *size,
        }
    }
}

// Keys are among them.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.size())
    }
}

/// A request: words, which stand in no need of quoting, and perhaps a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    line: String,
    payload: Option<Payload>,
}

impl Request {
    /// A verb of the script and its arguments.
    pub fn new(verb: &str, arguments: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        let mut line = verb.to_owned();
        for argument in arguments {
            // A word stays one word, whatever it is made of; paths and units are checked where they are made.
            let word: String = argument.to_string().chars().filter(|c| c.is_ascii_graphic()).collect();
            line.push(' ');
            line.push_str(&word);
        }
        Self { line, payload: None }
    }

    /// The same with a file behind it.
    #[must_use]
    pub fn with(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    /// What it does, for messages.
    pub fn step(&self) -> String {
        let mut words = self.line.split(' ');
        let (verb, last) = (words.next().unwrap_or_default(), words.next_back());
        let many = self.line.split(' ').count() > 6;
        match last {
            Some(last) if !many && verb != "facts" => format!("{verb} {last}"),
            _ => verb.to_owned(),
        }
    }
}

/// Sends them all. A broken pipe is no error here: the other side says why.
pub(super) async fn write_all(to: &mut (impl AsyncWrite + Unpin), requests: &[Request]) -> Result<(), Error> {
    for request in requests {
        if to.write_all(format!("{}\n", request.line).as_bytes()).await.is_err() {
            return Ok(());
        }
        let sent = match &request.payload {
            None => Ok(()),
            Some(Payload::Bytes(bytes)) => to.write_all(bytes).await,
            Some(Payload::Local { path, size }) => local(to, path, *size).await?,
        };
        if sent.is_err() {
            return Ok(());
        }
    }
    let _ = to.flush().await;
    Ok(())
}

/// Sends a file. The outer error is that of the file, the inner one that of the pipe.
async fn local(
    to: &mut (impl AsyncWrite + Unpin),
    path: &std::path::Path,
    size: u64,
) -> Result<std::io::Result<()>, Error> {
    use std::io::Read as _;
    let failed = |source| Error::file("read", path, source);
    let mut file = fs_err::File::open(path).map_err(failed)?.into_parts().0.take(size);
    let mut left = size;
    let mut block = vec![0; BLOCK];
    while left > 0 {
        let read = file.read(&mut block).map_err(failed)?;
        if read == 0 {
            return Err(failed(std::io::Error::other("it is shorter than it was")));
        }
        left -= read as u64;
        if let Err(error) = to.write_all(&block[..read]).await {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}
