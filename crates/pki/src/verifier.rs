//! Who may be a server: webpki, with the one exception that Go's clients make as well.

use std::sync::{Arc, OnceLock};

use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use crate::{Error, Peer, Roots, certificates, provider};

/// Servers whose certificate chains to these roots.
pub(crate) fn trust(roots: &Roots<'_>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    match roots {
        Roots::System => system().map(|verifier| verifier as _),
        Roots::Pem(pem) => {
            let pinned = certificates(pem, "the CA bundle")?;
            let mut store = RootCertStore::empty();
            for certificate in &pinned {
                store.add(certificate.clone()).map_err(|e| Error::tls("the CA bundle", e))?;
            }
            Ok(Arc::new(Bundle { webpki: webpki(store, "the CA bundle")?, pinned }))
        }
    }
}

/// Any server.
pub(crate) fn trust_anybody() -> Arc<dyn ServerCertVerifier> {
    Arc::new(Anybody)
}

/// Whether this chain would be accepted for this name.
pub(crate) fn serves(roots: &Roots<'_>, chain: &[CertificateDer<'_>], name: &str) -> Result<bool, Error> {
    let name = crate::server_name(name)?;
    let Some((leaf, intermediates)) = chain.split_first() else { return Ok(false) };
    let verifier = trust(roots)?;
    Ok(verifier.verify_server_cert(leaf, intermediates, &name, &[], UnixTime::now()).is_ok())
}

fn webpki(store: RootCertStore, object: &str) -> Result<Arc<WebPkiServerVerifier>, Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider())
        .build()
        .map_err(|e| Error::tls(object, e))
}

fn system() -> Result<Arc<WebPkiServerVerifier>, Error> {
    static SYSTEM: OnceLock<Arc<WebPkiServerVerifier>> = OnceLock::new();
    if let Some(verifier) = SYSTEM.get() {
        return Ok(verifier.clone());
    }
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reason = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(Error::tls("the system's root certificates", reason));
    }
    let verifier = webpki(store, "the system's root certificates")?;
    Ok(SYSTEM.get_or_init(|| verifier).clone())
}

/// A bundle of roots. A certificate that stands in the bundle itself is accepted as a server's own,
/// also when it is marked as a CA: that is what `openssl req -x509` makes, and what people put into
/// a registration's CA bundle. Name and dates are checked all the same.
#[derive(Debug)]
struct Bundle {
    webpki: Arc<WebPkiServerVerifier>,
    pinned: Vec<CertificateDer<'static>>,
}

impl Bundle {
    fn verify_pinned(
        &self,
        certificate: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let peer = Peer::parse(certificate).map_err(|_| CertificateError::BadEncoding)?;
        let seconds = |time: std::time::SystemTime| {
            UnixTime::since_unix_epoch(time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default())
        };
        let (not_before, not_after) = (seconds(peer.not_before), seconds(peer.not_after));
        if now < not_before {
            return Err(CertificateError::NotValidYetContext { time: now, not_before }.into());
        }
        if now > not_after {
            return Err(CertificateError::ExpiredContext { time: now, not_after }.into());
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
    }
}

impl ServerCertVerifier for Bundle {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verdict =
            self.webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let marked_as_ca = matches!(
            verdict,
            Err(TlsError::InvalidCertificate(CertificateError::Other(_) | CertificateError::UnknownIssuer))
        );
        if marked_as_ca && self.pinned.iter().any(|pinned| pinned.as_ref() == end_entity.as_ref()) {
            return self.verify_pinned(end_entity, server_name, now);
        }
        verdict
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.webpki.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.webpki.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

/// `insecureSkipTLSVerify`: encrypted, but to whom is not asked.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, cert, dss, &provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, cert, dss, &provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
