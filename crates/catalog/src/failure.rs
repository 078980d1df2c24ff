//! Why a backend did not do what was asked: one list of causes for conditions, answers and logs.

use std::fmt;

/// A cause, with the CamelCase word that conditions and metrics carry and one sentence of advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// No endpoint is known.
    NoEndpoints,
    /// The host name does not resolve.
    NameNotResolved,
    /// Nothing listens there.
    ConnectionRefused,
    /// No connection within the connect timeout.
    ConnectTimeout,
    /// The connection broke.
    ConnectionLost,
    /// The serving certificate is signed by an unknown authority.
    UnknownAuthority,
    /// The serving certificate has expired or is not valid yet.
    CertificateExpired,
    /// The serving certificate does not carry the expected name.
    CertificateNameMismatch,
    /// TLS failed for another reason.
    TlsFailed,
    /// The CA bundle, client certificate or key of the registration cannot be used.
    InvalidCredentials,
    /// It does not speak HTTP as it should.
    ProtocolError,
    /// No answer in time.
    ResponseTimeout,
    /// It refuses the identity that the door presents (401).
    IdentityRejected,
    /// It refuses what the door asks under its own identity (403).
    Forbidden,
    /// An answer with an unexpected status code.
    UnexpectedStatus,
    /// It answered with a redirect.
    RedirectRefused,
    /// An answer with another content type than the one asked for.
    WrongContentType,
    /// An answer that is not the JSON that it should be.
    InvalidDocument,
    /// An answer larger than the limit.
    TooLarge,
    /// More groups, versions or resources than the limit.
    TooMany,
    /// The registration's own limit on connections or requests in flight is reached.
    Overloaded,
}

impl Cause {
    /// The CamelCase reason for conditions and metrics.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoEndpoints => "MissingEndpoints",
            Self::NameNotResolved => "NameNotResolved",
            Self::ConnectionRefused => "ConnectionRefused",
            Self::ConnectTimeout => "ConnectTimeout",
            Self::ConnectionLost => "ConnectionLost",
            Self::UnknownAuthority => "UnknownAuthority",
            Self::CertificateExpired => "CertificateExpired",
            Self::CertificateNameMismatch => "CertificateNameMismatch",
            Self::TlsFailed => "TLSFailed",
            Self::InvalidCredentials => "InvalidCredentials",
            Self::ProtocolError => "ProtocolError",
            Self::ResponseTimeout => "ResponseTimeout",
            Self::IdentityRejected => "IdentityRejected",
            Self::Forbidden => "Forbidden",
            Self::UnexpectedStatus => "UnexpectedStatus",
            Self::RedirectRefused => "RedirectRefused",
            Self::WrongContentType => "WrongContentType",
            Self::InvalidDocument => "InvalidDocument",
            Self::TooLarge => "DocumentTooLarge",
            Self::TooMany => "TooManyGroups",
            Self::Overloaded => "Overloaded",
        }
    }

    /// What happened, to complete "the server …" in an answer to a client. Names no address.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::NoEndpoints => "has no endpoints",
            Self::NameNotResolved => "has a host name that does not resolve",
            Self::ConnectionRefused => "refuses connections",
            Self::ConnectTimeout => "does not accept connections in time",
            Self::ConnectionLost => "closed the connection",
            Self::UnknownAuthority => "has a certificate signed by an unknown authority",
            Self::CertificateExpired => "has a certificate that is expired or not valid yet",
            Self::CertificateNameMismatch => "has a certificate for another name",
            Self::TlsFailed => "failed the TLS handshake",
            Self::InvalidCredentials => "is registered with a certificate or key that cannot be used",
            Self::ProtocolError => "broke the HTTP protocol",
            Self::ResponseTimeout => "did not answer in time",
            Self::IdentityRejected => "rejects the identity of the gateway",
            Self::Forbidden => "forbids what the gateway asks of it",
            Self::UnexpectedStatus => "answered with an unexpected status",
            Self::RedirectRefused => "answered with a redirect",
            Self::WrongContentType => "answered with an unexpected content type",
            Self::InvalidDocument => "answered with an invalid document",
            Self::TooLarge => "answered with too large a document",
            Self::TooMany => "offers too many groups",
            Self::Overloaded => "has as many requests in flight as its registration allows",
        }
    }

    /// What an administrator does about it, one sentence.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoEndpoints => {
                "Check that the Service has ready endpoints and that its selector matches the server's pods."
            }
            Self::NameNotResolved => {
                "Check the host in the registration's URL, and the DNS server of the gateway's host."
            }
            Self::ConnectionRefused => "Start the server, or correct the port in its registration.",
            Self::ConnectTimeout => {
                "Check the address in the registration and the firewalls between the gateway and the server."
            }
            Self::ConnectionLost => "Read the server's own log around this time.",
            Self::UnknownAuthority => {
                "Put the CA that signed the server's certificate into the registration's CA bundle."
            }
            Self::CertificateExpired => {
                "Renew the server's certificate, or correct the clock of the two hosts."
            }
            Self::CertificateNameMismatch => {
                "Set the registration's server name to a name in the certificate, or issue one for this name."
            }
            Self::TlsFailed => "Check that the server speaks TLS 1.2 or 1.3 on this port.",
            Self::InvalidCredentials => {
                "Correct the PEM of the CA bundle, the client certificate or the key in the registration."
            }
            Self::ProtocolError => "Check that an HTTP API server listens on this port.",
            Self::ResponseTimeout => "Check that the server is not overloaded or stopped.",
            Self::IdentityRejected => {
                "Let the server trust the gateway's client CA (requestheader-client-ca-file), or choose another identity mode."
            }
            Self::Forbidden => "Allow the gateway's user what the message names.",
            Self::UnexpectedStatus => "Read the server's own log for this request.",
            Self::RedirectRefused => "Register the address to which the server redirects.",
            Self::WrongContentType => {
                "Check that the base URL points at an API server and not at a web page."
            }
            Self::InvalidDocument => {
                "Check that the server follows the Kubernetes API conventions for discovery."
            }
            Self::TooLarge => "Shrink the server's discovery or OpenAPI document.",
            Self::TooMany => "Split the server; a single registration may not offer this many groups.",
            Self::Overloaded => "Raise the limits in the registration, or add endpoints.",
        }
    }
}

/// A cause with its particulars. The detail may name addresses and certificates: it is for
/// conditions and logs, never for an answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub cause: Cause,
    /// The particulars, one line.
    pub detail: String,
}

impl Failure {
    /// A failure of this kind with its particulars.
    pub fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cause.reason(), self.detail)
    }
}

impl std::error::Error for Failure {}
