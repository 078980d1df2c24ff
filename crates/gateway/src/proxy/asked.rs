//! One request while the door works on it: who asks, who answers, how it gets there.

use std::sync::Arc;

use catalog::{Cause, Failure, Role, Server};
use http::{Method, Response, Uri, Version, request};
use hyper::body::Incoming;
use kube_wire::{RequestInfo, status::Status};
use tokio::time::Instant;

use super::refusals::{malformed, redirects, upload_failed};
use crate::{
    body::{Body, Held, RequestBody, SharedUpload, Upload, UploadFailure, UploadLimits},
    connection::Client,
    documents,
    forward::{self, Answer, AuditId, Head, HeadSource},
    identity::Identity,
    pool::{Class, ServerPool},
    respond,
    retry::{Delivery, Failed},
    timeout, upgrade,
};

/// A request while the door works on it.
pub(crate) struct Asked<'a> {
    pub(crate) client: &'a Arc<Client>,
    pub(crate) info: &'a RequestInfo<'a>,
    pub(crate) uri: &'a Uri,
    pub(crate) audit_id: &'a AuditId,
    pub(crate) long_running: bool,
}

/// What the client gets.
pub(super) enum Reply {
    /// The door's own answer.
    Own(Response<Body>),
    /// A backend's.
    Backend(Answer, Arc<Server>, Option<Instant>),
}

impl Asked<'_> {
    /// From the caller's identity to the head of the answer.
    ///
    /// # Errors
    /// Whatever the door refuses or cannot do, as the answer for the client.
    pub(super) async fn reply(
        &self,
        mut parts: request::Parts,
        body: Incoming,
        held: &mut Held,
    ) -> Result<Reply, Box<Status>> {
        let door = &*self.client.door;
        if let Some(refused) = malformed(&parts) {
            return Ok(Reply::Own(refused));
        }
        // Resources are never the door's own documents: the ordinary request does not ask.
        if !self.info.is_resource
            && let Some(answer) = Box::pin(documents::answer(door, &parts, None)).await
        {
            return Ok(Reply::Own(answer));
        }
        let caller = door.authenticator.authenticate(&self.client.identity, &mut parts.headers).await;
        // Also of whom nobody knows: who tries keys belongs in the log.
        let (peer, id) = (self.client.identity.peer(), &self.audit_id.value);
        held.audit = door.audit.begin(&parts, peer, caller.as_ref().ok(), id);
        let caller = caller?;
        let identity = door.authorizer.impersonate(caller.clone(), &mut parts.headers, self.info).await?;
        if let Some(audit) = &mut held.audit
            && !Arc::ptr_eq(&caller, &identity)
        {
            audit.impersonates(&identity);
        }
        if !self.info.is_resource
            && let Some(answer) = Box::pin(documents::answer(door, &parts, Some(&identity))).await
        {
            return Ok(Reply::Own(answer));
        }
        door.own.passes_on()?;
        self.enter(&parts.method, &caller, held)?;
        self.pass_on(parts, body, &identity, held).await
    }

    /// Takes a place among the requests in flight, as upstream: none for what is long-running, and
    /// `system:masters` is never refused.
    fn enter(&self, method: &Method, caller: &Identity, held: &mut Held) -> Result<(), Box<Status>> {
        if self.long_running {
            if let Some(open) = &mut held.open {
                open.is_long_running();
            }
            return Ok(());
        }
        let door = &self.client.door;
        let gauge = if method.is_safe() { &door.reading } else { &door.writing };
        match gauge.enter() {
            Some(permit) => held.permits[0] = Some(permit),
            None if caller.master => {}
            None => return Err(Box::new(Status::too_many_in_flight())),
        }
        Ok(())
    }

    async fn pass_on(
        &self,
        mut parts: request::Parts,
        body: Incoming,
        identity: &Arc<Identity>,
        held: &mut Held,
    ) -> Result<Reply, Box<Status>> {
        let Some((server, pool)) = self.route() else { return Ok(Reply::Own(respond::not_found())) };
        if !self.long_running {
            held.permits[1] =
                Some(pool.enter().ok_or_else(|| self.failed(&pool, Failure::new(Cause::Overloaded, "")))?);
        }
        let deadline = self.deadline(&server)?;
        if let Some(upgrade) = upgrade::wanted(&mut parts) {
            let response =
                Box::pin(upgrade::serve(self, upgrade, parts, body, identity, (&server, &pool), held));
            return response.await.map(Reply::Own);
        }
        let body = self.body(body, &server)?;
        let head = self.head(parts, identity, &server, true)?;
        let class = if self.long_running { Class::LongRunning } else { Class::Ordinary };
        let delivery = Delivery { pool: &pool, head: &head, body, class };
        let mut answer = delivery.send(deadline).await.map_err(|failed| self.undelivered(&pool, failed))?;
        pool.note_answer(answer.parts.status);
        if answer.parts.status.is_informational() {
            // Most of all 101: nobody asked for an upgrade here.
            return Err(
                self.failed(&pool, Failure::new(Cause::ProtocolError, "an interim answer as the last"))
            );
        }
        if redirects(&answer) && server.role == Role::Federated {
            return Err(self.failed(&pool, Failure::new(Cause::RedirectRefused, "")));
        }
        let from_http1 = answer.parts.version < Version::HTTP_2;
        forward::clean_answer(&mut answer.parts.headers, from_http1);
        Ok(Reply::Backend(answer, server, deadline))
    }

    /// The server that answers for this request, with its connections.
    fn route(&self) -> Option<(Arc<Server>, Arc<ServerPool>)> {
        let routing = self.client.door.backends.routing();
        let route = match self.info.is_resource {
            true => routing.catalog.route(&self.info.group, &self.info.version),
            // A group without a document of its own is its owner's, everything else the core's.
            false => routing.catalog.route_path(self.uri.path()),
        };
        let server = route.server()?;
        Some((server.clone(), routing.pool(&server.name)?.clone()))
    }

    fn deadline(&self, server: &Server) -> Result<Option<Instant>, Box<Status>> {
        if self.long_running {
            return Ok(None);
        }
        let most = self.client.door.limits.request_timeout.min(server.limits.request_timeout);
        let time = timeout::of_request(self.uri.query().unwrap_or_default(), most)?;
        Ok(Some(Instant::now() + time))
    }

    fn body(&self, body: Incoming, server: &Server) -> Result<RequestBody, Box<Status>> {
        if hyper::body::Body::is_end_stream(&body) {
            return Ok(RequestBody::Empty);
        }
        let limits = &self.client.door.limits;
        let max_bytes = server.limits.max_body_bytes;
        if max_bytes.is_some_and(|max| hyper::body::Body::size_hint(&body).lower() > max) {
            return Err(upload_failed(UploadFailure::TooLarge));
        }
        let limits = UploadLimits {
            replay_bytes: limits.replay_bytes,
            max_bytes,
            stall: (!self.long_running).then_some(limits.body_stall_timeout),
        };
        Ok(RequestBody::Upload(SharedUpload::new(Upload::new(body, limits))))
    }

    pub(crate) fn head(
        &self,
        parts: request::Parts,
        identity: &Arc<Identity>,
        server: &Server,
        traced: bool,
    ) -> Result<Head, Box<Status>> {
        let source = HeadSource {
            method: parts.method,
            uri: self.uri,
            headers: parts.headers,
            identity,
            peer: &self.client.peer,
            audit_id: self.audit_id,
            traced,
        };
        Head::new(source, server)
    }

    fn undelivered(&self, pool: &ServerPool, failed: Failed) -> Box<Status> {
        match failed {
            Failed::Server(failure) => self.failed(pool, failure),
            Failed::Upload(failure) => upload_failed(failure),
            Failed::TimedOut => self.failed(pool, Failure::new(Cause::ResponseTimeout, "no answer in time")),
        }
    }

    /// The answer for a failure of the server, told to the log and the metrics on the way.
    pub(crate) fn failed(&self, pool: &ServerPool, failure: Failure) -> Box<Status> {
        let server = &pool.shared.server;
        tracing::debug!(server = %server.name, path = %self.info.path, %failure, "request failed");
        pool.shared.metrics.failed(failure.cause.reason());
        Box::new(respond::unavailable(server, self.info, failure.cause))
    }
}
