//! TLS to upstreams, and the trusted authorities. The authorities are loaded when the first `https` connection needs
//! them, because reading those of the system costs milliseconds and memory. This module must not know connections.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::ClientConfig;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;
use rustls_platform_verifier::Verifier;
use tokio::sync::{Mutex, OnceCell};
use tokio_rustls::TlsConnector;

use super::error::ClientError;
use crate::net::peer_key::{KnownPeer, PeerPublicKey};
use crate::net::pem::{self, FileStamp, TlsError, TlsPart, authorities, certificates, private_key};

/// The authorities that are trusted for upstreams' certificates: those of the operating system, and those that were
/// added. Clones share the loaded state, so one value should serve the clients of all shards.
#[derive(Clone, Debug, Default)]
pub struct Trust(Arc<TrustState>);

#[derive(Debug, Default)]
struct TrustState {
    /// Authorities in addition to those of the operating system.
    extra: Vec<CertificateDer<'static>>,
    system: OnceCell<Connectors>,
    files: Option<FileTrust>,
    /// The only server that is trusted, by its key instead of a certificate.
    peer: Option<PeerPublicKey>,
}

/// Files in PEM for TLS to an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The file with the trusted authorities; if `None`, those of the system are trusted.
    pub ca: Option<PathBuf>,
    /// True if the system's authorities are trusted besides `ca`.
    pub system_too: bool,
    /// The certificate that this client presents if it is asked for one, and the certificate's private key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// A file that cannot be used, and the reason.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`tls.{}`: {}: {source}", .source.part.key(), .file.display())]
pub struct TlsFileError {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub source: TlsError,
}

/// Settings that are read again when their files change.
#[derive(Debug)]
struct FileTrust {
    files: Arc<TlsFiles>,
    loaded: Mutex<Option<LoadedFiles>>,
    /// Incremented whenever the files change after they were first loaded.
    generation: AtomicU64,
}

#[derive(Clone, Debug)]
struct LoadedFiles {
    connectors: Connectors,
    /// The metadata of the files when they were last read.
    stamps: Vec<FileStamp>,
}

#[derive(Clone)]
struct Connectors {
    /// The connector that offers HTTP/2 and HTTP/1.1.
    both: TlsConnector,
    http1: TlsConnector,
}

impl fmt::Debug for Connectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connectors")
    }
}

impl Trust {
    /// Trusts the system's authorities and those in `pem`, the content of a file with one or more certificates.
    ///
    /// # Errors
    /// Returns the reason why the content is unusable.
    pub fn with_pem(pem: &[u8]) -> Result<Self, TlsError> {
        let extra = certificates(pem, TlsPart::Ca)?;
        Ok(Self(Arc::new(TrustState { extra, ..TrustState::default() })))
    }

    /// Trusts only the process with this key, whatever its address and its name are.
    pub fn of_peer(public: PeerPublicKey) -> Self {
        Self(Arc::new(TrustState { peer: Some(public), ..TrustState::default() }))
    }

    /// Settings from files, which are read with the first connection, and again when they change. While changed files are
    /// unusable, the former content stays in use.
    pub fn from_files(files: TlsFiles) -> Self {
        let files =
            FileTrust { files: Arc::new(files), loaded: Mutex::default(), generation: AtomicU64::new(0) };
        Self(Arc::new(TrustState { files: Some(files), ..TrustState::default() }))
    }

    /// The connector for connections to `host`, created on first use.
    pub(super) async fn connector(&self, host: &str, http2: bool) -> Result<TlsConnector, ClientError> {
        let connectors = match &self.0.files {
            Some(files) => files.connectors(host).await?,
            None => self.system().await.map_err(|error| ClientError::tls(host, error))?,
        };
        Ok(if http2 { connectors.both } else { connectors.http1 })
    }

    async fn system(&self) -> io::Result<Connectors> {
        let made = self.0.system.get_or_try_init(|| async {
            let inner = self.0.clone();
            let work = move || {
                let provider = Arc::new(aws_lc_rs::default_provider());
                if let Some(peer) = &inner.peer {
                    return connectors(Arc::new(KnownPeer::new(peer.clone())), provider, None);
                }
                let extra = inner.extra.iter().cloned();
                let verifier = Arc::new(Verifier::new_with_extra_roots(extra, provider.clone())?);
                connectors(verifier, provider, None)
            };
            let built = crate::task::spawn_blocking(work).await;
            built.map_err(io::Error::other)?.map_err(io::Error::other)
        });
        made.await.cloned()
    }

    /// The number of times that the files have changed. Connections from before the latest change are not used again.
    pub(in crate::net) fn generation(&self) -> u64 {
        self.0.files.as_ref().map_or(0, |files| files.generation.load(Ordering::Acquire))
    }

    /// Reads the files again if they have changed.
    pub(super) async fn refresh(&self) {
        if let Some(files) = &self.0.files {
            // The next connection reports a failure.
            let _ = files.connectors("").await;
        }
    }
}

impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Trust {}

impl Hash for Trust {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl FileTrust {
    async fn connectors(&self, host: &str) -> Result<Connectors, ClientError> {
        // One task at a time reads the files; the others use what it has read.
        let mut loaded = self.loaded.lock().await;
        let (files, seen) = (self.files.clone(), loaded.as_ref().map(|loaded| loaded.stamps.clone()));
        let load = move || {
            // The metadata are read first: a change while the files are read is then noticed with the next connection.
            let stamps = files.stamps();
            (seen.as_ref() != Some(&stamps)).then(|| (files.load(), stamps))
        };
        let read = crate::task::spawn_blocking(load).await;
        let read = read.map_err(|error| ClientError::tls(host, io::Error::other(error)))?;
        match (read, &mut *loaded) {
            (None, Some(loaded)) => Ok(loaded.connectors.clone()),
            (Some((Ok(connectors), stamps)), before) => {
                if before.is_some() {
                    self.generation.fetch_add(1, Ordering::AcqRel);
                    tracing::info!(files = %self.files, "reloaded the TLS files for a server");
                }
                Ok(before.insert(LoadedFiles { connectors, stamps }).connectors.clone())
            }
            (Some((Err(why), stamps)), Some(before)) => {
                tracing::error!("cannot use the new TLS files for a server; the old ones stay in use: {why}");
                before.stamps = stamps;
                Ok(before.connectors.clone())
            }
            (Some((Err(source), _)), None) => Err(ClientError::TlsFile { host: host.to_owned(), source }),
            // Without stamps to compare with, the files are always read.
            (None, None) => Err(ClientError::tls(host, io::Error::other("the TLS files were not read"))),
        }
    }
}

impl TlsFiles {
    /// Checks that the files can be used. This blocks.
    ///
    /// # Errors
    /// Returns the first unusable file.
    pub fn check(&self) -> Result<(), TlsFileError> {
        self.load().map(|_| ())
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        let identity = self.identity.iter().flat_map(|(cert, key)| [cert, key]);
        self.ca.iter().chain(identity).map(PathBuf::as_path)
    }

    fn stamps(&self) -> Vec<FileStamp> {
        self.paths().map(pem::stamp).collect()
    }

    fn load(&self) -> Result<Connectors, TlsFileError> {
        let named = |source: TlsError| {
            let identity = self.identity.as_ref();
            let file = match source.part {
                TlsPart::Cert => identity.map(|(cert, _)| cert),
                TlsPart::Key => identity.map(|(_, key)| key),
                TlsPart::Ca | TlsPart::ClientCa => self.ca.as_ref(),
            };
            TlsFileError { file: file.cloned().unwrap_or_default(), source }
        };
        self.built().map_err(named)
    }

    fn built(&self) -> Result<Connectors, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = self.verifier(&provider)?;
        let identity = match &self.identity {
            None => None,
            Some((cert, key)) => {
                let chain = certificates(&pem::read_file(TlsPart::Cert, cert)?, TlsPart::Cert)?;
                Some((chain, private_key(&pem::read_file(TlsPart::Key, key)?)?))
            }
        };
        connectors(verifier, provider, identity).map_err(|error| TlsError::unfit(&error))
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
        let help = "use a file with certificates of authorities, not of servers";
        let (whose, advice) = match &self.ca {
            Some(_) => ("certificate authorities in the file", help),
            None => (
                "certificate authorities of this machine",
                "install the package ca-certificates, or name a file of your own",
            ),
        };
        let unusable = |error: &dyn fmt::Display| {
            TlsError::new(TlsPart::Ca, format!("the {whose} cannot be used ({error})"), advice)
        };
        let pem = self.ca.as_deref().map(|file| pem::read_file(TlsPart::Ca, file)).transpose()?;
        match pem {
            Some(pem) if !self.system_too => {
                let roots = Arc::new(authorities(&pem, TlsPart::Ca, help)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
                Ok(verifier.map_err(|error| unusable(&error))?)
            }
            pem => {
                let extra = pem.map(|pem| certificates(&pem, TlsPart::Ca)).transpose()?.unwrap_or_default();
                let verifier = Verifier::new_with_extra_roots(extra, provider.clone());
                Ok(Arc::new(verifier.map_err(|error| unusable(&error))?))
            }
        }
    }
}

impl fmt::Display for TlsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.paths().map(|path| path.display().to_string()).collect();
        f.write_str(&all.join(", "))
    }
}

fn connectors(
    verifier: Arc<dyn ServerCertVerifier>,
    provider: Arc<CryptoProvider>,
    identity: Option<(Vec<CertificateDer<'static>>, rustls::pki_types::PrivateKeyDer<'static>)>,
) -> Result<Connectors, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        // Only the function's name says "dangerous": the verifier is that of the platform.
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut http1 = match identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder.with_client_auth_cert(chain, key)?,
    };
    http1.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut both = http1.clone();
    both.alpn_protocols.insert(0, b"h2".to_vec());
    Ok(Connectors { both: Arc::new(both).into(), http1: Arc::new(http1).into() })
}
