//! From a request to its answer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use http_body::Frame;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::json;

use super::{
    Act, Recorded, SharedRef,
    body::{self, Answer, AnswerBody, BoxError, Tracked, Unfinished},
    discovery, upgrade,
};

/// Who asks, on which connection.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) peer: Option<String>,
    pub(crate) connection: usize,
}

pub(crate) async fn answer(
    shared: SharedRef,
    caller: Caller,
    request: Request<Incoming>,
) -> Result<Answer, BoxError> {
    let unfinished = Unfinished::new(shared.cancelled.clone());
    shared.log.started.send_modify(|count| *count += 1);
    let act = choose(&shared, request.uri());
    let mut recorded = Recorded::new_of(&request, caller);
    if act.leaves_body() {
        shared.log.push(recorded.clone());
        let answer = unread(&shared, &act, request)?;
        return Ok(answer.map(|body| AnswerBody::new(Tracked { body, unfinished })));
    }
    recorded.read(request.into_body()).await;
    shared.log.push(recorded.clone());
    let answer = perform(&shared, act, &recorded).await?;
    Ok(answer.map(|body| AnswerBody::new(Tracked { body, unfinished })))
}

fn choose(shared: &SharedRef, uri: &http::Uri) -> Act {
    if let Some(act) = Act::from_query(uri.query().unwrap_or("")) {
        return act;
    }
    let script = shared.script();
    let set = script.acts.iter().rev().find(|(prefix, _)| uri.path().starts_with(prefix.as_str()));
    set.map_or(Act::Serve, |(_, act)| act.clone())
}

/// Answers for which the body was left alone.
fn unread(shared: &SharedRef, act: &Act, request: Request<Incoming>) -> Result<Answer, BoxError> {
    match act {
        Act::UpgradeEcho => Ok(upgrade::echo(shared.killed.subscribe(), request)),
        Act::Mirror => {
            let body = AnswerBody::new(request.into_body().map_err(BoxError::from));
            Ok(body::with_body(StatusCode::OK, "application/octet-stream", body))
        }
        _ => Err(h2::Error::from(h2::Reason::REFUSED_STREAM).into()),
    }
}

async fn perform(shared: &SharedRef, act: Act, request: &Recorded) -> Result<Answer, BoxError> {
    Ok(match act {
        Act::Serve => serve(shared, request),
        Act::Delay(time) => {
            tokio::time::sleep(time).await;
            serve(shared, request)
        }
        Act::Hang => std::future::pending().await,
        Act::Reset => return Err(h2::Error::from(h2::Reason::INTERNAL_ERROR).into()),
        Act::Redirect(to) => redirect(&to),
        Act::Status(code) => super::api_status(code, "the script says so"),
        Act::PlainStatus(code) => {
            body::full(status(code), "text/plain; charset=utf-8", "the script says so\n")
        }
        Act::UpgradeRefuse => super::api_status(403, "nope says the server"),
        Act::Echo => body::json(StatusCode::OK, &request.to_json()),
        Act::WrongContentType => body::full(StatusCode::OK, "text/html", "<html>Welcome!</html>"),
        Act::InvalidJson => body::full(StatusCode::OK, content_type(request), r#"{"kind":"APIGroup"#),
        streamed => stream(streamed, request),
    })
}

fn serve(shared: &SharedRef, request: &Recorded) -> Answer {
    let handler = shared.script().handler.clone();
    let own = handler.and_then(|handler| handler(request));
    own.unwrap_or_else(|| super::routes::serve(shared, request))
}

/// Answers whose bodies are made while they are sent.
fn stream(act: Act, request: &Recorded) -> Answer {
    let json = |body| body::with_body(StatusCode::OK, "application/json", body);
    match act {
        Act::EndlessBody => {
            let spaces = Bytes::from(vec![b' '; 64 << 10]);
            let body = body::made(std::iter::repeat(spaces));
            body::with_body(StatusCode::OK, content_type(request), body)
        }
        Act::ManyGroups(count) => {
            let aggregated = wants_aggregated(request);
            let body = body::made(discovery::many_groups(count, aggregated));
            body::with_body(StatusCode::OK, content_type(request), body)
        }
        Act::HugeDiscovery(bytes) => {
            body::with_body(StatusCode::OK, discovery::AGGREGATED, body::made(discovery::huge(bytes)))
        }
        Act::Bytes(count) => body::full(StatusCode::OK, "application/octet-stream", pattern(count)),
        Act::Truncate => truncated(),
        Act::Trailers => trailers(),
        Act::HangBody => json(paced(Duration::from_secs(3600), [Bytes::from_static(b"{")].into_iter())),
        Act::Drip(pause) => {
            let text: &[u8] = br#"{"kind":"Status","apiVersion":"v1","status":"Success"}"#;
            json(paced(pause, text.iter().map(|byte| Bytes::copy_from_slice(&[*byte]))))
        }
        Act::Events(pause) => json(paced(pause, (1..).map(event))),
        other => unreachable!("{other:?} is no stream"),
    }
}

/// Bytes that can be told apart from any shifted or cut copy.
pub(crate) fn pattern(count: usize) -> Bytes {
    // Made of one period: megabytes counted one by one would keep a slow machine from answering pings.
    const PERIOD: usize = 251 * 26;
    let period: Vec<u8> = (0..PERIOD).map(|n| b'a' + ((n * 7 + n / 251) % 26) as u8).collect();
    let mut bytes = period.repeat(count.div_ceil(PERIOD));
    bytes.truncate(count);
    bytes.into()
}

fn event(n: u64) -> Bytes {
    let object = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"resourceVersion": n.to_string()}});
    Bytes::from(format!("{}\n", json!({"type": "ADDED", "object": object})))
}

/// The parts with a pause after each.
fn paced(pause: Duration, mut parts: impl Iterator<Item = Bytes> + Send + 'static) -> AnswerBody {
    let (tx, body) = body::sent();
    tokio::spawn(async move {
        let sending = async {
            for part in parts.by_ref() {
                if tx.send(Frame::data(part)).await.is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = sending => {}
            () = tx.closed() => {}
        }
    });
    body
}

fn truncated() -> Answer {
    let parts = [Ok(Frame::data(Bytes::from_static(&[b' '; 50]))), Err(BoxError::from("cut on purpose"))];
    let mut answer =
        body::with_body(StatusCode::OK, "application/json", AnswerBody::new(body::Made(parts.into_iter())));
    answer.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("100"));
    answer
}

fn trailers() -> Answer {
    let name = HeaderName::from_static("x-trailer");
    let fields = HeaderMap::from_iter([(name, HeaderValue::from_static("done"))]);
    let parts = [Ok(Frame::data(Bytes::from_static(b"{}"))), Ok(Frame::trailers(fields))];
    let mut answer =
        body::with_body(StatusCode::OK, "application/json", AnswerBody::new(body::Made(parts.into_iter())));
    answer.headers_mut().insert(header::TRAILER, HeaderValue::from_static("x-trailer"));
    answer
}

fn redirect(to: &str) -> Answer {
    let mut answer = body::full(StatusCode::FOUND, "text/plain", "");
    answer.headers_mut().insert(header::LOCATION, HeaderValue::from_str(to).expect("a location"));
    answer
}

pub(crate) fn wants_aggregated(request: &Recorded) -> bool {
    request.header("accept").contains("as=APIGroupDiscoveryList")
}

/// The type in which this would have been answered properly.
fn content_type(request: &Recorded) -> &'static str {
    match wants_aggregated(request) {
        true => discovery::AGGREGATED,
        false => "application/json",
    }
}

pub(crate) fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).expect("a status code")
}

impl Recorded {
    fn new_of(request: &Request<Incoming>, caller: Caller) -> Self {
        Self::new(request, caller.peer, caller.connection)
    }
}

type Answering = std::pin::Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + Send>>;

/// For hyper, which wants a function of the request alone.
pub(crate) fn service(
    shared: SharedRef,
    caller: Caller,
    each: Arc<dyn Fn() + Send + Sync>,
) -> impl Fn(Request<Incoming>) -> Answering + Clone {
    move |request| {
        each();
        Box::pin(answer(shared.clone(), caller.clone(), request))
    }
}
