//! Why a TLS handshake failed, in terms that a person can act on.

use rustls::{AlertDescription, CertificateError, Error};

/// The kinds of failure that differ in what to do about them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The peer's certificate is signed by nobody we trust.
    UnknownAuthority,
    /// The peer's certificate has expired. Seconds since the Unix epoch, when known.
    Expired {
        /// End of its validity.
        not_after: Option<u64>,
    },
    /// The peer's certificate is not valid yet. Seconds since the Unix epoch, when known.
    NotYetValid {
        /// Start of its validity.
        not_before: Option<u64>,
    },
    /// The peer's certificate is for other names.
    NameMismatch {
        /// The name that was looked for, when known.
        expected: Option<String>,
        /// The names in the certificate.
        presented: Vec<String>,
    },
    /// The peer's certificate is unfit for another reason.
    BadCertificate(String),
    /// The peer does not accept the certificate that we showed, or wants one and got none.
    OursRefused(String),
    /// The peer does not speak TLS: most likely clear-text HTTP.
    NotTls,
    /// No TLS version, cipher or protocol in common.
    NothingInCommon(String),
    /// Anything else.
    Other(String),
}

/// Puts a rustls error into its kind.
pub fn classify(error: &Error) -> TlsFailure {
    match error {
        Error::InvalidCertificate(error) => classify_certificate(error),
        Error::AlertReceived(alert) => classify_alert(*alert),
        Error::InvalidMessage(_) => TlsFailure::NotTls,
        Error::PeerIncompatible(reason) => TlsFailure::NothingInCommon(format!("{reason:?}")),
        Error::NoApplicationProtocol => TlsFailure::NothingInCommon("no HTTP version in common".to_owned()),
        other => TlsFailure::Other(other.to_string()),
    }
}

/// As [`classify`], for an error of which only the text is left: HTTP/2 libraries keep no more of
/// the I/O error that ended a connection. None when the text tells of no alert.
pub fn classify_text(text: &str) -> Option<TlsFailure> {
    let (_, name) = text.split_once("received fatal alert: ")?;
    let told = |alert: &AlertDescription| name.starts_with(&format!("{alert:?}"));
    OF_CERTIFICATES.into_iter().find(told).map(classify_alert)
}

/// The alerts with which a server refuses a client certificate. With TLS 1.3 they come after the
/// client's side of the handshake is done, in place of the first answer.
const OF_CERTIFICATES: [AlertDescription; 8] = [
    AlertDescription::CertificateRequired,
    AlertDescription::UnknownCA,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateUnknown,
    AlertDescription::AccessDenied,
];

fn classify_certificate(error: &CertificateError) -> TlsFailure {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFailure::UnknownAuthority,
        CertificateError::Expired => TlsFailure::Expired { not_after: None },
        CertificateError::ExpiredContext { not_after, .. } => {
            TlsFailure::Expired { not_after: Some(not_after.as_secs()) }
        }
        CertificateError::NotValidYet => TlsFailure::NotYetValid { not_before: None },
        CertificateError::NotValidYetContext { not_before, .. } => {
            TlsFailure::NotYetValid { not_before: Some(not_before.as_secs()) }
        }
        CertificateError::NotValidForName => {
            TlsFailure::NameMismatch { expected: None, presented: Vec::new() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => TlsFailure::NameMismatch {
            expected: Some(expected.to_str().into_owned()),
            presented: presented.iter().map(|name| plain_name(name)).collect(),
        },
        other => TlsFailure::BadCertificate(other.to_string()),
    }
}

/// webpki writes `DnsName("a")` and `IpAddress(127.0.0.1)`; people want the name.
fn plain_name(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"').to_owned()
}

fn classify_alert(alert: AlertDescription) -> TlsFailure {
    match alert {
        AlertDescription::CertificateRequired => {
            TlsFailure::OursRefused("it requires a client certificate".to_owned())
        }
        AlertDescription::UnknownCA => {
            TlsFailure::OursRefused("it does not know the CA of the client certificate".to_owned())
        }
        alert if OF_CERTIFICATES.contains(&alert) => {
            TlsFailure::OursRefused(format!("it refuses the client certificate ({alert:?})"))
        }
        AlertDescription::ProtocolVersion
        | AlertDescription::HandshakeFailure
        | AlertDescription::InsufficientSecurity
        | AlertDescription::NoApplicationProtocol => TlsFailure::NothingInCommon(format!("{alert:?}")),
        other => TlsFailure::Other(format!("the peer sent the alert {other:?}")),
    }
}

impl std::fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownAuthority => f.write_str("the certificate is signed by an unknown authority"),
            Self::Expired { not_after: Some(at) } => write!(f, "the certificate expired at {}", date(*at)),
            Self::Expired { not_after: None } => f.write_str("the certificate has expired"),
            Self::NotYetValid { not_before: Some(at) } => {
                write!(f, "the certificate is not valid before {}", date(*at))
            }
            Self::NotYetValid { not_before: None } => f.write_str("the certificate is not valid yet"),
            Self::NameMismatch { expected, presented } => {
                let expected = expected.as_deref().unwrap_or("the expected name");
                match presented.is_empty() {
                    true => write!(f, "the certificate carries no names, not even {expected}"),
                    false => {
                        write!(f, "the certificate is for {}, not for {expected}", presented.join(", "))
                    }
                }
            }
            Self::BadCertificate(reason) => write!(f, "the certificate cannot be accepted: {reason}"),
            Self::OursRefused(reason) => f.write_str(reason),
            Self::NotTls => f.write_str("it does not speak TLS (clear-text HTTP?)"),
            Self::NothingInCommon(reason) => write!(f, "no TLS parameters in common: {reason}"),
            Self::Other(reason) => f.write_str(reason),
        }
    }
}

fn date(seconds: u64) -> String {
    use time::{OffsetDateTime, format_description::well_known::Rfc3339};
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_else(|| format!("{seconds} s after 1970"))
}
