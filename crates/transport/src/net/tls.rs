//! TLS to clients: a certificate with its key and, if clients need certificates as well, the authorities that issue
//! these. All of this can be replaced while serving. This module must not know files, or what is served.

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

pub use super::pem::{TlsError, TlsPart};
use super::pem::{authorities, certificates, private_key};

/// The protocols offered to clients: the same as without TLS.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A listener's TLS settings. Clones share the settings, and a replacement applies to the next handshake of each
/// clone.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<ArcSwap<ServerConfig>>);

/// The contents of the files, in PEM.
#[derive(Clone, Copy)]
pub struct ServerPem<'a> {
    /// The certificate, followed by those of the intermediate authorities.
    pub cert: &'a [u8],
    /// The certificate's private key.
    pub key: &'a [u8],
    /// The authorities that issue client certificates; if there are none, clients need no certificate.
    pub client_ca: Option<&'a [u8]>,
}

impl ServerTls {
    /// Creates TLS settings from these files.
    pub fn new(pem: &ServerPem<'_>) -> Result<Self, TlsError> {
        Ok(Self(Arc::new(ArcSwap::new(config(pem)?))))
    }

    /// Replaces the files. If the new ones are unusable, the previous ones stay in use.
    pub fn replace(&self, pem: &ServerPem<'_>) -> Result<(), TlsError> {
        self.0.store(config(pem)?);
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.0.load_full().into()
    }

    pub(super) fn with_config(config: Arc<ServerConfig>) -> Self {
        Self(Arc::new(ArcSwap::new(config)))
    }
}

fn config(pem: &ServerPem<'_>) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let (chain, key) = (certificates(pem.cert, TlsPart::Cert)?, private_key(pem.key)?);
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| TlsError::new(TlsPart::Cert, e.to_string(), "report this as a bug in Dragoman"))?;
    let builder = match pem.client_ca {
        None => builder.with_no_client_auth(),
        Some(authorities) => builder.with_client_cert_verifier(clients(authorities, provider)?),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| TlsError::unfit(&error))?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(Arc::new(config))
}

fn clients(pem: &[u8], provider: Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let help = "use a file with certificates of authorities, not of clients";
    let roots = Arc::new(authorities(pem, TlsPart::ClientCa, help)?);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
    let unusable =
        |e| TlsError::new(TlsPart::ClientCa, format!("an authority in the file cannot be used ({e})"), help);
    verifier.map_err(unusable)
}

/// The validity of a certificate at a point in time; all times are in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// The certificate is valid now.
    Now,
    /// The certificate expired at this time.
    Until(u64),
    /// The certificate is not valid before this time.
    From(u64),
}

/// A server certificate, as clients see it.
#[derive(Debug)]
pub struct ServerCertificate(CertificateDer<'static>);

impl ServerCertificate {
    /// Reads the first certificate in a file.
    pub fn read(pem: &[u8]) -> Result<Self, TlsError> {
        Ok(Self(certificates(pem, TlsPart::Cert)?.swap_remove(0)))
    }

    /// Returns the certificate's validity at the time `now`, in seconds since 1970.
    pub fn validity(&self, now: u64) -> Validity {
        let Ok(certificate) = ParsedCertificate::try_from(&self.0) else { return Validity::Now };
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now));
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms.all;
        // Without authorities, the certificate is rejected in any case: because of its dates if they are wrong,
        // otherwise because of its issuer.
        let nobody = RootCertStore::empty();
        match verify_server_cert_signed_by_trust_anchor(&certificate, &nobody, &[], now, algorithms) {
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after, ..
            })) => Validity::Until(not_after.as_secs()),
            Err(rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext {
                not_before,
                ..
            })) => Validity::From(not_before.as_secs()),
            _ => Validity::Now,
        }
    }

    /// Returns true if clients accept the certificate for this host, which is a name or an IP address.
    pub fn covers(&self, host: &str) -> bool {
        let Ok(certificate) = ParsedCertificate::try_from(&self.0) else { return false };
        ServerName::try_from(host).is_ok_and(|name| verify_server_name(&certificate, &name).is_ok())
    }
}
