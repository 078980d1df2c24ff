//! What those see who run a server: audit records, metrics, and how it stops.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use apiserver::{
    authn::TrustedHeaders,
    engine::Hooks,
    hooks::{AllowAuthenticated, Later},
    listen,
    resource::{Answers, Definition, Fields, Question},
    service::{AuditEvent, AuditSink, Builder, Incoming, Limits, Service},
    storage::{Embedded, Options},
};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use kube_wire::Status;
use pki::ServerTls;
use serde_json::{Value, json};
use testkit::{Client, Serving, Target, TempPki};
use tokio::{
    net::TcpListener,
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::timeout,
};

const THINGS: &str = "/apis/operations.example.com/v1/namespaces/default/things";
/// Longest that something may take which comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps the records.
#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<Value>>>);

impl AuditSink for Records {
    fn record(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(serde_json::from_str(&event.to_line()).unwrap());
    }
}

impl Records {
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn builder() -> Builder {
    Service::builder()
        .authenticator(TrustedHeaders::default())
        .hooks(Hooks::authorized_by(AllowAuthenticated))
        .resource(Definition::new("operations.example.com", "v1", "Thing", "things"))
}

fn built(builder: Builder) -> Service {
    builder.build(Arc::new(Embedded::in_memory(Options::default()).unwrap())).unwrap()
}

type Body = apiserver::service::Body;

async fn open(service: &Service, method: &str, path: &str, user: &str, body: &str) -> Response<Body> {
    let body = Incoming::new(Full::new(body.to_owned().into()).map_err(|never| match never {}));
    let mut request = Request::builder().method(method).uri(path).header("user-agent", "test/1");
    if !user.is_empty() {
        request = request.header("x-remote-user", user).header("audit-id", "the-id");
    }
    service.handle(request.body(body).unwrap()).await
}

async fn ask(service: &Service, method: &str, path: &str, user: &str, body: &str) -> (u16, String) {
    let response = open(service, method, path, user, body).await;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn every_request_leaves_one_record() {
    let records = Records::default();
    let service = built(builder().audit(records.clone()));
    let secret = r#"{"metadata": {"name": "a"}, "spec": "secret-content"}"#;
    assert_eq!(ask(&service, "POST", &format!("{THINGS}?fieldManager=m"), "jane", secret).await.0, 201);
    let made = records.take();
    assert_eq!(made.len(), 1, "{made:?}");
    let event = &made[0];
    let expected = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": "the-id", "verb": "create", "userAgent": "test/1", "sourceIPs": [],
        "requestURI": format!("{THINGS}?fieldManager=m"),
        "user": {"username": "jane", "groups": ["system:authenticated"]},
        "responseStatus": {"metadata": {}, "code": 201},
        "objectRef": {
            "resource": "things", "namespace": "default", "name": "", "apiGroup": "operations.example.com",
            "apiVersion": "v1", "subresource": "",
        },
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&event[name], value, "{name}");
    }
    let (received, over) = (&event["requestReceivedTimestamp"], &event["stageTimestamp"]);
    assert!(received.as_str().unwrap() <= over.as_str().unwrap(), "{event}");
    assert!(!event.to_string().contains("secret-content"));
    // Refused, unknown, broken, and not about a resource.
    let asked = [
        ("GET", THINGS, "", 403, "list"),
        ("GET", "/apis/absent.example.com/v1/things", "jane", 404, "list"),
        ("POST", THINGS, "jane", 400, "create"),
        ("GET", "/version", "jane", 200, "get"),
        ("GET", "/a%zz", "jane", 400, ""),
    ];
    for (method, path, user, code, verb) in asked {
        let body = if method == "POST" { "no json" } else { "" };
        assert_eq!(ask(&service, method, path, user, body).await.0, code, "{method} {path}");
        let record = records.take().pop().unwrap();
        assert_eq!((&record["responseStatus"]["code"], &record["verb"]), (&json!(code), &json!(verb)));
        let name = if user.is_empty() { "system:anonymous" } else { user };
        if verb.is_empty() {
            // Nobody was asked who it is.
            assert_eq!(record["user"], json!({}));
        } else {
            assert_eq!(record["user"]["username"], name);
        }
    }
    // A watch leaves its record when it is over.
    let watch = open(&service, "GET", &format!("{THINGS}?watch=true"), "jane", "").await;
    assert_eq!(records.take(), Vec::<Value>::new());
    drop(watch);
    assert_eq!(records.take()[0]["verb"], "watch");
}

/// The lines of one metric.
fn lines<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.starts_with(name) && !line.starts_with('#')).collect()
}

#[tokio::test]
async fn metrics_count_what_was_asked() {
    let service = built(builder());
    for name in ["a", "b"] {
        ask(&service, "POST", THINGS, "jane", &format!(r#"{{"metadata": {{"name": "{name}"}}}}"#)).await;
    }
    ask(&service, "GET", &format!("{THINGS}/a"), "jane", "").await;
    ask(&service, "GET", THINGS, "", "").await;
    ask(&service, "GET", &format!("{THINGS}/absent"), "jane", "").await;
    let watch = open(&service, "GET", &format!("{THINGS}?watch=true"), "jane", "").await;
    let (status, text) = ask(&service, "GET", "/metrics", "jane", "").await;
    assert_eq!(status, 200);
    let total = |code: u16, verb: &str, scope: &str, count: u64| {
        let labels = format!(
            "component=\"apiserver\",dry_run=\"\",group=\"operations.example.com\",resource=\"things\",scope=\"{scope}\",subresource=\"\",verb=\"{verb}\",version=\"v1\""
        );
        format!("apiserver_request_total{{code=\"{code}\",{labels}}} {count}")
    };
    let found = lines(&text, "apiserver_request_total");
    for line in [
        total(201, "POST", "namespace", 2),
        total(200, "GET", "resource", 1),
        total(403, "LIST", "namespace", 1),
        total(200, "WATCH", "namespace", 1),
    ] {
        assert!(found.contains(&&*line), "{line}\n{}", found.join("\n"));
    }
    // What is not there has no name of its own: nobody can make more and more series.
    assert!(!text.contains("absent"));
    let gauge = |kind: &str, count: u64| {
        format!("apiserver_current_inflight_requests{{request_kind=\"{kind}\"}} {count}")
    };
    assert!(text.contains(&gauge("watch", 1)), "{text}");
    let counted = lines(&text, "apiserver_request_duration_seconds_count");
    let watched = counted.iter().find(|line| line.contains("WATCH")).unwrap();
    assert!(watched.ends_with(" 0"), "a watch lasts as long as its client likes: {watched}");
    drop(watch);
    let (_, text) = ask(&service, "GET", "/metrics", "jane", "").await;
    assert!(text.contains(&gauge("watch", 0)), "{text}");
}

/// Answers when it is told to.
#[derive(Clone, Default)]
struct Slow {
    asked: Arc<Notify>,
    answer: Arc<Notify>,
}

impl Answers for Slow {
    fn answer<'a>(&'a self, question: Question<'a>) -> Later<'a, Result<Fields, Status>> {
        Box::pin(async move {
            self.asked.notify_one();
            self.answer.notified().await;
            Ok(question.object)
        })
    }
}

const SLOW: &str = "/apis/operations.example.com/v1/namespaces/default/slowreviews";

fn with_slow(slow: &Slow) -> Builder {
    let review = Definition::new("operations.example.com", "v1", "SlowReview", "slowreviews");
    builder().resource(review.answered_by(slow.clone()))
}

#[tokio::test]
async fn too_many_at_once_are_told_to_come_back() {
    let slow = Slow::default();
    let limits = Limits { max_mutating_in_flight: 1, max_watches: 1, ..Limits::default() };
    let service = Arc::new(built(with_slow(&slow).limits(limits)));
    let first = tokio::spawn({
        let service = Arc::clone(&service);
        async move { ask(&service, "POST", SLOW, "jane", "{}").await }
    });
    slow.asked.notified().await;
    let refused = open(&service, "POST", THINGS, "jane", "{}").await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    // Readers have places of their own, and health has none.
    assert_eq!(ask(&service, "GET", THINGS, "jane", "").await.0, 200);
    assert_eq!(ask(&service, "GET", "/livez", "", "").await.0, 200);
    slow.answer.notify_one();
    assert_eq!(first.await.unwrap().0, 201);
    assert_eq!(ask(&service, "POST", THINGS, "jane", r#"{"metadata": {"name": "a"}}"#).await.0, 201);
    let watch = open(&service, "GET", &format!("{THINGS}?watch=true"), "jane", "").await;
    assert_eq!(watch.status(), 200);
    let second = open(&service, "GET", &format!("{THINGS}?watch=true"), "jane", "").await;
    assert_eq!(second.status(), 429);
    drop(watch);
    assert_eq!(open(&service, "GET", &format!("{THINGS}?watch=true"), "jane", "").await.status(), 200);
}

/// A server over HTTPS that can be told to stop.
struct Running {
    target: Target,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<()>,
    _pki: TempPki,
}

async fn serve(service: Service, limits: listen::Limits) -> Running {
    let pki = TempPki::new();
    let tls = ServerTls {
        certificate: &pki.serving(Serving::Good),
        clients: None,
        alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
        tickets: None,
    };
    let tls = Arc::new(Arc::new(tls.build().unwrap()).into());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let until = async move {
        let _ = stopped.await;
    };
    let ended = tokio::spawn(listen::serve(Arc::new(service), listener, tls, limits, until));
    let target = Target::tls(address, pki.server_ca.certificate_pem());
    Running { target, stop: Some(stop), ended, _pki: pki }
}

const JANE: [(&str, &str); 1] = [("x-remote-user", "jane")];

#[tokio::test]
async fn a_server_that_stops_finishes_what_it_has_begun() {
    let slow = Slow::default();
    let limits = listen::Limits { shutdown_delay: Duration::from_secs(3), ..listen::Limits::default() };
    let mut server = serve(built(with_slow(&slow)), limits).await;
    let mut client = Client::http2(&server.target).await.unwrap();
    let (mut watcher, mut slow_one) = (client.share(), client.share());
    let watch = Request::get(format!("{THINGS}?watch=true")).header("x-remote-user", "jane");
    let watch = watcher.open(watch.body(testkit::client::out("")).unwrap()).await.unwrap();
    let answer = tokio::spawn(async move { slow_one.request("POST", SLOW, &JANE, "{}").await });
    slow.asked.notified().await;
    server.stop.take().unwrap().send(()).unwrap();
    // Load balancers are told first, while new requests are still served.
    while client.get("/readyz", &JANE).await.status == 200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(client.get("/readyz?verbose", &JANE).await.text().contains("[-]shutdown failed"));
    assert_eq!(client.get("/livez", &JANE).await.status, 200);
    assert_eq!(client.get(THINGS, &JANE).await.status, 200);
    let rest = timeout(PATIENCE, watch.into_body().collect()).await.expect("the watch ends");
    assert!(rest.is_ok(), "and ends well");
    assert!(!server.ended.is_finished(), "a request is still being answered");
    slow.answer.notify_one();
    assert_eq!(timeout(PATIENCE, answer).await.unwrap().unwrap().status, 201);
    timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap();
    assert!(Client::http1(&server.target).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_server_that_stops_waits_no_longer_than_it_may() {
    let slow = Slow::default();
    let limits = listen::Limits { drain_timeout: Duration::from_millis(100), ..listen::Limits::default() };
    let mut server = serve(built(with_slow(&slow)), limits).await;
    let mut client = Client::http1(&server.target).await.unwrap();
    let answer = tokio::spawn(async move {
        let request =
            Request::post(SLOW).header("x-remote-user", "jane").body(testkit::client::out("{}")).unwrap();
        client.send(request).await
    });
    slow.asked.notified().await;
    server.stop.take().unwrap().send(()).unwrap();
    timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap();
    assert!(timeout(PATIENCE, answer).await.unwrap().unwrap().is_err(), "the answer never comes");
}
