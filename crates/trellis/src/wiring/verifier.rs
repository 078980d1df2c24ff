//! Client certificates at the TLS handshake: let in when an authority of the moment signed them.

use std::sync::Arc;

use gateway::authn::Authenticator;
use pki::ClientAuthorities;
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    pki_types::{CertificateDer, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

/// Asks the authenticator for its authorities at every handshake, so that new ones count at once and
/// the TLS configuration, with its session tickets, stays.
#[derive(Debug)]
pub(super) struct CurrentAuthorities(pub(super) Arc<Authenticator>);

impl CurrentAuthorities {
    fn now(&self) -> Option<ClientAuthorities> {
        self.0.secrets().trust.authorities().cloned()
    }
}

impl ClientCertVerifier for CurrentAuthorities {
    fn offer_client_auth(&self) -> bool {
        self.now().is_some()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// None: clients choose their certificate without a hint, which may be outdated anyway.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.now() {
            Some(authorities) => authorities.verify_client_cert(end_entity, intermediates, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &pki::provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &pki::provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        pki::provider().signature_verification_algorithms.supported_schemes()
    }
}
