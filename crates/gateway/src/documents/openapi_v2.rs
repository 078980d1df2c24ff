//! `/openapi/v2`: the Swagger document of all servers, merged when somebody asks for it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use catalog::{
    Catalog, Document, Documents,
    openapi::{MergedV2, OpenApiError, V2_PROTOBUF, V2_PROTOBUF_ACCEPTED},
};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use http::{Response, StatusCode, header, request::Parts};
use kube_wire::{
    accept::{self, JSON, Offer},
    status::Status,
};

use super::conditional::{self, Cache};
use crate::{
    body::Body,
    respond::{Wanted, status_response},
};

/// After a merge that failed, the next one is tried at the earliest after this time.
const RETRY: Duration = Duration::from_secs(10);

/// The merged document of one catalog at a time, in the forms that were asked for.
#[derive(Default)]
pub(super) struct OpenApiV2 {
    json: Flight<Arc<MergedV2>>,
    protobuf: Flight<Arc<Document>>,
}

/// The forms of the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Protobuf,
}

impl OpenApiV2 {
    /// The document of `catalog`, merged on a thread that may block; however many ask, once.
    pub(super) async fn answer(
        &self,
        catalog: &Arc<Catalog>,
        documents: &Arc<dyn Documents>,
        parts: &Parts,
    ) -> Response<Body> {
        let Some(form) = form(&conditional::joined(&parts.headers, header::ACCEPT)) else {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
            return response;
        };
        let edition = catalog.openapi_v2_edition();
        let json = self
            .json
            .take(edition, {
                let (catalog, documents) = (catalog.clone(), documents.clone());
                move || merge(&catalog, &*documents)
            })
            .await;
        let found = match (form, json) {
            (_, None) => None,
            (Form::Json, Some(merged)) => Some(conditional::document(parts, &merged.json, Cache::Default)),
            (Form::Protobuf, Some(merged)) => {
                let document = self.protobuf.take(edition, move || merged.protobuf().map(Arc::new)).await;
                document.map(|document| conditional::document(parts, &document, Cache::Default))
            }
        };
        found.unwrap_or_else(|| {
            const MESSAGE: &str = "the OpenAPI v2 document cannot be made now; /openapi/v3 is not affected";
            let status = Status::service_unavailable(MESSAGE, 10);
            status_response(&status, &Wanted::new(&parts.headers, &parts.uri))
        })
    }
}

fn form(accept: &str) -> Option<Form> {
    let offers = [Offer::plain(JSON), Offer::plain(V2_PROTOBUF_ACCEPTED), Offer::plain(V2_PROTOBUF)];
    accept::parse(accept).choose(&offers).map(|offer| if offer == 0 { Form::Json } else { Form::Protobuf })
}

fn merge(catalog: &Catalog, documents: &dyn Documents) -> Result<Arc<MergedV2>, OpenApiError> {
    let merged = catalog.merge_openapi_v2(documents)?;
    for skipped in &merged.skipped {
        tracing::warn!(server = %skipped.server, error = %skipped.error, "An OpenAPI v2 document is left out.");
    }
    Ok(Arc::new(merged))
}

type Work<T> = Shared<BoxFuture<'static, Option<T>>>;

/// Something that is made once per edition, by whoever asks first, and goes on when he leaves.
struct Flight<T: Clone>(Mutex<Option<Current<T>>>);

struct Current<T: Clone> {
    edition: u64,
    begun: Instant,
    work: Work<T>,
}

impl<T: Clone> Default for Flight<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    /// What `make` gives for this edition; none when it failed, and for a while after.
    async fn take(
        &self,
        edition: u64,
        make: impl FnOnce() -> Result<T, OpenApiError> + Send + 'static,
    ) -> Option<T> {
        let work = {
            let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &*current {
                Some(known) if known.edition == edition && !known.is_to_be_tried_again() => {
                    known.work.clone()
                }
                _ => {
                    let work = begin(make);
                    // The document of the catalog before is given back here, not kept beside the new one.
                    *current = Some(Current { edition, begun: Instant::now(), work: work.clone() });
                    work
                }
            }
        };
        work.await
    }
}

impl<T: Clone> Current<T> {
    fn is_to_be_tried_again(&self) -> bool {
        matches!(self.work.peek(), Some(None)) && self.begun.elapsed() >= RETRY
    }
}

fn begin<T: Clone + Send + Sync + 'static>(
    make: impl FnOnce() -> Result<T, OpenApiError> + Send + 'static,
) -> Work<T> {
    let made = tokio::task::spawn_blocking(make);
    let outcome = async move {
        match made.await {
            Ok(Ok(made)) => Some(made),
            Ok(Err(error)) => {
                tracing::error!(%error, "Cannot make the OpenAPI v2 document.");
                None
            }
            Err(error) => {
                tracing::error!(%error, "Making the OpenAPI v2 document was cut short.");
                None
            }
        }
    };
    outcome.boxed().shared()
}
