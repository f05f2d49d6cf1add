//! TLS between the gateways of a cluster. Each process proves its identity with a key that it creates at its start, without
//! certificates (raw public keys, RFC 7250). This module must not know how processes learn each other's keys.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, DigitallySignedStruct, PeerIncompatible, ServerConfig, SignatureScheme, version,
};

use super::tls::ServerTls;

/// The reason why a process has no key for TLS.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot create the key for connections between gateways: {0}; report this as a bug in Dragoman")]
pub struct PeerKeyError(String);

/// The key pair of this process, and the settings to serve other processes with it.
#[derive(Clone)]
pub struct PeerKey {
    public: PeerPublicKey,
    tls: ServerTls,
}

/// The public key of a process, in DER (`SubjectPublicKeyInfo`).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PeerPublicKey(Arc<[u8]>);

impl PeerKey {
    /// Creates a key pair. This takes a few milliseconds.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub fn generate() -> Result<Self, PeerKeyError> {
        let failed = |what: &dyn fmt::Display| PeerKeyError(what.to_string());
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|e| failed(&e))?;
        let private = PrivatePkcs8KeyDer::from(pair.as_ref().to_vec()).into();
        let signing = provider::sign::any_supported_type(&private).map_err(|e| failed(&e))?;
        let public = signing.public_key().ok_or_else(|| failed(&"it has no public part"))?.to_vec();
        let certified = CertifiedKey::new(vec![CertificateDer::from(public.clone())], signing);
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|e| failed(&e))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified))));
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { public: PeerPublicKey(public.into()), tls: ServerTls::with_config(Arc::new(config)) })
    }

    /// The public key, by which other processes recognize this one.
    pub fn public(&self) -> &PeerPublicKey {
        &self.public
    }

    /// The settings of a listener that proves this key.
    pub fn tls(&self) -> ServerTls {
        self.tls.clone()
    }
}

impl fmt::Debug for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerKey({:?})", self.public)
    }
}

impl PeerPublicKey {
    /// Creates the key from its DER.
    pub fn from_der(der: Vec<u8>) -> Self {
        Self(der.into())
    }

    /// The key's DER.
    pub fn der(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PeerPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().rev().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Accepts a server that proves one particular key, whatever its name is.
#[derive(Debug)]
pub(super) struct KnownPeer {
    public: PeerPublicKey,
    algorithms: WebPkiSupportedAlgorithms,
}

impl KnownPeer {
    pub(super) fn new(public: PeerPublicKey) -> Self {
        Self { public, algorithms: provider::default_provider().signature_verification_algorithms }
    }
}

impl ServerCertVerifier for KnownPeer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if **end_entity == *self.public.0 {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
