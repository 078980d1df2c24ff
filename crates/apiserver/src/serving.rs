//! What a server shows and whom it believes, from files that may change while it runs.

use std::{path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;
use pki::{CertifiedKey, Contents, Reloading, ServerTls};
use rustls::ServerConfig;
use tokio::task::JoinHandle;

use crate::authn::{Certificates, Trust, TrustError};

/// Files of a server, PEM.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Its certificate, with the chain to its CA.
    pub certificate: PathBuf,
    /// The key of that.
    pub key: PathBuf,
    /// CAs that sign users (upstream: `--client-ca-file`).
    pub client_ca: Option<PathBuf>,
    /// CAs that sign front proxies, which may speak for users (`--requestheader-client-ca-file`).
    pub front_proxy_ca: Option<PathBuf>,
    /// Common names of front proxies that may; empty: all that these CAs have signed
    /// (`--requestheader-allowed-names`).
    pub allowed_names: Vec<String>,
}

/// Files that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the certificates of the server: {0}")]
pub struct InvalidFiles(#[from] pki::Error);

/// What the files say at present. New content counts for the next connection; dropping this ends the
/// watching, not the use.
pub struct Serving {
    /// For [`crate::listen::serve`].
    pub tls: Arc<ArcSwap<ServerConfig>>,
    /// For [`crate::service::Builder::authenticator`].
    pub certificates: Certificates,
    following: JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl Files {
    /// Reads the files and watches them from then on. Must be called inside of a tokio runtime.
    ///
    /// # Errors
    /// When a file cannot be read now, or does not fit the others.
    pub fn load(self) -> Result<Serving, InvalidFiles> {
        let tickets = pki::ticketer()?;
        let mut paths = vec![self.certificate.clone(), self.key.clone()];
        paths.extend(self.client_ca.iter().chain(&self.front_proxy_ca).cloned());
        let (clients, proxies) = (self.client_ca.is_some(), self.front_proxy_ca.is_some());
        let (name, allowed) = (self.certificate.display().to_string(), self.allowed_names);
        let make = move |contents: &Contents| {
            let client_ca = clients.then(|| contents.get(2));
            let proxy_ca = proxies.then(|| contents.get(2 + usize::from(clients)));
            let authorities = Trust::authorities(client_ca, proxy_ca)?;
            let tls = ServerTls {
                certificate: &CertifiedKey::from_pem(contents.get(0), contents.get(1), &name),
                clients: authorities.as_ref(),
                alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
                tickets: Some(tickets.clone()),
            };
            let trust = Trust::new(client_ca, proxy_ca, &allowed).map_err(|error| match error {
                TrustError::Bundle(error) => error,
                shared @ TrustError::SharedAuthority => pki::Error::Tls {
                    object: "the CA bundle of front proxies".to_owned(),
                    problem: shared.to_string(),
                },
            })?;
            Ok((Arc::new(tls.build()?), Arc::new(trust)))
        };
        let reloading = Reloading::start(paths, make)?;
        let (tls, trust) = &*reloading.current();
        let (tls, trust) = (Arc::new(ArcSwap::new(tls.clone())), Arc::new(ArcSwap::new(trust.clone())));
        let certificates = Certificates::new(Arc::clone(&trust));
        let mut news = reloading.subscribe();
        let shown = Arc::clone(&tls);
        let following = tokio::spawn(async move {
            // Kept here, because dropping it ends the watching.
            let _reloading = reloading;
            while news.changed().await.is_ok() {
                let (tls, believed) = &*news.borrow_and_update().clone();
                shown.store(tls.clone());
                trust.store(believed.clone());
            }
        });
        Ok(Serving { tls, certificates, following })
    }
}
