//! Attempts over HTTP/2: all at once on one connection, and at its end those that may cost it.

use std::{collections::BTreeSet, ops::Range, time::Duration};

use testkit::Target;

use super::{
    Caller, TOKEN,
    attempt::{Attempt, Sent},
    http2_odd,
};
use crate::{
    frames::{DATA, END_HEADERS, END_STREAM, Frames, HEADERS, fields, frame},
    random::Random,
};

/// Bound on waiting for the door's answers.
const QUIET: Duration = Duration::from_secs(60);

pub(crate) async fn carry_out(
    target: &Target,
    attempts: &[Attempt],
    odd: Range<u64>,
    seed: u64,
    caller: Caller,
) -> Sent {
    let mut frames = Frames::connect(target).await.expect("a connection to the door");
    let mut bytes = Vec::new();
    let mut streams = BTreeSet::new();
    for (stream, attempt) in (1..).step_by(2).zip(attempts) {
        write(&mut bytes, stream, attempt);
        streams.insert(stream);
    }
    frames.write(&bytes).await.expect("a door that reads");
    let came = frames.read(&streams, QUIET).await;
    let unanswered: Vec<_> = streams.difference(&came.ended).collect();
    assert!(
        unanswered.is_empty(),
        "seed {seed}, from {:?}: {unanswered:?} {came:?}",
        attempts.first().map(|a| a.number)
    );
    // They may end the connection, so they come when the others are done, each on its own.
    for number in odd.clone() {
        let mut random = Random::of(seed, number);
        let authorization = (caller == Caller::TokenUser).then(|| format!("Bearer {TOKEN}"));
        let Ok(mut frames) = Frames::connect(target).await else { continue };
        let bytes = http2_odd::draw(&mut random, caller, number, authorization.as_deref());
        if frames.write(&bytes).await.is_ok() {
            frames.read(&BTreeSet::from([1]), QUIET).await;
        }
    }
    let must = attempts.iter().filter(|attempt| attempt.must).map(|attempt| attempt.number).collect();
    Sent { made: attempts.len() + odd.count(), must }
}

fn write(bytes: &mut Vec<u8>, stream: u32, attempt: &Attempt) {
    let mut all = vec![
        (":method".to_owned(), if attempt.trailers.is_some() { "POST" } else { "GET" }.to_owned()),
        (":scheme".to_owned(), "https".to_owned()),
        (":authority".to_owned(), "door".to_owned()),
        (":path".to_owned(), attempt.path.clone()),
    ];
    // `Connection` has no place in HTTP/2, and capitals have none in its names.
    let own = attempt.fields.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("connection"));
    all.extend(own.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())));
    let Some(trailers) = &attempt.trailers else {
        return bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields(&all)));
    };
    bytes.extend(frame(HEADERS, END_HEADERS, stream, &fields(&all)));
    bytes.extend(frame(DATA, 0, stream, b"{}"));
    let trailers: Vec<_> =
        trailers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields(&trailers)));
}
