//! Clients that take more than they should: time, places, headers, frames. They are dropped, and
//! meanwhile everybody else is served.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use testkit::{Client, FakeServer, Serving, Target, TempPki, client::Raw};

use crate::{
    door::{Door, PATIENCE, Starting},
    faults::things,
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, Frames, HEADERS, PING, RST_STREAM, SETTINGS, fields,
        frame,
    },
};

const PATH: &str = "/apis/wardle.example.com/v1/things";
/// Connections of one kind of attack.
const CROWD: usize = 20;

struct Scene {
    door: Door,
    _server: FakeServer,
    _state: tempfile::TempDir,
}

async fn scene(options: &[(&str, &str)]) -> Scene {
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let start = options
        .iter()
        .fold(Starting::new(&pki, state.path()), |start, (name, value)| start.with(name, value));
    let door = start.start().await;
    let server =
        FakeServer::builder().tls(&pki, Serving::Good).group(things("wardle.example.com")).start().await;
    door.register_server("wardle", &server).await;
    door.condition("wardle", "Available", "True", "Passed").await;
    Scene { door, _server: server, _state: state }
}

/// An honest client, on connections of its own.
async fn others_are_served(door: &Door) {
    let alice = door.user("alice", &["dev"]);
    let first = Client::http1(&alice).await.unwrap().get(PATH, &[]).await;
    let second = Client::http2(&alice).await.unwrap().get(PATH, &[]).await;
    for reply in [first, second] {
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_handshakes_and_heads_are_dropped() {
    let scene = scene(&[("header-timeout", "15s")]).await;
    let silent = Target::clear(scene.door.address());
    let alice = scene.door.user("alice", &["dev"]);
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        crowd.push(tokio::spawn(drip(Raw::connect(&silent).await.unwrap(), b"\x16\x03\x01\x02")));
        let head = b"GET /apis HTTP/1.1\r\nHost: door\r\nX-Slow: and-slower-still-and-so-on";
        crowd.push(tokio::spawn(drip(Raw::connect(&alice).await.unwrap(), head)));
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n";
        crowd.push(tokio::spawn(drip(Raw::connect_with(&alice, pki::ALPN_H2).await.unwrap(), preface)));
    }
    others_are_served(&scene.door).await;
    assert!(crowd.iter().any(|slow| !slow.is_finished()), "the others had to wait for all of them");
    for slow in crowd {
        let text = slow.await.unwrap();
        assert!(text.is_none(), "this slow client was not dropped: {text:?}");
    }
    others_are_served(&scene.door).await;
}

/// One byte each half second, and then nothing; the bytes, when the door does not close.
async fn drip(raw: Raw, bytes: &'static [u8]) -> Option<String> {
    let (mut reader, mut writer) = tokio::io::split(raw.into_stream());
    let writing = tokio::spawn(async move {
        for byte in bytes {
            if tokio::io::AsyncWriteExt::write_all(&mut writer, &[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        std::future::pending::<()>().await;
    });
    // Closed in order or with a reset: gone.
    let mut sink = tokio::io::sink();
    let closed = tokio::time::timeout(PATIENCE, tokio::io::copy(&mut reader, &mut sink)).await;
    writing.abort();
    closed.is_err().then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_are_dropped() {
    let scene = scene(&[("request-timeout", "4s")]).await;
    let alice = scene.door.user("alice", &["dev"]);
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        let mut raw = Raw::connect(&alice).await.unwrap();
        let head = format!("POST {PATH} HTTP/1.1\r\nHost: door\r\nContent-Length: 100\r\n\r\nsome");
        raw.write(head.as_bytes()).await.unwrap();
        crowd.push(tokio::spawn(async move { raw.read_all(PATIENCE).await }));
    }
    let mut frames = Frames::connect(&alice).await.unwrap();
    let mut bytes = Vec::new();
    for stream in (1..=39).step_by(2) {
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &head("POST", PATH)));
        bytes.extend(frame(DATA, 0, stream, b"some"));
    }
    frames.write(&bytes).await.unwrap();
    others_are_served(&scene.door).await;
    for slow in crowd {
        let answer = String::from_utf8_lossy(&slow.await.unwrap()).into_owned();
        assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
        assert!(answer.contains("\"reason\":\"Timeout\""), "{answer}");
    }
    let streams: BTreeSet<u32> = (1..=39).step_by(2).collect();
    let came = frames.read(&streams, PATIENCE).await;
    assert_eq!((came.ended, came.ok), (streams, BTreeSet::new()));
    others_are_served(&scene.door).await;
}

fn head(method: &str, path: &str) -> Vec<u8> {
    fields(&[(":method", method), (":scheme", "https"), (":authority", "door"), (":path", path)])
}

#[tokio::test(flavor = "multi_thread")]
async fn large_heads_are_refused() {
    let scene = scene(&[]).await;
    let alice = scene.door.user("alice", &["dev"]);
    let long = "x".repeat(1 << 20);
    let heads = [
        format!("GET {PATH} HTTP/1.1\r\nHost: door\r\nX-Large: {long}\r\n\r\n"),
        format!("GET {PATH} HTTP/1.1\r\nHost: door\r\n{long}: x\r\n\r\n"),
        format!("GET {PATH}?{long} HTTP/1.1\r\nHost: door\r\n\r\n"),
        format!("{long} {PATH} HTTP/1.1\r\nHost: door\r\n\r\n"),
        format!("GET {PATH} HTTP/1.1\r\nHost: door\r\n{}\r\n", "X-Many: x\r\n".repeat(100_000)),
        format!(
            "POST {PATH} HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\n\r\n1;{long}\r\nx\r\n0\r\n\r\n"
        ),
        format!(
            "POST {PATH} HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}\r\n",
            "X-Many: x\r\n".repeat(100_000)
        ),
    ];
    for head in heads {
        let shown: String = head.chars().take(60).collect();
        let answer = answer_to(&alice, head.as_bytes()).await;
        let code = answer.split(' ').nth(1).unwrap_or_default();
        assert!(answer.is_empty() || code.starts_with('4'), "{shown}: {answer}");
    }
    others_are_served(&scene.door).await;
    for (name, bytes) in large_blocks() {
        let mut frames = Frames::connect(&alice).await.unwrap();
        // The door may close before it has read everything.
        let _ = frames.write(&bytes).await;
        let came = frames.read(&BTreeSet::from([1]), PATIENCE).await;
        assert!(came.over || came.ended.contains(&1), "{name}: nothing came of it");
        assert!(came.ok.is_empty(), "{name}: it was answered");
        others_are_served(&scene.door).await;
    }
    assert!(scene.door.high_water() < 192, "{} MiB", scene.door.high_water());
}

/// What comes back, until the door closes.
async fn answer_to(target: &Target, bytes: &[u8]) -> String {
    let (mut reader, mut writer) = tokio::io::split(Raw::connect(target).await.unwrap().into_stream());
    let bytes = bytes.to_vec();
    let writing = tokio::spawn(async move {
        // An error: the door has closed.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut writer, &bytes).await;
        let _ = tokio::io::AsyncWriteExt::shutdown(&mut writer).await;
    });
    let mut answer = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut answer);
    let _ = tokio::time::timeout(PATIENCE, reading).await.expect("the door neither answers nor closes");
    writing.abort();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Header blocks that are larger than anybody needs, all on stream 1.
fn large_blocks() -> Vec<(&'static str, Vec<u8>)> {
    let mut flood = frame(HEADERS, END_STREAM, 1, &head("GET", PATH));
    for number in 0..20_000 {
        flood.extend(frame(CONTINUATION, 0, 1, &fields(&[(format!("x-{number}"), "x".repeat(100))])));
    }
    let mut empty = frame(HEADERS, END_STREAM, 1, &head("GET", PATH));
    for _ in 0..100_000 {
        empty.extend(frame(CONTINUATION, 0, 1, &[]));
    }
    let many: Vec<(String, String)> =
        (0..1000).map(|number| (format!("x-{number}"), "x".repeat(120))).collect();
    let block = [head("GET", PATH), fields(&many)].concat();
    let mut chunks = block.chunks(16_000);
    let mut large = frame(HEADERS, END_STREAM, 1, chunks.next().unwrap_or_default());
    for chunk in chunks {
        large.extend(frame(CONTINUATION, 0, 1, chunk));
    }
    large.extend(frame(CONTINUATION, END_HEADERS, 1, &[]));
    // One entry of the table, named again and again: few bytes that become many.
    let mut bomb = head("GET", PATH);
    bomb.push(0x40);
    bomb.extend([1, b'x', 0x7f, 0x81, 0x1e]);
    bomb.extend(vec![b'y'; 127 + 0x01 + (0x1e << 7)]);
    bomb.extend(vec![0xbe; 12_000]);
    let bomb = frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb);
    vec![("continuations", flood), ("empty continuations", empty), ("a large block", large), ("a bomb", bomb)]
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_frames_cost_only_their_connection() {
    let scene = scene(&[]).await;
    let alice = scene.door.user("alice", &["dev"]);
    let request = |stream: u32| frame(HEADERS, END_HEADERS | END_STREAM, stream, &head("GET", PATH));
    let resets: Vec<u8> = (0..20_000_u32)
        .flat_map(|n| [request(2 * n + 1), frame(RST_STREAM, 0, 2 * n + 1, &8_u32.to_be_bytes())].concat())
        .collect();
    let floods = [
        ("resets", resets),
        ("requests", (0..5_000_u32).flat_map(|n| request(2 * n + 1)).collect()),
        ("pings", frame(PING, 0, 0, &[7; 8]).repeat(100_000)),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(100_000)),
        (
            "empty data",
            [frame(HEADERS, END_HEADERS, 1, &head("POST", PATH)), frame(DATA, 0, 1, &[]).repeat(100_000)]
                .concat(),
        ),
        ("windows that overflow", frame(8, 0, 0, &i32::MAX.to_be_bytes()).repeat(10)),
    ];
    for (name, bytes) in floods {
        let mut crowd = Vec::new();
        for _ in 0..3 {
            let (mut frames, bytes) = (Frames::connect(&alice).await.unwrap(), bytes.clone());
            crowd.push(tokio::spawn(async move {
                // Nothing is read, so that answers pile up; an error says that the door has had enough.
                let _ = tokio::time::timeout(Duration::from_secs(10), frames.write(&bytes)).await;
                frames
            }));
        }
        others_are_served(&scene.door).await;
        for flood in crowd {
            flood.await.unwrap();
        }
        others_are_served(&scene.door).await;
        println!("{name}: {} MiB", scene.door.high_water());
        assert!(scene.door.high_water() < 192, "{name}: {} MiB", scene.door.high_water());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_allowed_wait_until_idle_ones_are_dropped() {
    let scene = scene(&[("max-connections", "30"), ("header-timeout", "3s")]).await;
    let alice = scene.door.user("alice", &["dev"]);
    let mut crowd = Vec::new();
    for _ in 0..60 {
        let alice = alice.clone();
        crowd.push(tokio::spawn(async move {
            // Those beyond the limit wait in the kernel's queue.
            let Ok(mut raw) = Raw::connect(&alice).await else { return };
            raw.is_closed_within(PATIENCE).await;
        }));
    }
    tokio::time::timeout(PATIENCE, others_are_served(&scene.door)).await.expect("nobody else gets in");
    for idle in crowd {
        tokio::time::timeout(PATIENCE, idle).await.expect("an idle connection was not dropped").unwrap();
    }
}
