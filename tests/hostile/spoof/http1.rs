//! Attempts over HTTP/1.1: written one after the other, without waiting for answers.

use std::{ops::Range, time::Duration};

use testkit::{Target, client::Raw};

use super::{
    Caller, TOKEN,
    attempt::{Attempt, Sent},
    http1_odd,
};
use crate::random::Random;

/// Bound on waiting for the door to answer and to close.
const QUIET: Duration = Duration::from_secs(60);

pub(crate) async fn carry_out(
    target: &Target,
    attempts: &[Attempt],
    odd: Range<u64>,
    seed: u64,
    caller: Caller,
) -> Sent {
    let mut bytes = Vec::new();
    for attempt in attempts {
        write(&mut bytes, attempt, seed);
    }
    bytes.extend_from_slice(b"GET /version HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n");
    talk(target, &bytes).await;
    // What is not well-formed ends its connection, so each has its own.
    for number in odd.clone() {
        let mut random = Random::of(seed, number);
        let authorization = match caller {
            Caller::Alice => String::new(),
            Caller::TokenUser => format!("Authorization: Bearer {TOKEN}\r\n"),
        };
        talk(target, &http1_odd::draw(&mut random, caller, number, &authorization)).await;
    }
    let must = attempts.iter().filter(|attempt| attempt.must).map(|attempt| attempt.number).collect();
    Sent { made: attempts.len() + odd.count(), must }
}

/// Writes, and reads until the door closes.
async fn talk(target: &Target, bytes: &[u8]) {
    let mut raw = Raw::connect(target).await.expect("a connection to the door");
    // The door may close before it has read all of what is not well-formed.
    let _ = raw.write(bytes).await;
    let _ = raw.finish().await;
    raw.read_all(QUIET).await;
}

fn write(bytes: &mut Vec<u8>, attempt: &Attempt, seed: u64) {
    let mut random = Random::of(seed, attempt.number ^ (1 << 61));
    let method = if attempt.trailers.is_some() { "POST" } else { random.pick(&["GET", "DELETE", "HEAD"]) };
    line(bytes, &format!("{method} {} HTTP/1.1", attempt.path));
    line(bytes, "Host: door");
    for (name, value) in &attempt.fields {
        let space = random.pick(&["", " ", "  ", "\t", " \t "]);
        line(bytes, &format!("{name}:{space}{value}{}", random.pick(&["", "", " ", "\t"])));
    }
    let Some(trailers) = &attempt.trailers else { return line(bytes, "") };
    line(bytes, "Transfer-Encoding: chunked");
    if random.percent(50) {
        let names: Vec<&str> = trailers.iter().map(|(name, _)| name.as_str()).collect();
        line(bytes, &format!("Trailer: {}", names.join(", ")));
    }
    line(bytes, "");
    let extension = random.pick(&["", ";a=b", ";a=\"X-Remote-User: evil\"", " ;a"]);
    line(bytes, &format!("2{extension}"));
    line(bytes, "{}");
    line(bytes, "0");
    for (name, value) in trailers {
        line(bytes, &format!("{name}: {value}"));
    }
    line(bytes, "");
}

fn line(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(b"\r\n");
}
