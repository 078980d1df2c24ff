use super::*;

mod properties;

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
