//! Ten thousand attempts (a million in the long run) to be somebody else, over HTTP/1.1 and HTTP/2, judged
//! by servers that read header names as CGI does.

mod attempt;
mod http1;
mod http1_odd;
mod http2;
mod http2_odd;
mod judge;
mod names;

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use testkit::{FakeServer, Serving, Target, TempPki, fake};

use crate::{
    door::{Door, Starting},
    faults::things,
    full,
    random::{Random, seed},
};
use attempt::{Attempt, Sent};
use judge::{Judge, Mode};

/// The token of the caller who has one.
pub(crate) const TOKEN: &str = "sEcReT-tOkEn-0123456789";

/// Attempts on one connection.
const BATCH: u64 = 25;
/// Attempts between two looks at what arrived.
const ROUND: u64 = 2_500;
/// Connections at a time.
const PARALLEL: usize = 4;

/// The servers: name, mode, whether they speak HTTP/1.1 alone.
const SERVERS: &[(&str, Mode, bool)] = &[
    ("plain", Mode::RequestHeader, true),
    ("multiplexed", Mode::RequestHeader, false),
    ("impersonating", Mode::Impersonate, true),
    ("passing", Mode::PassThrough, false),
];

/// Who really asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// With a certificate.
    Alice,
    /// With a bearer token.
    TokenUser,
}

impl Caller {
    pub(crate) fn user(self) -> &'static str {
        match self {
            Self::Alice => "alice",
            Self::TokenUser => "tokenuser",
        }
    }

    /// Only tokens come with one.
    pub(crate) fn uid(self) -> Option<&'static str> {
        (self == Self::TokenUser).then_some("1")
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Alice, Self::TokenUser].into_iter().find(|caller| caller.user() == name)
    }

    fn target(self, door: &Door) -> Target {
        match self {
            Self::Alice => door.user("alice", &["dev"]),
            Self::TokenUser => door.anonymous(),
        }
    }
}

struct Field {
    door: Door,
    judge: Arc<Judge>,
    servers: Vec<FakeServer>,
    seed: u64,
}

#[tokio::test(flavor = "multi_thread")]
async fn spoof_attempts_do_not_get_through() {
    let attempts = if full() { 1_000_000 } else { 10_000 };
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let field = Field::prepare(&pki, state.path()).await;
    let (mut sent, mut arrived) = (0, 0);
    for start in (0..attempts).step_by(ROUND as usize) {
        let (must, all) = field.round(start..attempts.min(start + ROUND)).await;
        let seen = field.judge.take();
        let hint = format!("seed {}, attempts from {start}", field.seed);
        assert!(
            seen.violations.is_empty(),
            "{hint}: {:#?}",
            &seen.violations[..seen.violations.len().min(5)]
        );
        let missing: Vec<_> = must.difference(&seen.arrived).collect();
        assert!(missing.is_empty(), "{hint}: lost on the way: {missing:?}");
        (sent, arrived) = (sent + all, arrived + seen.arrived.len());
        field.servers.iter().for_each(FakeServer::forget_requests);
    }
    println!("{sent} attempts, {arrived} arrived under their true names, seed {}", field.seed);
    assert!(sent as u64 >= attempts);
}

impl Field {
    async fn prepare(pki: &Arc<TempPki>, state: &std::path::Path) -> Self {
        let tokens = pki.file("tokens.csv", format!("{TOKEN},tokenuser,1,\"dev\"\n").as_bytes());
        let door = Starting::new(pki, state).with("token-file", tokens.display()).start().await;
        let judge = Arc::new(Judge::default());
        let mut servers = Vec::new();
        for (name, mode, http1) in SERVERS {
            let (mode, judge) = (*mode, judge.clone());
            let builder = FakeServer::builder()
                .tls(pki, Serving::Good)
                .group(things(&format!("{name}.example.com")))
                .handler(move |request| {
                    let client = judge.look(mode, request);
                    client.then(|| fake::json(http::StatusCode::OK, &json!({})))
                });
            let server = if *http1 { builder.http1_only() } else { builder }.start().await;
            let mut spec = door.spec_of(&server);
            spec["identity"] = json!(match mode {
                Mode::RequestHeader => "requestHeader",
                Mode::Impersonate => "impersonate",
                Mode::PassThrough => "passThrough",
            });
            let reply = door.register(name, &spec).await;
            assert_eq!(reply.status, 201, "{}", reply.text());
            servers.push(server);
        }
        for (name, ..) in SERVERS {
            door.condition(name, "Available", "True", "Passed").await;
        }
        let seen = judge.take();
        assert!(seen.violations.is_empty(), "{:#?}", seen.violations);
        Self { door, judge, servers, seed: seed() }
    }

    /// Carries out these attempts; gives the numbers of those that have to arrive, and how many were made.
    async fn round(&self, attempts: Range<u64>) -> (BTreeSet<u64>, usize) {
        let end = attempts.end;
        let batches = attempts.step_by(BATCH as usize).map(|start| self.batch(start..end.min(start + BATCH)));
        let done: Vec<_> = stream::iter(batches).buffer_unordered(PARALLEL).collect().await;
        let made = done.iter().map(|sent| sent.made).sum();
        (done.into_iter().flat_map(|sent| sent.must).collect(), made)
    }

    /// One connection: requests that are well-formed, and at its end some that are not.
    async fn batch(&self, numbers: Range<u64>) -> Sent {
        let mut random = Random::of(self.seed, numbers.start ^ (1 << 60));
        let caller = if random.percent(70) { Caller::Alice } else { Caller::TokenUser };
        let target = caller.target(&self.door);
        let http2 = random.percent(50);
        let odd = random.below(5) as u64;
        let (well_formed, odd) = (numbers.start..numbers.end.saturating_sub(odd).max(numbers.start), odd);
        let odd = well_formed.end..(well_formed.end + odd).min(numbers.end).max(well_formed.end);
        let attempts: Vec<Attempt> =
            well_formed.map(|number| Attempt::draw(self.seed, number, caller)).collect();
        match http2 {
            true => http2::carry_out(&target, &attempts, odd, self.seed, caller).await,
            false => http1::carry_out(&target, &attempts, odd, self.seed, caller).await,
        }
    }
}
