//! Broken servers, all at once behind one door: each has its own condition with advice, its users are
//! told, and nobody else waits.

mod others;
mod rows;

use std::{sync::Arc, time::Duration};

use http::Request;
use http_body_util::BodyExt as _;
use testkit::{Act, Client, FakeServer, Group, Resource, Serving, TempPki, client::out};
use tokio::task::JoinHandle;

use crate::door::{Door, Starting};
use others::others_are_served;
use rows::{Fault, ROWS, Row, Seen};

/// Most that the door may ever take, with all of these behind it: a gigabyte of discovery is read up
/// to its bound and dropped. For a program that is not optimised.
const MEMORY_MIB: u64 = 256;

/// A request to a broken server that is not answered yet.
pub(crate) struct Held {
    pub(crate) name: &'static str,
    pub(crate) task: JoinHandle<()>,
}

struct Broken {
    row: &'static Row,
    server: FakeServer,
}

impl Row {
    fn group(&self) -> String {
        format!("{}.example.com", self.name)
    }

    /// A list of what the server has.
    fn path(&self) -> String {
        format!("/apis/{}/v1/things", self.group())
    }
}

/// The group of a test server.
pub(crate) fn things(group: &str) -> Group {
    Group::new(group, "v1", [Resource::namespaced("things", "Thing")])
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_explained_and_cost_nobody_else() {
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let door = Starting::new(&pki, state.path()).start().await;
    let neighbour = neighbour(&pki, &door).await;
    let mut broken = Vec::new();
    for row in ROWS {
        broken.push(Broken::start(row, &pki, &door).await);
    }
    for row in ROWS.iter().filter(|row| !row.from_start) {
        door.condition(row.name, "Available", "True", "Passed").await;
    }
    for broken in &mut broken {
        broken.go_wrong(&pki).await;
    }

    // Before the door has found out, and after.
    let held = hold(&door, &broken).await;
    others_are_served(&door, &pki, &held, 0).await;
    release(held);
    let mut problems = Vec::new();
    for broken in &broken {
        problems.extend(broken.judge(&door, &neighbour).await);
    }
    let held = hold(&door, &broken).await;
    others_are_served(&door, &pki, &held, 1).await;
    release(held);

    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let memory = door.high_water();
    println!("the door took {memory} MiB at most");
    assert!(memory < MEMORY_MIB, "the door took {memory} MiB");
}

/// The server that has done nothing.
async fn neighbour(pki: &Arc<TempPki>, door: &Door) -> FakeServer {
    let server = FakeServer::builder().tls(pki, Serving::Good).group(things(rows::NEIGHBOUR)).start().await;
    door.register_server("neighbour", &server).await;
    door.condition("neighbour", "Available", "True", "Passed").await;
    server
}

impl Broken {
    async fn start(row: &'static Row, pki: &TempPki, door: &Door) -> Self {
        let builder = FakeServer::builder().tls(pki, Serving::Good).group(things(&row.group()));
        let server = (row.shape)(builder).start().await;
        let mut broken = Self { row, server };
        if row.from_start {
            broken.go_wrong(pki).await;
        }
        let mut spec = door.spec_of(&broken.server);
        spec["limits"] = serde_json::json!({ "connectTimeout": row.connect_timeout });
        let reply = door.register(row.name, &spec).await;
        assert_eq!(reply.status, 201, "{}: {}", row.name, reply.text());
        broken
    }

    async fn go_wrong(&mut self, pki: &TempPki) {
        let server = &self.server;
        match &self.row.fault {
            Fault::None => {}
            Fault::Act(act) => server.act("/", act()),
            Fault::OfDiscovery(act) => {
                server.act("/", act());
                server.act(&self.row.path(), Act::Serve);
            }
            Fault::Killed => server.kill().await,
            Fault::Frozen => server.freeze(true),
            Fault::HalfOpen => {
                server.half_open(true);
                server.restart().await;
            }
            Fault::Garbage => {
                server.garbage(true);
                server.restart().await;
            }
            Fault::Goaway(requests) => server.goaway_every(*requests),
            Fault::Claims(group) => server.set_groups([things(&self.row.group()), things(group)]),
            Fault::Certificate(serving) => {
                let address = server.address();
                server.kill().await;
                let builder = FakeServer::builder().tls(pki, *serving).group(things(&self.row.group()));
                self.server = builder.listen(address).start().await;
            }
        }
    }

    /// What is not as the row says.
    async fn judge(&self, door: &Door, neighbour: &FakeServer) -> Vec<String> {
        let Row { name, condition: (kind, status, reason), cause, .. } = self.row;
        let message = door.condition(name, kind, status, reason).await;
        println!("{name}: {kind}={status} {reason}: {message}");
        let mut problems = Vec::new();
        if let Some(cause) = cause
            && (!message.ends_with(cause.advice()) || *reason != cause.reason())
        {
            problems.push(format!("{name}: no advice: {message}"));
        }
        problems.extend(self.judge_answer(door).await);
        if let Fault::Claims(group) = &self.row.fault {
            let path = format!("/apis/{group}/v1/things");
            let before = neighbour.requests().len();
            let reply = door.alice().await.get(&path, &[]).await;
            if reply.status != 200 || neighbour.requests().len() == before {
                problems.push(format!("{name}: {path} did not go to its owner: {}", reply.status));
            }
            if !message.contains("belongs to neighbour") {
                problems.push(format!("{name}: the owner is not named: {message}"));
            }
        }
        problems
    }

    /// What a client gets from it.
    async fn judge_answer(&self, door: &Door) -> Vec<String> {
        let row = self.row;
        let mut problems = Vec::new();
        for protocol in ["HTTP/1.1", "HTTP/2"] {
            let alice = door.user("alice", &["dev"]);
            let mut client = match protocol {
                "HTTP/1.1" => Client::http1(&alice).await,
                _ => Client::http2(&alice).await,
            }
            .unwrap();
            for _ in 0..row.repeat {
                let path = format!("{}?timeout=2s", row.path());
                let request = Request::get(&path).body(out("")).unwrap();
                let answer = match tokio::time::timeout(Duration::from_secs(60), client.send(request)).await {
                    Err(_) => Err("no end".to_owned()),
                    Ok(Err(error)) => Err(format!("{error:?}")),
                    Ok(Ok(reply)) => Ok(reply),
                };
                if let Err(problem) = row.client.accepts(answer, row) {
                    problems.push(format!("{} over {protocol}: {problem}", row.name));
                    break;
                }
            }
        }
        problems
    }
}

/// A request to every server that lets its clients wait.
async fn hold(door: &Door, broken: &[Broken]) -> Vec<Held> {
    let mut held = Vec::new();
    for row in broken.iter().map(|broken| broken.row).filter(|row| row.holds) {
        let mut client = door.alice().await;
        let request = Request::get(row.path()).body(out("")).unwrap();
        let task = tokio::spawn(async move {
            let Ok(answer) = client.open(request).await else { return };
            let mut body = answer.into_body();
            while let Some(Ok(_)) = body.frame().await {
                // A body without end is read as slowly as it may be.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        held.push(Held { name: row.name, task });
    }
    held
}

fn release(held: Vec<Held>) {
    held.iter().for_each(|held| held.task.abort());
}

impl Seen {
    fn accepts(&self, answer: Result<testkit::Reply, String>, row: &Row) -> Result<(), String> {
        let (code, words) = match self {
            Self::CutOff => {
                return answer.map_or(Ok(()), |reply| Err(format!("a whole answer: {}", reply.status)));
            }
            Self::Passed(code, content_type) => {
                let reply = answer?;
                let same = reply.status == *code && reply.header("content-type").starts_with(content_type);
                return if same { Ok(()) } else { Err(described(&reply)) };
            }
            Self::Refused(code, reason, words) => {
                let reply = answer?;
                let status: serde_json::Value =
                    serde_json::from_slice(&reply.body).map_err(|_| described(&reply))?;
                if reply.status != *code || status["reason"] != *reason || status["kind"] != "Status" {
                    return Err(described(&reply));
                }
                (*code, (status, reply, words))
            }
        };
        let (status, reply, words) = words;
        let message = status["message"].as_str().unwrap_or_default();
        let named = [*words, row.name, &format!("{}/v1", row.group())];
        if let Some(missing) = named.iter().find(|wanted| !message.contains(**wanted)) {
            return Err(format!("the message does not say {missing:?}: {message}"));
        }
        if message.contains("127.0.0.1") {
            return Err(format!("the message names an address: {message}"));
        }
        let retry = (reply.header("retry-after"), status["details"]["retryAfterSeconds"].as_u64());
        if code == 503 && (retry.0.is_empty() || retry.1.is_none()) {
            return Err(format!("nothing says when to come back: {}", described(&reply)));
        }
        Ok(())
    }
}

fn described(reply: &testkit::Reply) -> String {
    let text: String = reply.text().chars().take(300).collect();
    format!("{} {:?} {text}", reply.status, reply.header("content-type"))
}
