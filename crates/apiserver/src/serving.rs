//! What a server shows and whom it believes, from files that may change while it runs, and from what the
//! core publishes.

use std::{path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;
use pki::{CertifiedKey, Contents, Reloading, ServerTls};
use rustls::{ServerConfig, server::ProducesTickets};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    authn::{Certificates, Trust, TrustError},
    delegate::{Core, Published, PublishedError},
};

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
pub enum InvalidFiles {
    /// A certificate, a key or a CA.
    #[error("the certificates of the server: {0}")]
    Certificates(#[from] pki::Error),
    /// What the core publishes.
    #[error(transparent)]
    Published(#[from] PublishedError),
}

/// What the files say at present. New content counts for the next connection; dropping this ends the
/// watching, not the use.
pub struct Serving {
    /// For [`crate::listen::serve`].
    pub tls: Arc<ArcSwap<ServerConfig>>,
    /// For [`crate::service::Builder::authenticator`].
    pub certificates: Certificates,
    following: Vec<JoinHandle<()>>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.following.iter().for_each(JoinHandle::abort);
    }
}

/// The files, read.
struct Material {
    certificate: CertifiedKey,
    client_ca: Option<Vec<u8>>,
    front_proxy_ca: Option<Vec<u8>>,
    allowed_names: Vec<String>,
}

type Made = (Arc<ServerConfig>, Arc<Trust>);

impl Files {
    /// Reads the files and watches them from then on. Must be called inside of a tokio runtime.
    ///
    /// # Errors
    /// When a file cannot be read now, or does not fit the others.
    pub fn load(self) -> Result<Serving, InvalidFiles> {
        let tickets = pki::ticketer()?;
        let own = tickets.clone();
        // What does not fit together is refused before it takes the place of what does.
        let reloading = self.reloading(move |material| make(material, None, &own).map(drop))?;
        Serving::follow(reloading, None, tickets)
    }

    /// As [`load`](Self::load), and believes whom the core believes: its users and its front proxies, as it
    /// publishes them in `extension-apiserver-authentication`. What is published anew counts at once. Files
    /// of CAs go before what is published.
    ///
    /// # Errors
    /// As `load`, and when what is published cannot be read now.
    pub async fn load_beside(self, core: Arc<dyn Core>) -> Result<Serving, InvalidFiles> {
        let tickets = pki::ticketer()?;
        let (published, task) = Published::follow(core).await?;
        let reloading = self.reloading(|_| Ok(()))?;
        let mut serving = Serving::follow(reloading, Some(published), tickets)?;
        serving.following.push(task);
        Ok(serving)
    }

    fn reloading(
        self,
        check: impl Fn(&Material) -> Result<(), pki::Error> + Send + Sync + 'static,
    ) -> Result<Reloading<Material>, pki::Error> {
        let mut paths = vec![self.certificate.clone(), self.key.clone()];
        paths.extend(self.client_ca.iter().chain(&self.front_proxy_ca).cloned());
        let (clients, proxies) = (self.client_ca.is_some(), self.front_proxy_ca.is_some());
        let (name, allowed_names) = (self.certificate.display().to_string(), self.allowed_names);
        Reloading::start(paths, move |contents: &Contents| {
            let material = Material {
                certificate: CertifiedKey::from_pem(contents.get(0), contents.get(1), &name),
                client_ca: clients.then(|| contents.get(2).to_vec()),
                front_proxy_ca: proxies.then(|| contents.get(2 + usize::from(clients)).to_vec()),
                allowed_names: allowed_names.clone(),
            };
            check(&material)?;
            Ok(material)
        })
    }
}

impl Serving {
    fn follow(
        files: Reloading<Material>,
        mut published: Option<watch::Receiver<Published>>,
        tickets: Arc<dyn ProducesTickets>,
    ) -> Result<Self, InvalidFiles> {
        let at_first = published.as_mut().map(|published| published.borrow_and_update().clone());
        let (tls, trust) = make(&files.current(), at_first.as_ref(), &tickets)?;
        let (tls, trust) = (Arc::new(ArcSwap::new(tls)), Arc::new(ArcSwap::new(trust)));
        let certificates = Certificates::new(Arc::clone(&trust));
        let shown = Arc::clone(&tls);
        let mut news = files.subscribe();
        let following = tokio::spawn(async move {
            // Kept here, because dropping it ends the watching.
            let _files = files;
            loop {
                let changed = tokio::select! {
                    changed = news.changed() => changed,
                    changed = changed(&mut published) => changed,
                };
                if changed.is_err() {
                    return;
                }
                let material = news.borrow_and_update().clone();
                let published = published.as_mut().map(|published| published.borrow_and_update().clone());
                match make(&material, published.as_ref(), &tickets) {
                    Ok((tls, believed)) => {
                        shown.store(tls);
                        trust.store(believed);
                    }
                    Err(error) => tracing::warn!(%error, "kept the last good certificates"),
                }
            }
        });
        Ok(Self { tls, certificates, following: vec![following] })
    }
}

async fn changed(published: &mut Option<watch::Receiver<Published>>) -> Result<(), watch::error::RecvError> {
    match published {
        Some(published) => published.changed().await,
        None => std::future::pending().await,
    }
}

fn make(
    files: &Material,
    published: Option<&Published>,
    tickets: &Arc<dyn ProducesTickets>,
) -> Result<Made, pki::Error> {
    let client_ca = files.client_ca.as_ref().or(published.and_then(|published| published.client_ca.as_ref()));
    // Names and headers belong to the CA of front proxies: they come from where it comes from.
    let proxies = match (&files.front_proxy_ca, published) {
        (None, Some(published)) => {
            (published.front_proxy_ca.as_ref(), &published.allowed_names, Some(&published.names))
        }
        (own, _) => (own.as_ref(), &files.allowed_names, None),
    };
    let (proxy_ca, allowed_names, names) = proxies;
    let (client_ca, proxy_ca) = (client_ca.map(Vec::as_slice), proxy_ca.map(Vec::as_slice));
    let authorities = Trust::authorities(client_ca, proxy_ca)?;
    let tls = ServerTls {
        certificate: &files.certificate,
        clients: authorities.as_ref(),
        alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
        tickets: Some(tickets.clone()),
    };
    let trust = Trust::new(client_ca, proxy_ca, allowed_names).map_err(|error| match error {
        TrustError::Bundle(error) => error,
        shared @ TrustError::SharedAuthority => pki::Error::Tls {
            object: "the CA bundle of front proxies".to_owned(),
            problem: shared.to_string(),
        },
    })?;
    let trust = names.map_or(trust.clone(), |names| trust.with_header_names(names.clone()));
    Ok((Arc::new(tls.build()?), Arc::new(trust)))
}
