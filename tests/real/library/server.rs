//! The library's server, over HTTPS as a user would run it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use apiserver::{
    authn::{Certificates, Trust},
    engine::Hooks,
    hooks::{AllowAll, Later, NamespaceState, Namespaces},
    listen,
    service::Service,
    storage::{Embedded, Options},
};
use pki::ServerTls;
use testkit::{Serving, Target, TempPki};
use tokio::{net::TcpListener, runtime::Runtime};

use super::kinds;

/// A server that runs until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Server {
    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection as a member of `system:masters`.
    pub(super) fn admin(&self, pki: &TempPki) -> Target {
        Target::tls(self.address, pki.server_ca.certificate_pem())
            .identity(pki.user("admin", &["system:masters"]))
    }
}

/// Every namespace but `absent` is there.
struct AllButAbsent;

impl Namespaces for AllButAbsent {
    fn state<'a>(&'a self, namespace: &'a str) -> Later<'a, Result<NamespaceState, String>> {
        let state = if namespace == "absent" { NamespaceState::Missing } else { NamespaceState::Active };
        Box::pin(async move { Ok(state) })
    }
}

pub(super) fn start(pki: &TempPki) -> Server {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let client_ca = pki.client_ca.certificate_pem();
    let trust = Trust::new(Some(client_ca), None, &[]).expect("trust");
    let store = Embedded::in_memory(Options::default()).expect("a store");
    let mut builder = Service::builder()
        .hooks(Hooks { namespaces: Arc::new(AllButAbsent), ..Hooks::authorized_by(AllowAll) })
        .authenticator(Certificates::new(Arc::new(Arc::new(trust).into())));
    for definition in kinds::definitions() {
        builder = builder.resource(definition);
    }
    let service = builder.build(Arc::new(store)).expect("definitions");
    let authorities = Trust::authorities(Some(client_ca), None).expect("authorities");
    let tls = ServerTls {
        certificate: &pki.serving(Serving::Good),
        clients: authorities.as_ref(),
        alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
        tickets: None,
    };
    let tls = Arc::new(Arc::new(tls.build().expect("TLS")).into());
    let address = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let limits = listen::Limits::default();
        tokio::spawn(listen::serve(Arc::new(service), listener, tls, limits, std::future::pending()));
        address
    });
    Server { address, _runtime: runtime }
}
