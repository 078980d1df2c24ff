//! Every fault, with what becomes of it.

use std::time::Duration;

use catalog::Cause;
use testkit::{Act, Serving, fake::Builder};

/// The group of the server that has done nothing.
pub(crate) const NEIGHBOUR: &str = "neighbour.example.com";

/// One fault of one server.
pub(crate) struct Row {
    /// Name of the registration, and first label of its group.
    pub(crate) name: &'static str,
    /// What kind of server it is.
    pub(crate) shape: fn(Builder) -> Builder,
    /// What goes wrong.
    pub(crate) fault: Fault,
    /// Wrong before it was ever seen.
    pub(crate) from_start: bool,
    /// Type, status and reason of the condition that tells of it.
    pub(crate) condition: (&'static str, &'static str, &'static str),
    /// Whose sentence of advice the condition ends with.
    pub(crate) cause: Option<Cause>,
    /// What a client gets.
    pub(crate) client: Seen,
    /// How many requests on each connection.
    pub(crate) repeat: usize,
    /// Whether a client of this server waits for far longer than anybody else takes.
    pub(crate) holds: bool,
    /// `spec.limits.connectTimeout`.
    pub(crate) connect_timeout: &'static str,
}

/// What goes wrong.
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// With every request.
    Act(fn() -> Act),
    /// With discovery and OpenAPI alone.
    OfDiscovery(fn() -> Act),
    /// The process is gone.
    Killed,
    /// The process is stopped: the kernel accepts and acknowledges, nothing else happens.
    Frozen,
    /// Connections are accepted and never looked at.
    HalfOpen,
    /// Something that is not HTTP listens there.
    Garbage,
    /// GOAWAY after so many requests.
    Goaway(u32),
    /// It offers somebody else's group too.
    Claims(&'static str),
    /// It has come back with this certificate.
    Certificate(Serving),
}

/// What a client gets.
pub(crate) enum Seen {
    /// A `Status` of this code and reason, whose message says this.
    Refused(u16, &'static str, &'static str),
    /// The server's own answer, with this status and type.
    Passed(u16, &'static str),
    /// The server's answer as far as it goes, and its end when the time is over.
    CutOff,
}

const JSON: Seen = Seen::Passed(200, "application/json");
const UNAVAILABLE: (&str, &str) = ("Available", "False");

/// A server that is found unavailable for this cause.
const fn fault(name: &'static str, fault: Fault, reason: &'static str, cause: Cause, client: Seen) -> Row {
    Row {
        name,
        shape: |builder| builder,
        fault,
        from_start: false,
        condition: (UNAVAILABLE.0, UNAVAILABLE.1, reason),
        cause: Some(cause),
        client,
        repeat: 1,
        holds: false,
        connect_timeout: "5s",
    }
}

/// A server that is unusual and works.
const fn works(name: &'static str, shape: fn(Builder) -> Builder, fault: Fault) -> Row {
    Row {
        name,
        shape,
        fault,
        from_start: false,
        condition: ("Available", "True", "Passed"),
        cause: None,
        client: JSON,
        repeat: 25,
        holds: false,
        connect_timeout: "5s",
    }
}

impl Row {
    /// Its clients wait. HTTP/1.1 has no ping, so that a server of a busy machine is not taken for dead.
    const fn holds(mut self) -> Self {
        self.holds = true;
        self
    }

    /// Wrong before it was ever seen: nobody knows its group.
    const fn at_once(mut self) -> Self {
        self.from_start = true;
        self.client = Seen::Passed(404, "text/plain");
        self
    }

    const fn shaped(mut self, shape: fn(Builder) -> Builder) -> Self {
        self.shape = shape;
        self
    }

    const fn connect_timeout(mut self, timeout: &'static str) -> Self {
        self.connect_timeout = timeout;
        self
    }

    const fn condition(mut self, kind: &'static str, status: &'static str, reason: &'static str) -> Self {
        (self.condition, self.cause) = ((kind, status, reason), None);
        self
    }
}

const UNREACHABLE: &str = "ServiceUnavailable";

/// All of them.
pub(crate) const ROWS: &[Row] = &[
    fault(
        "killed",
        Fault::Killed,
        "ConnectionRefused",
        Cause::ConnectionRefused,
        Seen::Refused(503, UNREACHABLE, "refuses connections"),
    ),
    fault(
        "hung",
        Fault::Act(|| Act::Hang),
        "ResponseTimeout",
        Cause::ResponseTimeout,
        Seen::Refused(504, "Timeout", "did not answer in time"),
    ),
    fault(
        "hung-http1",
        Fault::Act(|| Act::Hang),
        "ResponseTimeout",
        Cause::ResponseTimeout,
        Seen::Refused(504, "Timeout", "did not answer in time"),
    )
    .shaped(Builder::http1_only)
    .holds(),
    fault(
        "frozen",
        Fault::Frozen,
        "ConnectTimeout",
        Cause::ConnectTimeout,
        Seen::Refused(504, "Timeout", "did not answer in time"),
    )
    .shaped(Builder::http1_only)
    .connect_timeout("10m")
    .holds(),
    fault(
        "half-open",
        Fault::HalfOpen,
        "ConnectTimeout",
        Cause::ConnectTimeout,
        Seen::Refused(504, "Timeout", "did not answer in time"),
    )
    .connect_timeout("10m")
    .holds(),
    fault(
        "half-open-known",
        Fault::HalfOpen,
        "ConnectTimeout",
        Cause::ConnectTimeout,
        Seen::Refused(503, UNREACHABLE, "does not accept connections in time"),
    )
    .connect_timeout("500ms"),
    fault(
        "drip",
        Fault::Act(|| Act::Drip(Duration::from_secs(3))),
        "ResponseTimeout",
        Cause::ResponseTimeout,
        Seen::CutOff,
    )
    .shaped(Builder::http1_only)
    .holds(),
    fault(
        "half-a-body",
        Fault::Act(|| Act::HangBody),
        "ResponseTimeout",
        Cause::ResponseTimeout,
        Seen::CutOff,
    )
    .shaped(Builder::http1_only)
    .holds(),
    fault("endless", Fault::Act(|| Act::EndlessBody), "DocumentTooLarge", Cause::TooLarge, Seen::CutOff)
        .shaped(Builder::http1_only)
        .holds(),
    fault(
        "cut-short",
        Fault::Act(|| Act::Truncate),
        "ConnectionLost",
        Cause::ConnectionLost,
        Seen::Refused(503, UNREACHABLE, "closed the connection"),
    )
    .shaped(Builder::http1_only),
    fault(
        "garbage",
        Fault::Garbage,
        "ProtocolError",
        Cause::ProtocolError,
        Seen::Refused(502, "InternalError", "broke the HTTP protocol"),
    )
    .shaped(Builder::http1_only),
    fault(
        "web-page",
        Fault::Act(|| Act::WrongContentType),
        "WrongContentType",
        Cause::WrongContentType,
        Seen::Passed(200, "text/html"),
    ),
    fault(
        "redirects",
        Fault::Act(|| Act::Redirect("https://elsewhere.example.com/".to_owned())),
        "RedirectRefused",
        Cause::RedirectRefused,
        Seen::Refused(
            502,
            "InternalError",
            "the backend attempted to redirect this request, which is not permitted",
        ),
    ),
    fault("invalid-json", Fault::Act(|| Act::InvalidJson), "InvalidDocument", Cause::InvalidDocument, JSON),
    fault(
        "million-groups",
        Fault::OfDiscovery(|| Act::ManyGroups(1_000_000)),
        "DocumentTooLarge",
        Cause::TooLarge,
        JSON,
    ),
    fault(
        "many-groups",
        Fault::OfDiscovery(|| Act::ManyGroups(30_000)),
        "TooManyGroups",
        Cause::TooMany,
        JSON,
    ),
    fault(
        "gigabyte",
        Fault::OfDiscovery(|| Act::HugeDiscovery(1 << 30)),
        "DocumentTooLarge",
        Cause::TooLarge,
        JSON,
    ),
    fault(
        "server-error",
        Fault::Act(|| Act::Status(500)),
        "UnexpectedStatus",
        Cause::UnexpectedStatus,
        Seen::Passed(500, "application/json"),
    ),
    fault(
        "bad-san",
        Fault::Certificate(Serving::WrongName),
        "CertificateNameMismatch",
        Cause::CertificateNameMismatch,
        Seen::Refused(503, UNREACHABLE, "has a certificate for another name"),
    ),
    fault(
        "expired",
        Fault::Certificate(Serving::Expired),
        "CertificateExpired",
        Cause::CertificateExpired,
        Seen::Refused(503, UNREACHABLE, "expired"),
    ),
    fault(
        "unknown-ca",
        Fault::Certificate(Serving::UnknownAuthority),
        "UnknownAuthority",
        Cause::UnknownAuthority,
        Seen::Refused(503, UNREACHABLE, "signed by an unknown authority"),
    ),
    fault("claims", Fault::Claims(NEIGHBOUR), "GroupClaimedTwice", Cause::TooMany, JSON).condition(
        "Conflict",
        "True",
        "GroupClaimedTwice",
    ),
    fault("never-answered", Fault::Act(|| Act::Hang), "ResponseTimeout", Cause::ResponseTimeout, JSON)
        .at_once(),
    fault(
        "gigabyte-at-once",
        Fault::Act(|| Act::HugeDiscovery(1 << 30)),
        "DocumentTooLarge",
        Cause::TooLarge,
        JSON,
    )
    .at_once(),
    fault(
        "million-at-once",
        Fault::Act(|| Act::ManyGroups(1_000_000)),
        "DocumentTooLarge",
        Cause::TooLarge,
        JSON,
    )
    .at_once(),
    works("http1-only", Builder::http1_only, Fault::None),
    works("http2-only", Builder::http2_only, Fault::None),
    works("legacy-discovery", Builder::legacy_discovery_only, Fault::None),
    works("no-openapi-v3", Builder::openapi_v2_only, Fault::None),
    works("goaway", |builder| builder, Fault::Goaway(3)),
    works("goaway-http1", Builder::http1_only, Fault::Goaway(3)),
    works("goaway-always", |builder| builder, Fault::Goaway(1)),
];
