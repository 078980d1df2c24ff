//! Bytes of which two parsers may think differently: where a header ends, where a body ends, where the
//! next request begins.

use super::{Caller, attempt::path, names};
use crate::random::Random;

/// Ways to say how long a body is that not everybody understands in the same way.
const LENGTHS: &[&str] = &[
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 5, 6",
    "Content-Length: +5",
    "Content-Length: -5",
    "Content-Length: 0x5",
    "Content-Length: 5 5",
    "Content-Length: 5;a",
    "Content-Length: 18446744073709551621",
    "Content-Length : 5",
    "Content_Length: 500\r\nContent-Length: 5",
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 5",
    "Transfer-Encoding: xchunked\r\nContent-Length: 5",
    "Transfer-Encoding: chunked, identity\r\nContent-Length: 5",
    "Transfer-Encoding: identity, chunked\r\nContent-Length: 5",
    "Transfer-Encoding : chunked\r\nContent-Length: 5",
    "Transfer-Encoding:\tchunked\r\nContent-Length: 5",
    "Transfer-Encoding:\x0bchunked\r\nContent-Length: 5",
    "Transfer-Encoding\x0b: chunked\r\nContent-Length: 5",
    " Transfer-Encoding: chunked\r\nContent-Length: 5",
    "X: x\r\n Transfer-Encoding: chunked\r\nContent-Length: 5",
    "X: x\nTransfer-Encoding: chunked\r\nContent-Length: 5",
    "Transfer-Encoding: \"chunked\"\r\nContent-Length: 5",
    "transfer_encoding: chunked\r\nContent-Length: 5",
    "Transfer-Encoding: chunked",
    "Connection: Content-Length\r\nContent-Length: 5",
    "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
];

/// Chunks that not everybody reads in the same way; `@` is where the smuggled request stands.
const CHUNKS: &[&str] = &[
    "0\r\n\r\n@",
    "5\r\nhello\r\n0\r\n\r\n@",
    "0;\r\n\r\n@",
    "0 \r\n\r\n@",
    "00000000000000000000\r\n\r\n@",
    "-0\r\n\r\n@",
    "0x0\r\n\r\n@",
    "FFFFFFFFFFFFFFFF1\r\n@",
    "5;a=\"\r\n0\r\n\r\n@\"\r\nhello\r\n0\r\n\r\n",
    "5\nhello\n0\n\n@",
    "5\rhello\r0\r\r@",
    "0\r\nX-Remote-User: evil\r\n\r\n@",
    "0\r\nX: x\r\n X-Remote-User: evil\r\n\r\n@",
    "0\r\nX-Remote-User : evil\r\n\r\n@",
    "0\r\nX-Remote-User: evil\n\r\n@",
    "5\r\nhelloX\r\n0\r\n\r\n@",
    "hello@",
    "@",
];

/// One header line, somehow broken. `@` is where a protected name stands, `=` its value.
const LINES: &[&str] = &[
    "@ : =",
    "@\t: =",
    " @: =",
    "\t@: =",
    "X: x\r\n @: =",
    "X: x\r\n\t@: =",
    "X: x\n@: =",
    "X: x\r@: =",
    "X: x\0\r\n@: =",
    "X: x\r\r\n@: =",
    "X: x\r\n\n@: =",
    ": x\r\n@: =",
    "@\r\n: =",
    "@: a\r\n =",
    "\"@\": =",
    "@\0: =",
    "\u{feff}@: =",
    "@\u{a0}: =",
    "@: =\0",
    "X\r\n\r\n@: =",
    "Host: other\r\n@: =",
    "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nConnection: Upgrade, HTTP2-Settings, @\r\n@: =",
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n@: =",
    "Expect: 100-continue\r\n@: =",
    "X-HTTP-Method-Override: POST\r\n@: =",
    "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Client-Cert: Subject=\"CN=evil\"\r\n@: =",
];

/// Request lines; `@` is where the path stands.
const REQUEST_LINES: &[&str] = &[
    "GET http://127.0.0.1@ HTTP/1.1",
    "GET https://evil:evil@door@ HTTP/1.1",
    "GET HTTP://evil.example.com:99999@ HTTP/1.1",
    "GET @?a=%0d%0aX-Remote-User:%20evil HTTP/1.1",
    "GET @%20HTTP/1.1%0d%0aX-Remote-User:%20evil HTTP/1.1",
    "GET @ HTTP/1.0",
    "GET @ HTTP/0.9",
    "GET @ HTTP/1.2",
    "GET @ HTTP/2.0",
    "GET\t@\tHTTP/1.1",
    "GET  @  HTTP/1.1",
    "GET @ X HTTP/1.1",
    "GET @\tX-Remote-User: evil HTTP/1.1",
    "get @ HTTP/1.1",
    "GET @#X-Remote-User HTTP/1.1",
    "GET \\@ HTTP/1.1",
    "GET /.@ HTTP/1.1",
    "GET /version/..@ HTTP/1.1",
    "GET //127.0.0.1@ HTTP/1.1",
    "CONNECT @ HTTP/1.1",
    "CONNECT 127.0.0.1:443 HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "PRI * HTTP/2.0",
    "GET @",
    "\r\nGET @ HTTP/1.1",
    "\n\nGET @ HTTP/1.1",
];

/// The bytes of one connection. What arrives of it arrives as `caller`.
pub(crate) fn draw(random: &mut Random, caller: Caller, number: u64, authorization: &str) -> Vec<u8> {
    let place = path(random, "may", caller, number);
    let (name, value) = (names::exact(random), random.pick(names::VALUES));
    match random.below(4) {
        0 => {
            let line = random.pick(LINES).replace('@', &name).replace('=', value);
            format!("GET {place} HTTP/1.1\r\nHost: door\r\n{authorization}{line}\r\n\r\n").into_bytes()
        }
        1 => {
            let line = random.pick(REQUEST_LINES);
            // The last one, so that credentials in the authority stay.
            let line = match line.rfind('@') {
                Some(at) => format!("{}{place}{}", &line[..at], &line[at + 1..]),
                None => line.to_owned(),
            };
            format!("{line}\r\nHost: door\r\n{authorization}{name}: {value}\r\n\r\n").into_bytes()
        }
        2 => many_headers(random, &place, authorization),
        _ => {
            let smuggled = format!(
                "GET {} HTTP/1.1\r\nHost: door\r\nX-Remote-User: evil\r\nX-Remote-Group: system:masters\r\n\r\n",
                path(random, "may", caller, number)
            );
            let (length, body) = (random.pick(LENGTHS), random.pick(CHUNKS).replace('@', &smuggled));
            let version = random.pick(&["1.1", "1.1", "1.1", "1.0"]);
            format!("POST {place} HTTP/{version}\r\nHost: door\r\n{authorization}{length}\r\n\r\n{body}")
                .into_bytes()
        }
    }
}

/// The forged ones stand behind more headers than some look at.
fn many_headers(random: &mut Random, place: &str, authorization: &str) -> Vec<u8> {
    let mut text = format!("GET {place} HTTP/1.1\r\nHost: door\r\n{authorization}");
    for number in 0..random.below(150) {
        text.push_str(&format!("X-Filler-{number}: x\r\n"));
    }
    for _ in 0..random.below(40) {
        text.push_str(&format!("{}: {}\r\n", names::near(random), random.pick(names::VALUES)));
    }
    text.push_str("\r\n");
    text.into_bytes()
}
