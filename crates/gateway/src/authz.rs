//! What the door itself must authorize: impersonation, and its own protected paths.
//!
//! Everything else is authorized by the server that answers it.

mod constrained;
mod impersonation;
mod review;

use std::sync::Arc;

use http::HeaderMap;
use kube_wire::{RequestInfo, identity::UserInfo, status::Status};

use crate::{
    authn::{CoreClient, Memo},
    identity::Identity,
};

use constrained::Mode;

/// Identities under which callers act, remembered.
const IMPERSONATED_CAPACITY: usize = 1024;

/// Decides by `system:masters`, else by the core's SubjectAccessReview.
pub struct Authorizer {
    reviews: Option<review::Reviews>,
    impersonated: Memo<Arc<Identity>>,
}

impl std::fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorizer").field("reviews", &self.reviews.is_some()).finish_non_exhaustive()
    }
}

impl Authorizer {
    /// Asks `core`; without one only `system:masters` may anything that the door protects.
    pub fn new(core: Option<Arc<dyn CoreClient>>) -> Self {
        Self { reviews: core.map(review::Reviews::new), impersonated: Memo::new(IMPERSONATED_CAPACITY, 1) }
    }

    /// Whether the caller may do what `info` says.
    ///
    /// # Errors
    /// 403 with upstream's sentence; 503 when the core cannot say.
    pub(crate) async fn authorize(
        &self,
        caller: &Identity,
        info: &RequestInfo<'_>,
    ) -> Result<(), Box<Status>> {
        if caller.master {
            return Ok(());
        }
        let Some(reviews) = &self.reviews else {
            return Err(forbidden(
                caller,
                info,
                "without a core API server, only the group system:masters may",
            ));
        };
        // Boxed: it is rare, and its future would make every request's larger.
        match Box::pin(reviews.decide(&caller.user, info)).await {
            review::Decision::Allowed => Ok(()),
            review::Decision::Denied(reason) => Err(forbidden(caller, info, &reason)),
            review::Decision::Unknown => Err(Box::new(Status::service_unavailable(
                "access cannot be checked now: the core API server does not answer",
                1,
            ))),
        }
    }

    /// The caller, or whom it impersonates by `Impersonate-*`; those headers are gone from `headers` after it.
    ///
    /// # Errors
    /// The answer for the client: 403 when it may not, 400 when the headers make no sense.
    pub(crate) async fn impersonate(
        &self,
        caller: Arc<Identity>,
        headers: &mut HeaderMap,
        request: &RequestInfo<'_>,
    ) -> Result<Arc<Identity>, Box<Status>> {
        let Some(wanted) = impersonation::take(headers)? else { return Ok(caller) };
        Box::pin(self.act_as(caller, wanted, request)).await
    }

    /// By the permission for all requests, else by that for this one. Nodes the other way round, as
    /// upstream does for all: only so are they in the group of nodes.
    async fn act_as(
        &self,
        caller: Arc<Identity>,
        wanted: impersonation::Wanted,
        request: &RequestInfo<'_>,
    ) -> Result<Arc<Identity>, Box<Status>> {
        let user = wanted.0.clone();
        let mode = Mode::of(&user);
        if mode == Some(Mode::ArbitraryNode)
            && let Ok(identity) = self.act_constrained(&caller, mode, user.clone(), request).await
        {
            return Ok(identity);
        }
        match self.act_freely(caller.clone(), wanted).await {
            Err(refused) if refused.code == 403 && mode != Some(Mode::ArbitraryNode) => {
                // Whoever has neither is told of the permission that roles of all versions know.
                let constrained = self.act_constrained(&caller, mode, user, request).await;
                constrained.map_err(|why| if why.code == 403 { refused } else { why })
            }
            decided => decided,
        }
    }

    async fn act_constrained(
        &self,
        caller: &Identity,
        mode: Option<Mode>,
        user: UserInfo,
        request: &RequestInfo<'_>,
    ) -> Result<Arc<Identity>, Box<Status>> {
        let Some(mode) = mode else { return Err(forbidden(caller, request, "")) };
        self.authorize(caller, &mode.on(request)).await?;
        for permission in mode.permissions(&user) {
            self.authorize(caller, &permission).await?;
        }
        impersonation::Wanted(mode.actual(user)).identity().map(Arc::new)
    }

    async fn act_freely(
        &self,
        caller: Arc<Identity>,
        wanted: impersonation::Wanted,
    ) -> Result<Arc<Identity>, Box<Status>> {
        let key = wanted.key(&caller.user);
        if let Some(known) = self.impersonated.known(&key) {
            return Ok(known);
        }
        for permission in wanted.permissions() {
            self.authorize(&caller, &permission).await?;
        }
        let identity = Arc::new(wanted.identity()?);
        self.impersonated.remember(key, identity.clone(), review::KEEP_ALLOWED);
        Ok(identity)
    }
}

fn forbidden(caller: &Identity, info: &RequestInfo<'_>, reason: &str) -> Box<Status> {
    let user = &caller.user.name;
    Box::new(match info.is_resource {
        true => Status::forbidden_resource(user, info, reason),
        false => Status::forbidden_path(user, &info.verb, &info.path, reason),
    })
}

#[cfg(test)]
mod tests;
