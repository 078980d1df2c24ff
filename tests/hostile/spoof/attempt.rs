//! A well-formed request with something in it that should not be believed.

use super::{Caller, SERVERS, TOKEN, names};
use crate::random::Random;

/// One attempt, before it is written in either protocol.
pub(crate) struct Attempt {
    pub(crate) number: u64,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
    /// A body, with these trailers.
    pub(crate) trailers: Option<Vec<(String, String)>>,
    /// Whether the request has to arrive, without what should not be believed.
    pub(crate) must: bool,
}

/// What became of a connection's attempts.
#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) made: usize,
    pub(crate) must: Vec<u64>,
}

impl Attempt {
    /// The attempt of this number.
    pub(crate) fn draw(seed: u64, number: u64, caller: Caller) -> Self {
        let mut random = Random::of(seed, number);
        let mut fields = Vec::new();
        let mut trailers = None;
        match random.below(6) {
            0 | 1 => {
                for _ in 0..=random.below(4) {
                    fields.push(forged(&mut random, names::near));
                }
            }
            2 => {
                let (name, value) = forged(&mut random, names::exact);
                fields.push((name.to_ascii_lowercase(), value.clone()));
                fields.push((name.to_ascii_uppercase(), value.clone()));
                fields.push((name.replace('-', "_"), value));
            }
            3 => connection(&mut random, &mut fields),
            _ => {
                let forged = (0..=random.below(3)).map(|_| forged(&mut random, names::near));
                trailers = Some(forged.collect());
                if random.percent(30) {
                    fields.push(self::forged(&mut random, names::near));
                }
            }
        }
        // A second Authorization is the sender's own affair, and no attempt to be somebody else.
        if caller == Caller::TokenUser {
            fields.retain(|(name, _)| !names::is_authorization(name));
            fields.insert(0, ("Authorization".to_owned(), format!("Bearer {TOKEN}")));
        }
        let must = !fields.iter().any(|(name, _)| names::asks_to_impersonate(name));
        let path = path(&mut random, if must { "must" } else { "never" }, caller, number);
        Self { number, path, fields, trailers, must }
    }
}

/// A name with a value worth having.
pub(crate) fn forged(random: &mut Random, name: fn(&mut Random) -> String) -> (String, String) {
    (name(random), random.pick(names::VALUES).to_owned())
}

/// Headers named in `Connection`: to have the door's own taken out, or to have others overlooked.
fn connection(random: &mut Random, fields: &mut Vec<(String, String)>) {
    let mut options = vec!["keep-alive".to_owned()];
    for _ in 0..=random.below(3) {
        let name: fn(&mut Random) -> String = if random.percent(50) { names::exact } else { names::near };
        let (name, value) = forged(random, name);
        if random.percent(50) {
            fields.push((name.clone(), value));
        }
        options.push(name);
    }
    let further = ["Host", "Content-Length", "Audit-Id", "X-Forwarded-For", "Accept", "TE", "Trailer"];
    if random.percent(50) {
        options.push(random.pick(&further).to_owned());
    }
    fields.push(("Connection".to_owned(), options.join(random.pick(&[",", ", ", " ,\t", ",,"]))));
}

/// A path of one of the servers that says who asks, and whether the request may arrive.
pub(crate) fn path(random: &mut Random, place: &str, caller: Caller, number: u64) -> String {
    let (server, ..) = SERVERS[random.below(SERVERS.len())];
    format!("/apis/{server}.example.com/v1/namespaces/{place}-{}/things/{number}", caller.user())
}
