//! Follows one Secret with the door's credentials towards a server. What is in it is never written to disk.

use catalog::{ClientCertificate, Credentials};
use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event},
    },
};

use crate::registration::SecretReference;

/// Calls `told` with the credentials whenever they change, until it answers false.
pub(super) async fn follow_secret(
    client: Client,
    reference: SecretReference,
    told: impl Fn(Result<Credentials, String>) -> bool,
) {
    let secrets = Api::<Secret>::namespaced(client, &reference.namespace);
    let named = watcher::Config::default().fields(&format!("metadata.name={}", reference.name));
    let mut events = std::pin::pin!(watcher::watcher(secrets, named).default_backoff());
    let (mut last, mut listed) = (None, false);
    while let Some(event) = events.next().await {
        let found = match event {
            Ok(Event::Init) => {
                listed = false;
                continue;
            }
            Ok(Event::InitApply(secret) | Event::Apply(secret)) => {
                listed = true;
                credentials(&secret)
            }
            Ok(Event::InitDone) if listed => continue,
            Ok(Event::InitDone | Event::Delete(_)) => Err("it does not exist".to_owned()),
            // What was known stays known while the core cannot be reached.
            Err(_) if last.is_some() => continue,
            Err(error) => Err(error.to_string()),
        };
        if last.as_ref() != Some(&found) {
            last = Some(found.clone());
            if !told(found) {
                return;
            }
        }
    }
}

fn credentials(secret: &Secret) -> Result<Credentials, String> {
    let value = |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map(|value| value.0.clone());
    let client_certificate = match (value("tls.crt"), value("tls.key")) {
        (Some(chain), Some(key)) => {
            Some(ClientCertificate { chain: chain.into(), key: catalog::Secret::new(key) })
        }
        (None, None) => None,
        _ => return Err("tls.crt and tls.key belong together".to_owned()),
    };
    let bearer_token = value("token").map(|token| catalog::Secret::new(token.trim_ascii()));
    if client_certificate.is_none() && bearer_token.is_none() {
        return Err("it has neither tls.crt and tls.key nor token".to_owned());
    }
    Ok(Credentials { client_certificate, bearer_token })
}
