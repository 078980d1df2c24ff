//! Requests that the door makes to the core on its own account.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use catalog::{Catalog, Cause, Failure, IdentityMode, Server};
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use kube_wire::identity::UserInfo;
use tokio::time::Instant;

use crate::{
    Backends,
    authn::CoreClient,
    body::{Body, Held, Proxied, RequestBody},
    forward::{Answer, Head},
    identity::Identity,
    pool::Class,
    retry::{Delivery, Failed},
};

/// Longer than a review takes, shorter than its caller's patience.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Reviews are small.
const MAX_ANSWER: usize = 1 << 20;
/// Who the door is to a core that trusts its request headers, as upstream's aggregator.
const OWN_NAME: &str = "system:kube-aggregator";

/// The core as the door itself asks it.
pub(crate) struct OwnClient {
    backends: Arc<Backends>,
}

impl Backends {
    /// The core under the door's own identity, for reviews of tokens and accesses.
    pub fn core_client(self: &Arc<Self>) -> Arc<dyn CoreClient> {
        Arc::new(OwnClient { backends: self.clone() })
    }
}

impl CoreClient for OwnClient {
    fn post_json(&self, path: &'static str, body: Bytes) -> BoxFuture<'static, Result<Bytes, Failure>> {
        Box::pin(ask(self.backends.clone(), Method::POST, path, RequestBody::Full(body)))
    }

    fn get(&self, path: &'static str) -> BoxFuture<'static, Result<Bytes, Failure>> {
        Box::pin(ask(self.backends.clone(), Method::GET, path, RequestBody::Empty))
    }
}

async fn ask(
    backends: Arc<Backends>,
    method: Method,
    path: &'static str,
    body: RequestBody,
) -> Result<Bytes, Failure> {
    let deadline = Instant::now() + TIMEOUT;
    let routing = backends.routing().clone();
    let core = core(&routing.catalog)?;
    let pool = routing.pool(&core.name).ok_or_else(no_core)?;
    let head = Head::own(method, path, headers(core)?, core)
        .map_err(|status| Failure::new(Cause::InvalidCredentials, status.message.clone()))?;
    let delivery = Delivery { pool, head: &head, body, class: Class::Ordinary };
    let answer = delivery.send(Some(deadline)).await.map_err(failure)?;
    read(answer, deadline).await
}

fn core(catalog: &Catalog) -> Result<&Arc<Server>, Failure> {
    catalog.core().ok_or_else(no_core)
}

fn no_core() -> Failure {
    Failure::new(Cause::NoEndpoints, "there is no core API server")
}

fn headers(core: &Server) -> Result<HeaderMap, Failure> {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    if core.identity == IdentityMode::RequestHeader {
        let user =
            UserInfo { name: OWN_NAME.into(), groups: vec!["system:masters".into()], ..UserInfo::default() };
        let identity = Identity::new(user)
            .map_err(|error| Failure::new(Cause::InvalidCredentials, error.to_string()))?;
        for (name, value) in identity.request_headers {
            headers.append(name, value);
        }
    }
    Ok(headers)
}

async fn read(answer: Answer, deadline: Instant) -> Result<Bytes, Failure> {
    let status = answer.parts.status;
    let body = Body::proxied(Proxied::new(answer.source, Held::default(), Some(deadline)));
    match status {
        StatusCode::UNAUTHORIZED => return Err(Failure::new(Cause::IdentityRejected, status.to_string())),
        StatusCode::FORBIDDEN => return Err(Failure::new(Cause::Forbidden, status.to_string())),
        status if !status.is_success() => {
            return Err(Failure::new(Cause::UnexpectedStatus, status.to_string()));
        }
        _ => {}
    }
    let whole = Limited::new(body, MAX_ANSWER).collect().await;
    Ok(whole.map_err(|error| Failure::new(Cause::ConnectionLost, error.to_string()))?.to_bytes())
}

fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Server(failure) => failure,
        Failed::TimedOut => Failure::new(Cause::ResponseTimeout, "no answer to a review"),
        Failed::Upload(failure) => Failure::new(Cause::ConnectionLost, failure.to_string()),
    }
}
