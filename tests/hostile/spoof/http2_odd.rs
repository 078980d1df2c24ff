//! Frames that a proper client does not send: what HTTP/1.1 would make of them is another request.

use super::{Caller, attempt::path, names};
use crate::{
    frames::{CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, fields, frame},
    random::Random,
};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The bytes of one connection, on stream 1.
pub(crate) fn draw(random: &mut Random, caller: Caller, number: u64, authorization: Option<&str>) -> Vec<u8> {
    let place = path(random, "may", caller, number);
    let (name, value) = (names::exact(random), random.pick(names::VALUES));
    let lower = name.to_ascii_lowercase();
    let mut head = pseudo(&place);
    if let Some(authorization) = authorization {
        push(&mut head, "authorization", authorization);
    }
    let inject = format!("x\r\n{name}: {value}");
    match random.below(20) {
        0 => push(&mut head, &name, value),
        1 => push(&mut head, "x", &inject),
        2 => push(&mut head, &format!("x: x\r\n{lower}"), value),
        3 => push(&mut head, &format!(":{lower}"), value),
        4 => push(&mut head, ":path", &format!("{place}?again")),
        5 => set(&mut head, ":path", &format!("{place} HTTP/1.1\r\n{name}: {value}\r\nx: x")),
        6 => set(&mut head, ":authority", &format!("door\r\n{name}: {value}")),
        7 => set(&mut head, ":authority", "evil:evil@127.0.0.1:99999"),
        8 => set(&mut head, ":method", &format!("GET {place} HTTP/1.1\r\n{name}: {value}\r\nx: x")),
        9 => set(&mut head, ":scheme", &format!("https://evil{place}")),
        10 => {
            push(&mut head, "connection", &lower);
            push(&mut head, &lower, value);
        }
        11 => push(&mut head, "transfer-encoding", "chunked"),
        12 => push(&mut head, "te", &format!("trailers, {lower}")),
        13 => push(&mut head, &lower, &format!("{value}\0")),
        14 => push(&mut head, &format!(" {lower}"), value),
        15 => push(&mut head, &format!("{lower} "), value),
        16 => push(&mut head, "", value),
        17 => push(&mut head, "host", "other.example.com"),
        18 => return split(&mut head, &lower, value),
        _ => return with_body(random, head, &name, value),
    }
    frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields(&head))
}

fn pseudo(path: &str) -> Fields {
    let mut head = Fields::new();
    for (name, value) in [(":method", "GET"), (":scheme", "https"), (":authority", "door"), (":path", path)] {
        push(&mut head, name, value);
    }
    head
}

fn push(head: &mut Fields, name: &str, value: &str) {
    head.push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
}

fn set(head: &mut Fields, name: &str, value: &str) {
    let slot = head.iter_mut().find(|(found, _)| found == name.as_bytes()).expect("a pseudo-header");
    slot.1 = value.as_bytes().to_vec();
}

/// The forged field comes in frames of its own.
fn split(head: &mut Fields, name: &str, value: &str) -> Vec<u8> {
    let mut bytes = frame(HEADERS, END_STREAM, 1, &fields(head));
    let forged = fields(&[(name, value)]);
    let (first, second) = forged.split_at(forged.len() / 2);
    bytes.extend(frame(CONTINUATION, 0, 1, first));
    bytes.extend(frame(CONTINUATION, END_HEADERS, 1, second));
    bytes
}

/// A body that is not as long as it says, or trailers that are none.
fn with_body(random: &mut Random, mut head: Fields, name: &str, value: &str) -> Vec<u8> {
    set(&mut head, ":method", "POST");
    let smuggled = format!("GET /apis HTTP/1.1\r\nHost: door\r\n{name}: {value}\r\n\r\n");
    let lower = name.to_ascii_lowercase();
    let trailers: &[(&str, &str)] = match random.below(4) {
        0 => {
            push(&mut head, "content-length", "0");
            &[]
        }
        1 => &[(":path", "/evil")],
        2 => &[("x", "x\r\nx-remote-user: evil")],
        _ => &[(&lower, value), ("content-length", "5"), ("transfer-encoding", "chunked")],
    };
    let mut bytes = frame(HEADERS, END_HEADERS, 1, &fields(&head));
    bytes.extend(frame(DATA, 0, 1, smuggled.as_bytes()));
    bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields(trailers)));
    bytes
}
