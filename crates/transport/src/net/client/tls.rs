//! TLS to upstreams, and the trusted authorities. The authorities are loaded when the first `https` connection needs
//! them, because reading those of the system costs milliseconds and memory. It must not know connections.

use std::io;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

/// The authorities that are trusted for upstreams' certificates: those of the operating system, and those that were
/// added. Clones share the loaded state, so one value should serve the clients of all shards.
#[derive(Clone, Debug, Default)]
pub struct Trust(Arc<TrustState>);

#[derive(Debug, Default)]
struct TrustState {
    extra: Vec<CertificateDer<'static>>,
    connectors: OnceCell<Connectors>,
}

#[derive(Clone)]
struct Connectors {
    /// The connector that offers HTTP/2 and HTTP/1.1.
    both: TlsConnector,
    http1: TlsConnector,
}

impl std::fmt::Debug for Connectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connectors")
    }
}

/// The error if a file with authorities' certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file is not PEM.
    #[error("not a PEM file of certificates: {0}")]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// The file is PEM but contains no certificates.
    #[error("there is no certificate in it (a line `-----BEGIN CERTIFICATE-----` is missing)")]
    Empty,
}

impl Trust {
    /// Trusts the system's authorities and those in `pem`, the content of a file with one or more certificates.
    pub fn with_pem(pem: &[u8]) -> Result<Self, TrustError> {
        let extra = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>()?;
        if extra.is_empty() {
            return Err(TrustError::Empty);
        }
        Ok(Self(Arc::new(TrustState { extra, connectors: OnceCell::new() })))
    }

    /// Returns the connector, which is created on first use.
    pub(super) async fn connector(&self, http2: bool) -> io::Result<TlsConnector> {
        let made = self.0.connectors.get_or_try_init(|| async {
            let inner = self.0.clone();
            let built = tokio::task::spawn_blocking(move || connectors(&inner.extra)).await;
            built.map_err(io::Error::other)?.map_err(io::Error::other)
        });
        let made = made.await?;
        Ok(if http2 { made.both.clone() } else { made.http1.clone() })
    }
}

fn connectors(extra: &[CertificateDer<'static>]) -> Result<Connectors, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra.iter().cloned(), provider.clone())?;
    let mut http1 = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        // Only the function's name says "dangerous": the verifier is that of the platform.
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    http1.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut both = http1.clone();
    both.alpn_protocols.insert(0, b"h2".to_vec());
    Ok(Connectors { both: Arc::new(both).into(), http1: Arc::new(http1).into() })
}
