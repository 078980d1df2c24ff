//! Whatever a client invents, no server can take it for what the door says of it.

use proptest::prelude::*;

use super::*;

/// Cases in an ordinary run; `PROPTEST_CASES` asks for more.
const CASES: u32 = 4096;

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(CASES), ..default }
}

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
    #![proptest_config(config())]

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
