//! Base URLs and `host:port`.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::Value;

use super::{Problems, scalars};
use crate::registration::Address;

/// A base URL, taken apart.
pub(super) struct BaseUrl {
    pub(super) address: Address,
    /// `""` or `/prefix`.
    pub(super) path: String,
}

/// Reads `text` as a base URL; what is wrong with it is reported at `field`.
pub(super) fn base_url(field: &str, text: &str, problems: &mut Problems) -> Option<BaseUrl> {
    let value = Value::from(text);
    let Some((scheme, rest)) = text.split_once("://") else {
        problems.invalid_but(field, &value, "is not a URL", format!("write https://{text}"));
        return None;
    };
    let tls = match scheme {
        "https" => true,
        "http" => false,
        _ => {
            problems.invalid_but(
                field,
                &value,
                format!("the scheme {scheme:?} is not supported"),
                "use https, or http on loopback",
            );
            return None;
        }
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if authority.contains('@') {
        // The value is not repeated: it carries a password.
        problems.forbidden(
            field,
            "a URL with a user or password in it; name credentials in spec.credentials instead",
        );
        return None;
    }
    if tail.contains(['?', '#']) {
        problems.invalid(field, &value, "a base URL has neither query nor fragment");
        return None;
    }
    let (host, port) = match split_authority(authority) {
        Ok((host, port)) => (host, port.unwrap_or(if tls { 443 } else { 80 })),
        Err(reason) => {
            problems.invalid(field, &value, reason);
            return None;
        }
    };
    check_clear_text(field, &value, tls, &host, problems);
    let path = base_path(field, tail, problems)?;
    Some(BaseUrl { address: Address { tls, host, port }, path })
}

/// Reads `text` as one of several endpoints: `host:port`, or a URL without a path.
pub(super) fn endpoint(field: &str, text: &str, problems: &mut Problems) -> Option<Address> {
    if text.contains("://") {
        let url = base_url(field, text, problems)?;
        if !url.path.is_empty() {
            problems.invalid_but(
                field,
                &Value::from(text),
                "an endpoint has no path",
                format!("write spec.path: {}", url.path),
            );
            return None;
        }
        return Some(url.address);
    }
    match parse_host_port(text) {
        Ok((host, port)) => Some(Address { tls: true, host, port }),
        Err(reason) => {
            problems.invalid_but(field, &Value::from(text), reason, "write host:port or https://host:port");
            None
        }
    }
}

/// A path prefix in canonical form: `""`, or with a leading and without a trailing slash.
pub(super) fn base_path(field: &str, text: &str, problems: &mut Problems) -> Option<String> {
    let trimmed = text.trim_end_matches('/');
    if trimmed.is_empty() {
        return Some(String::new());
    }
    let odd_segment = |segment: &str| segment.is_empty() || segment == "." || segment == "..";
    let reason = if !trimmed.starts_with('/') {
        "must start with a slash"
    } else if trimmed[1..].split('/').any(odd_segment) {
        "must not contain empty segments, '.' or '..'"
    } else if trimmed.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '?' | '#' | '\\')) {
        "must consist of printable ASCII characters, others escaped, without query or fragment"
    } else {
        return Some(trimmed.to_owned());
    };
    problems.invalid(field, &Value::from(text), reason);
    None
}

/// `host:port`, IPv6 in brackets.
pub(super) fn parse_host_port(text: &str) -> Result<(String, u16), &'static str> {
    match split_authority(text)? {
        (host, Some(port)) => Ok((host, port)),
        (_, None) => Err("has no port"),
    }
}

/// `host:port`, IPv6 in brackets.
pub(super) fn join_host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn split_authority(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, tail) = rest.split_once(']').ok_or("an IPv6 address lacks its closing bracket")?;
            host.parse::<Ipv6Addr>().map_err(|_| "what stands in brackets is no IPv6 address")?;
            let port = match tail {
                "" => None,
                tail => Some(tail.strip_prefix(':').ok_or("after the bracket only a port may follow")?),
            };
            (host, port)
        }
        None if authority.parse::<Ipv6Addr>().is_ok() => return Err("an IPv6 address stands in brackets"),
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("has no host");
    }
    if host.parse::<IpAddr>().is_err() && scalars::subdomain_problem(&host.to_lowercase()).is_some() {
        return Err("the host is neither an IP address nor a DNS name");
    }
    let port = match port {
        Some(text) => match text.parse::<u16>() {
            Ok(port) if port > 0 => Some(port),
            _ => return Err("the port is no number between 1 and 65535"),
        },
        None => None,
    };
    Ok((host.to_owned(), port))
}

/// Identity headers in clear text are safe on loopback alone.
fn check_clear_text(field: &str, value: &Value, tls: bool, host: &str, problems: &mut Problems) {
    let loopback = host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if tls || loopback {
        return;
    }
    let https = value.as_str().unwrap_or_default().replacen("http://", "https://", 1);
    problems.invalid_but(field, value, "http is for loopback addresses only", format!("use {https}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_text_upsets_the_url_reader(text in ".{0,60}") {
            let _ = base_url("spec.url", &text, &mut Problems::default());
        }

        #[test]
        fn addresses_survive_being_joined_and_split(host in "[a-z][a-z0-9]{0,8}(\\.[a-z]{1,5})?", port in 1_u16..) {
            let joined = join_host_port(&host, port);
            proptest::prop_assert_eq!(parse_host_port(&joined), Ok((host, port)));
        }

        #[test]
        fn ipv6_addresses_survive_being_joined_and_split(address in proptest::num::u128::ANY, port in 1_u16..) {
            let host = Ipv6Addr::from(address).to_string();
            proptest::prop_assert_eq!(parse_host_port(&join_host_port(&host, port)), Ok((host, port)));
        }
    }
}
