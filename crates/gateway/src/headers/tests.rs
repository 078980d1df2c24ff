use proptest::prelude::*;

use super::*;

/// A backend behind a CGI-style interface: letters in upper case, everything else an underscore.
fn cgi(name: &str) -> String {
    let fold = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(fold).collect()
}

/// A backend that decodes escapes in names, as often as there are any, and then folds.
fn decoding(name: &str) -> String {
    let mut name = name.to_owned();
    while let Some(decoded) = kube_wire::query::decode_path(&name).filter(|decoded| *decoded != name) {
        name = decoded.into_owned();
    }
    cgi(&name)
}

fn is_identity(folded: &str) -> bool {
    let squeezed = folded.trim_start_matches('_');
    let protected = ["X_REMOTE_", "IMPERSONATE_", "PROXY_"];
    protected.iter().any(|prefix| folded.starts_with(prefix) || squeezed.starts_with(prefix))
        || ["AUTHORIZATION", "PROXY"].contains(&squeezed)
}

fn map(lines: &[(&str, &str)]) -> HeaderMap {
    let line = |(name, value): &(&str, &str)| {
        (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
    };
    let mut headers = HeaderMap::new();
    for (name, value) in lines.iter().map(line) {
        headers.append(name, value);
    }
    headers
}

fn names(headers: &HeaderMap) -> Vec<&str> {
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

/// What is left of `lines`.
fn check(lines: &[(&str, &str)], keep_token: bool, expected: &[&str]) {
    let mut headers = map(lines);
    sanitize(&mut headers, keep_token).unwrap();
    assert_eq!(names(&headers), expected, "{lines:?}");
}

#[test]
fn ordinary_headers_pass() {
    let lines = [
        ("accept", "application/json"),
        ("accept-encoding", "gzip"),
        ("content-type", "application/json"),
        ("kubectl-command", "kubectl get"),
        ("user-agent", "kubectl/v1.37.2"),
        ("audit-id", "1"),
        ("x-forwarded-for", "10.0.0.1"),
        ("x-request-id", "2"),
        ("x-remotely-related", "3"),
        ("impersonated-by", "nobody"),
        ("if-none-match", "\"a\""),
    ];
    let mut expected: Vec<_> = lines.iter().map(|(name, _)| *name).collect();
    expected.sort_unstable();
    check(&lines, false, &expected);
}

#[test]
fn identity_and_hop_by_hop_headers_do_not() {
    let offenders = [
        "x-remote-user",
        "X-Remote-Group",
        "x_remote_user",
        "X-Remote_Extra-a%2fb",
        "x.remote.uid",
        "X~Remote~User",
        "x--remote--user",
        "_x-remote-user",
        "x%2dremote-user",
        "%78-remote-user",
        "x%252dremote-user",
        "x%%32%44remote-user",
        "x-%72emote-user",
        "x-remote",
        "impersonate-user",
        "Impersonate_Group",
        "impersonate.uid",
        "%49mpersonate-user",
        "proxy",
        "proxy-authorization",
        "Proxy_Connection",
        "proxy-anything",
        "authorization",
        "authorization_",
        "a%75thorization",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
    ];
    for offender in offenders {
        let value = if offender == "connection" { "close" } else { "v" };
        check(&[("accept", "*/*"), (offender, value), (offender, "keep-alive")], false, &["accept"]);
    }
    // More than one batch.
    let all: Vec<_> = offenders.iter().map(|name| (*name, "close")).chain([("accept", "*/*")]).collect();
    check(&all, false, &["accept"]);
}

#[test]
fn the_token_passes_where_the_mode_says_so() {
    let lines = [("authorization", "Bearer t"), ("authorization_", "Bearer u"), ("x-remote-user", "v")];
    check(&lines, true, &["authorization"]);
    check(&lines, false, &[]);
}

#[test]
fn what_connection_names_goes() {
    let lines = [("connection", "X-Drop, keep-alive"), ("connection", "audit-id,,upgrade"), ("x-drop", "1")];
    check(&[lines[0], lines[1], lines[2], ("audit-id", "2"), ("accept", "*/*")], false, &["accept"]);
}

#[test]
fn a_connection_header_that_nobody_honest_sends_is_refused() {
    let many = vec!["x-a"; MAX_CONNECTION_OPTIONS + 1].join(",");
    for value in ["a b", "(", many.as_str(), "é"] {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        assert_eq!(sanitize(&mut headers, false).unwrap_err().code, 400, "{value}");
    }
}

#[test]
fn the_websocket_token_goes_and_its_protocols_stay() {
    let token = format!("{WEBSOCKET_BEARER}dG9rZW4");
    let protocols = |lines: &[&str], keep: bool| {
        let lines: Vec<_> = lines.iter().map(|line| ("sec-websocket-protocol", *line)).collect();
        let mut headers = map(&lines);
        sanitize(&mut headers, keep).unwrap();
        let left =
            headers.get_all("sec-websocket-protocol").iter().map(|line| line.to_str().unwrap().to_owned());
        left.collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        protocols(&[&format!("{token}, v5.channel.k8s.io, v4.channel.k8s.io")], false),
        "v5.channel.k8s.io,v4.channel.k8s.io"
    );
    assert_eq!(protocols(&["v5.channel.k8s.io", &token], false), "v5.channel.k8s.io");
    assert_eq!(protocols(&[&token], false), "");
    assert_eq!(
        protocols(&["v5.channel.k8s.io, v4.channel.k8s.io"], false),
        "v5.channel.k8s.io, v4.channel.k8s.io"
    );
    assert_eq!(protocols(&[&token], true), token);
}

#[test]
fn trailers_carry_neither_identity_nor_framing() {
    let mut trailers = map(&[
        ("grpc-status", "0"),
        ("x-remote-user", "v"),
        ("X_Remote_Group", "v"),
        ("content-length", "3"),
        ("host", "h"),
        ("authorization", "Bearer t"),
        ("transfer-encoding", "chunked"),
        ("impersonate-user", "v"),
        ("checksum", "1"),
    ]);
    sanitize_trailers(&mut trailers);
    assert_eq!(names(&trailers), ["checksum", "grpc-status"]);
}

/// Names near the protected ones: their letters with other case, separators, escapes and repetitions.
fn near() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "x-remote-user",
        "x-remote-group",
        "x-remote-extra-scopes",
        "x-remote-uid",
        "impersonate-user",
        "impersonate-extra-a",
        "authorization",
        "proxy-authorization",
        "proxy",
    ]);
    let changes = prop::collection::vec(
        (0..40_usize, 0..8_usize, prop::sample::select(b"-_.~!#$&'*+^`|".to_vec())),
        0..5,
    );
    (words, changes, prop::bool::ANY).prop_map(|(word, changes, append)| {
        let mut name: Vec<u8> = word.bytes().collect();
        for (place, kind, separator) in changes {
            let place = place % name.len();
            match kind {
                0 => name[place] = name[place].to_ascii_uppercase(),
                1 => {
                    let escaped = format!("%{:02x}", name[place]);
                    name.splice(place..=place, escaped.bytes());
                }
                2 => name.insert(place, separator),
                3 => {
                    let escaped = format!("%{:02X}", separator);
                    name.splice(place..place, escaped.bytes());
                }
                _ if !name[place].is_ascii_alphanumeric() && name[place] != b'%' => name[place] = separator,
                _ => name[place] = name[place].to_ascii_lowercase(),
            }
        }
        if append {
            name.extend_from_slice(b"-x");
        }
        String::from_utf8(name).unwrap_or_default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("TRELLIS_SPOOF_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4096)
    ))]

    #[test]
    fn no_spoof_gets_through(spoofs in prop::collection::vec(near(), 1..12), connection in near(), trailer in any::<bool>()) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        for spoof in &spoofs {
            if let Ok(name) = HeaderName::from_bytes(spoof.as_bytes()) {
                headers.append(name, HeaderValue::from_static("evil"));
            }
        }
        if let Ok(value) = HeaderValue::from_str(&connection) {
            headers.insert(header::CONNECTION, value);
        }
        if trailer {
            sanitize_trailers(&mut headers);
        } else if sanitize(&mut headers, false).is_err() {
            return Ok(());
        }
        for name in headers.keys() {
            prop_assert!(!is_identity(&cgi(name.as_str())), "{name} after {spoofs:?}");
            prop_assert!(!is_identity(&decoding(name.as_str())), "{name} after {spoofs:?}");
        }
        prop_assert!(headers.contains_key(header::ACCEPT));
    }

    #[test]
    fn any_other_name_passes(name in "[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,3}") {
        let hop = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"];
        prop_assume!(!is_identity(&cgi(&name)) && name != "x-remote" && name != "impersonate" && !hop.contains(&name.as_str()));
        let mut headers = map(&[(&name, "v")]);
        sanitize(&mut headers, false).unwrap();
        prop_assert_eq!(names(&headers), [name.as_str()]);
    }
}
