//! The judge sits in the servers behind the door. It reads names as CGI does, with and without
//! decoding escapes, and knows who really asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use testkit::Recorded;

use super::{Caller, TOKEN, names};

/// Key of the extra by which upstream too names a certificate, escaped.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io%2fcredential-id";

/// How a server is told who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    RequestHeader,
    Impersonate,
    PassThrough,
}

/// What all servers saw.
#[derive(Default)]
pub(crate) struct Judge(Mutex<Seen>);

#[derive(Default)]
pub(crate) struct Seen {
    /// What got through.
    pub(crate) violations: Vec<String>,
    /// Numbers of the attempts that arrived.
    pub(crate) arrived: BTreeSet<u64>,
}

impl Judge {
    /// Looks at a request; true when it is one of a client.
    pub(crate) fn look(&self, mode: Mode, request: &Recorded) -> bool {
        let path = request.target.split('?').next().unwrap_or_default();
        let Some((_, place)) = path.split_once("/namespaces/") else {
            if let Err(problem) = check(mode, request, None) {
                self.seen().violations.push(problem);
            }
            return false;
        };
        let mut seen = self.seen();
        let words: Vec<&str> = place.split(['/', '-']).collect();
        let caller = words.get(1).and_then(|name| Caller::named(name));
        match (words.first(), caller) {
            (Some(&"never"), _) => seen.violations.push(format!("it should have been refused: {request:?}")),
            (Some(&"must" | &"may"), Some(caller)) => {
                if let Err(problem) = check(mode, request, Some(caller)) {
                    seen.violations.push(problem);
                }
            }
            _ => seen.violations.push(format!("a path that nobody asked for: {request:?}")),
        }
        seen.arrived.extend(words.last().and_then(|number| number.parse::<u64>().ok()));
        true
    }

    /// What was seen since the last call.
    pub(crate) fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen())
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the request says that `caller` asks, and nothing else; without a caller, the door itself.
fn check(mode: Mode, request: &Recorded, caller: Option<Caller>) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what} ({mode:?}, {caller:?}): {request:?}"));
    let expected = expected(mode, caller);
    for fold in [names::folded, names::decoded] {
        if identity(request, fold) != expected {
            return wrong("the identity is another one");
        }
    }
    let fields = || request.headers.iter().chain(&request.trailers);
    let is_token = |(name, value): &&(String, Vec<u8>)| {
        let own = mode == Mode::PassThrough && name == "authorization";
        !own && value.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes())
    };
    if let Some((name, _)) = fields().find(is_token) {
        return wrong(&format!("the token in {name}"));
    }
    let authorizes = |name: &str| names::decoded(name) == "AUTHORIZATION";
    if fields().any(|(name, _)| authorizes(name) && !(mode == Mode::PassThrough && name == "authorization")) {
        return wrong("an Authorization header");
    }
    if request.trailers.iter().any(|(name, _)| authorizes(name)) {
        return wrong("an Authorization trailer");
    }
    Ok(())
}

type Identity = BTreeMap<String, Vec<String>>;

/// All that a server could take for an identity.
fn identity(request: &Recorded, fold: fn(&str) -> String) -> Identity {
    let mut identity = Identity::new();
    for (name, value) in request.headers.iter().chain(&request.trailers) {
        let folded = fold(name);
        let protected = ["X_REMOTE", "IMPERSONATE", "PROXY"];
        let is = |word: &&str| folded == **word || folded.starts_with(&format!("{word}_"));
        if protected.iter().any(is) && !is_credential_id(name, value) {
            identity.entry(folded).or_default().push(String::from_utf8_lossy(value).into_owned());
        }
    }
    identity
}

/// Which certificate the caller has shown, as the door tells it in both modes.
fn is_credential_id(name: &str, value: &[u8]) -> bool {
    let names = ["x-remote-extra-", "impersonate-extra-"].map(|prefix| format!("{prefix}{CREDENTIAL_ID}"));
    let hash = value.strip_prefix(b"X509SHA256=").unwrap_or_default();
    names.iter().any(|known| known == name) && hash.len() == 64 && hash.iter().all(u8::is_ascii_hexdigit)
}

fn expected(mode: Mode, caller: Option<Caller>) -> Identity {
    let (user, groups) = match caller {
        None => ("system:trellis", &["system:masters", "system:authenticated"][..]),
        Some(caller) => (caller.user(), &["dev", "system:authenticated"][..]),
    };
    let of = |prefix: &str, groups: &[&str]| {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let user = [(format!("{prefix}_USER"), vec![user.to_owned()]), (format!("{prefix}_GROUP"), groups)];
        let uid = caller.and_then(Caller::uid).map(|uid| (format!("{prefix}_UID"), vec![uid.to_owned()]));
        user.into_iter().chain(uid).collect()
    };
    match mode {
        Mode::RequestHeader => of("X_REMOTE", groups),
        // Its own account asks for nothing but what every user has, and who is impersonated has that.
        Mode::Impersonate if caller.is_none() => of("IMPERSONATE", &["system:authenticated"]),
        Mode::Impersonate => of("IMPERSONATE", &["dev"]),
        Mode::PassThrough => Identity::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, headers: &[(&str, &str)]) -> Recorded {
        let own = [
            ("x-remote-user", "alice"),
            ("x-remote-group", "dev"),
            ("x-remote-group", "system:authenticated"),
        ];
        let fields =
            own.iter().chain(headers).map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        Recorded {
            version: http::Version::HTTP_11,
            method: "GET".to_owned(),
            target: target.to_owned(),
            authority: String::new(),
            headers: fields.collect(),
            trailers: Vec::new(),
            body: Default::default(),
            body_len: 0,
            body_sha256: String::new(),
            complete: true,
            peer: None,
            connection: 0,
        }
    }

    #[test]
    fn the_judge_sees_what_it_is_there_for() {
        let violations = |target: &str, headers: &[(&str, &str)]| {
            let judge = Judge::default();
            judge.look(Mode::RequestHeader, &request(target, headers));
            judge.take().violations.len()
        };
        let good = "/apis/g/v1/namespaces/must-alice/things/7";
        assert_eq!(violations(good, &[("accept", "*/*"), ("x-forwarded-user", "evil")]), 0);
        let credential = format!("x-remote-extra-{CREDENTIAL_ID}");
        assert_eq!(violations(good, &[(&credential, &format!("X509SHA256={}", "0a".repeat(32)))]), 0);
        assert_eq!(violations(good, &[(&credential, "evil")]), 1);
        for name in [
            "x_remote_user",
            "X-REMOTE-USER",
            "x.remote.group",
            "_x-remote-uid",
            "x%2dremote-user",
            "impersonate-user",
            "authorization",
            "proxy",
            "%61uthorization",
            "x%252dremote%252duser",
        ] {
            assert_eq!(violations(good, &[(name, "evil")]), 1, "{name}");
        }
        assert_eq!(violations(good, &[("cookie", &format!("a={TOKEN}"))]), 1);
        assert_eq!(violations("/apis/g/v1/namespaces/never-alice/things/7", &[]), 1);
        assert_eq!(violations("/apis/g/v1/namespaces/must-tokenuser/things/7", &[]), 1);
        assert_eq!(violations("/apis/g/v1/namespaces/smuggled/things/7", &[]), 1);
    }
}
