//! What a server does instead of answering as it should.

use std::{fmt, str::FromStr, time::Duration};

/// One deviation, or a special answer that a test needs. As text (query parameter `act`): the name in
/// kebab-case, with its argument after a colon, for example `bytes:1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing special.
    Serve,
    /// The request is read, nothing is answered.
    Hang,
    /// Head and a first byte, then nothing.
    HangBody,
    /// A JSON body, one byte at a time with this pause.
    Drip(Duration),
    /// The proper answer after this time.
    Delay(Duration),
    /// A web page, status 200.
    WrongContentType,
    /// Spaces without end, as JSON.
    EndlessBody,
    /// A redirect to this address.
    Redirect(String),
    /// JSON that breaks off.
    InvalidJson,
    /// Discovery (the form that was asked for) with so many groups, made while it is sent.
    ManyGroups(usize),
    /// Valid discovery of at least so many bytes, made while it is sent.
    HugeDiscovery(u64),
    /// This status with a `Status` object.
    Status(u16),
    /// This status with a plain text.
    PlainStatus(u16),
    /// Half of the announced body, then the connection ends.
    Truncate,
    /// HTTP/2: RST_STREAM with REFUSED_STREAM, before the body is read. HTTP/1.1: the connection ends.
    Refuse,
    /// HTTP/2: RST_STREAM with INTERNAL_ERROR after the body was read. HTTP/1.1: the connection ends.
    Reset,
    /// What was received, as JSON (see [`crate::Recorded`]).
    Echo,
    /// A body of so many bytes, of a fixed pattern.
    Bytes(usize),
    /// The request's body, sent back as it comes.
    Mirror,
    /// A watch: one JSON line every such pause, without end.
    Events(Duration),
    /// A short body and the trailer `x-trailer: done`.
    Trailers,
    /// An upgrade is accepted; what comes is sent back, and `bye` after the peer's end.
    UpgradeEcho,
    /// An upgrade is refused with 403 and a `Status`.
    UpgradeRefuse,
}

impl FromStr for Act {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, argument) = text.split_once(':').unwrap_or((text, ""));
        let millis = || number(argument).map(Duration::from_millis);
        Ok(match name {
            "serve" => Self::Serve,
            "hang" => Self::Hang,
            "hang-body" => Self::HangBody,
            "drip" => Self::Drip(millis()?),
            "delay" => Self::Delay(millis()?),
            "wrong-content-type" => Self::WrongContentType,
            "endless-body" => Self::EndlessBody,
            "redirect" => Self::Redirect(argument.to_owned()),
            "invalid-json" => Self::InvalidJson,
            "many-groups" => Self::ManyGroups(number(argument)?),
            "huge-discovery" => Self::HugeDiscovery(number(argument)?),
            "status" => Self::Status(number(argument)?),
            "plain-status" => Self::PlainStatus(number(argument)?),
            "truncate" => Self::Truncate,
            "refuse" => Self::Refuse,
            "reset" => Self::Reset,
            "echo" => Self::Echo,
            "bytes" => Self::Bytes(number(argument)?),
            "mirror" => Self::Mirror,
            "events" => Self::Events(millis()?),
            "trailers" => Self::Trailers,
            "upgrade-echo" => Self::UpgradeEcho,
            "upgrade-refuse" => Self::UpgradeRefuse,
            _ => return Err(format!("no act is called {name:?}")),
        })
    }
}

fn number<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text:?}: {error}"))
}

impl Act {
    /// The act that a query asks for; none when it names none.
    pub(crate) fn from_query(query: &str) -> Option<Self> {
        let value = query.split('&').find_map(|pair| pair.strip_prefix("act="))?;
        // A proxy in between may have encoded it anew.
        let value = value.replace("%3A", ":").replace("%2F", "/");
        Some(value.parse().unwrap_or_else(|error| panic!("{query}: {error}")))
    }

    /// Whether the request's body stays unread.
    pub(crate) fn leaves_body(&self) -> bool {
        matches!(self, Self::Refuse | Self::Mirror | Self::UpgradeEcho)
    }
}
