//! Several endpoints: shared load, and no errors for long when one of them goes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use testkit::{FakeServer, Serving, TempPki};

use crate::door::{Backend, Door, FLUNDERS};

struct Pair {
    pki: Arc<TempPki>,
    a: FakeServer,
    b: FakeServer,
}

async fn pair(http1: bool) -> Pair {
    let pki = Arc::new(TempPki::new());
    let start = async || {
        let builder = FakeServer::builder().tls(&pki, Serving::Good);
        if http1 { builder.http1_only() } else { builder }.start().await
    };
    let (a, b) = (start().await, start().await);
    Pair { pki, a, b }
}

#[tokio::test(flavor = "multi_thread")]
async fn load_is_shared() {
    for http1 in [false, true] {
        let Pair { pki, a, b } = pair(http1).await;
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&a, &b])]).await;
        let client = door.http2().await;
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let mut client = client.share();
            asking.spawn(async move {
                for _ in 0..25 {
                    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
                }
            });
        }
        while let Some(done) = asking.join_next().await {
            done.unwrap();
        }
        let (a, b) = (a.requests().len(), b.requests().len());
        assert_eq!(a + b, 200);
        assert!(a >= 40 && b >= 40, "{a} and {b}");
    }
}

/// Asks all the time; counts what went wrong.
struct Traffic {
    stop: tokio::sync::watch::Sender<bool>,
    asked: Arc<AtomicUsize>,
    workers: tokio::task::JoinSet<Vec<String>>,
}

impl Traffic {
    async fn start(door: &Door) -> Self {
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let asked = Arc::new(AtomicUsize::new(0));
        let client = door.http2().await;
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let (mut client, stopped, asked) = (client.share(), stopped.clone(), asked.clone());
            workers.spawn(async move {
                let mut wrong = Vec::new();
                while !*stopped.borrow() {
                    let reply = client.get(FLUNDERS, &[]).await;
                    if reply.status != 200 {
                        wrong.push(format!("{}: {}", reply.status, reply.text()));
                    }
                    asked.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                wrong
            });
        }
        Self { stop, asked, workers }
    }

    /// Goes on until `done`; the machine's speed decides how many requests that takes.
    async fn until(&self, done: impl Fn() -> bool, what: &str) {
        for _ in 0..5000 {
            if done() {
                return;
            }
            self.more(10).await;
        }
        panic!("{what}: not after 50,000 requests");
    }

    /// Until so many more were answered.
    async fn more(&self, count: usize) {
        let until = self.asked.load(Ordering::Relaxed) + count;
        let begun = Instant::now();
        while self.asked.load(Ordering::Relaxed) < until {
            assert!(begun.elapsed() < Duration::from_secs(60), "the traffic stands still");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn finish(self) -> Vec<String> {
        self.stop.send_replace(true);
        self.workers.join_all().await.concat()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_killed_and_restored_costs_nobody_a_request() {
    for http1 in [false, true] {
        let Pair { pki, a, b } = pair(http1).await;
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&a, &b])]).await;
        let traffic = Traffic::start(&door).await;
        traffic.more(100).await;
        a.kill().await;
        traffic.more(200).await;
        let told = door.observer.all();
        assert!(told.iter().any(|(_, word)| *word == "ConnectionRefused"), "{told:?}");
        a.restart().await;
        a.forget_requests();
        traffic.until(|| !a.requests().is_empty(), "the restored endpoint is used again").await;
        assert_eq!(traffic.finish().await, Vec::<String>::new());
    }
}

/// The network to one endpoint is gone: bytes vanish, nothing is refused.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_falls_silent_is_left_and_taken_back() {
    let Pair { pki, a, b } = pair(false).await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&a, &b])]).await;
    let traffic = Traffic::start(&door).await;
    traffic.more(100).await;
    a.freeze(true);
    let told = || door.observer.all().iter().any(|(_, word)| *word == "ResponseTimeout");
    traffic.until(told, "the silent endpoint is reported").await;
    a.freeze(false);
    a.forget_requests();
    traffic.until(|| !a.requests().is_empty(), "the endpoint is used again").await;
    assert_eq!(traffic.finish().await, Vec::<String>::new());
}

/// A write that was sent to an endpoint that fell silent is not sent again: nobody knows what became of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_to_a_silent_endpoint_fails_soon_and_once() {
    let pki = Arc::new(TempPki::new());
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    server.forget_requests();
    server.freeze(true);
    let reply = client.request("POST", FLUNDERS, &[], "{}").await;
    assert_eq!(reply.status, 504, "{}", reply.text());
    assert!(reply.text().contains("did not answer in time"), "{}", reply.text());
    server.freeze(false);
    eventually(&mut client).await;
    let writes = server.requests().iter().filter(|seen| seen.method == "POST").count();
    assert!(writes <= 1, "the write came at most once");
}

/// A dead server answers at once that it is dead, and is back soon after it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_single_dead_endpoint_fails_fast_and_comes_back() {
    let pki = Arc::new(TempPki::new());
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    server.kill().await;
    for _ in 0..50 {
        assert_eq!(client.get(FLUNDERS, &[]).await.status, 503);
    }
    server.restart().await;
    eventually(&mut client).await;
    let told: Vec<_> = door.observer.all().into_iter().map(|(_, word)| word).collect();
    assert_eq!((told.first(), told.last()), (Some(&"ConnectionRefused"), Some(&"Answered")), "{told:?}");
}

async fn eventually(client: &mut testkit::Client) {
    for _ in 0..300 {
        if client.get(FLUNDERS, &[]).await.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came back");
}

/// One server that hangs takes nothing from the others, whatever waits on it.
#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_server_costs_only_its_own_users() {
    let Pair { pki, a, b } = pair(false).await;
    let backends =
        vec![Backend::wardle(&pki, &[&a]), Backend::federated("hangs", "hangs.example.com", &pki, &[&b])];
    let door = Door::start(&pki, backends).await;
    let mut client = door.http2().await;
    b.half_open(true);
    let mut stuck = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let mut client = client.share();
        stuck.spawn(async move { client.get("/apis/hangs.example.com/v1/things", &[]).await.status });
    }
    for _ in 0..50 {
        assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    }
    assert!(stuck.try_join_next().is_none(), "the others are still stuck");
    stuck.abort_all();
}

/// A backend in this process is spoken to as any other.
#[tokio::test(flavor = "multi_thread")]
async fn backends_in_this_process_need_no_socket() {
    use catalog::{Body, Endpoint, Service, ServiceFuture};
    use http_body_util::{BodyExt as _, Full};
    struct Mirror;
    impl Service for Mirror {
        fn call(&self, request: http::Request<Body>) -> ServiceFuture<'_> {
            Box::pin(async move {
                let user = request.headers()["x-remote-user"].clone();
                let path = request.uri().path_and_query().unwrap().to_string();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let text = format!("{path} {}", String::from_utf8_lossy(&body));
                let body = Full::new(bytes::Bytes::from(text)).map_err(|never| match never {});
                let mut answer = http::Response::new(Body::new(body));
                answer.headers_mut().insert("x-user", user);
                answer
            })
        }
    }
    let pki = Arc::new(TempPki::new());
    let backend = Backend::wardle(&pki, &[])
        .changed(|server| server.endpoints = vec![Endpoint::InProcess(Arc::new(Mirror))]);
    let door = Door::start(&pki, vec![backend]).await;
    for mut client in [door.http1().await, door.http2().await] {
        let reply =
            client.request("POST", &format!("{FLUNDERS}?a=%2F"), &[("x-remote-user", "evil")], "hi").await;
        assert_eq!(reply.text(), format!("{FLUNDERS}?a=%2F hi"));
        assert_eq!(reply.header("x-user"), "alice");
    }
}
