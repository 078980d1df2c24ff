//! A discovery document in other encodings than the one in which it is kept.

use serde_json::Value;

use super::protobuf;
use crate::{Encoding, yaml};

/// A discovery document, given as JSON, in this encoding. None: it is no document of a kind that this
/// module knows.
pub fn encode(json: &[u8], encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Json => Some(json.to_vec()),
        Encoding::JsonPretty => Some(indented(json)),
        Encoding::Yaml => Some(yaml::document(&serde_json::from_slice::<Value>(json).ok()?).into_bytes()),
        Encoding::Protobuf => protobuf::document(json),
    }
}

/// Valid JSON, indented by two spaces and with its fields in their order, as Go writes it.
fn indented(json: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json.trim_ascii().iter().copied().peekable();
    while let Some(byte) = rest.next() {
        text.push(byte);
        match byte {
            b'"' => copy_string(&mut rest, &mut text),
            b'{' | b'[' => {
                while rest.next_if(u8::is_ascii_whitespace).is_some() {}
                match rest.next_if(|next| matches!(next, b'}' | b']')) {
                    Some(end) => text.push(end),
                    None => {
                        depth += 1;
                        line(&mut text, depth);
                    }
                }
            }
            b'}' | b']' => {
                text.pop();
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(byte);
            }
            b',' => line(&mut text, depth),
            b':' => text.push(b' '),
            space if space.is_ascii_whitespace() => {
                text.pop();
            }
            _ => {}
        }
    }
    text
}

/// The rest of a string, with its end.
fn copy_string(rest: &mut impl Iterator<Item = u8>, text: &mut Vec<u8>) {
    while let Some(byte) = rest.next() {
        text.push(byte);
        match byte {
            b'"' => return,
            b'\\' => text.extend(rest.next()),
            _ => {}
        }
    }
}

fn line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    text.resize(text.len() + 2 * depth, b' ');
}
