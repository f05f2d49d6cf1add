//! TLS to clients: a certificate with its key and, if clients need certificates as well, the authorities that issue
//! these. All of this can be replaced while serving. It must not know files, or what is served.

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

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

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPart {
    /// The certificate.
    Cert,
    /// The certificate's private key.
    Key,
    /// The authorities of clients.
    ClientCa,
}

/// The error if a file is unusable.
#[derive(Debug, thiserror::Error)]
#[error("{problem}; {help}")]
pub struct TlsError {
    /// The kind of the file.
    pub part: TlsPart,
    problem: String,
    help: &'static str,
}

impl TlsError {
    fn new(part: TlsPart, problem: impl Into<String>, help: &'static str) -> Self {
        Self { part, problem: problem.into(), help }
    }
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

    #[cfg(test)]
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
    let mut config = builder.with_single_cert(chain, key).map_err(|error| unfit(&error))?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(Arc::new(config))
}

fn unfit(error: &rustls::Error) -> TlsError {
    match error {
        rustls::Error::InconsistentKeys(_) => TlsError::new(
            TlsPart::Key,
            "it does not match the certificate",
            "name the key for which the certificate was issued",
        ),
        rustls::Error::InvalidCertificate(_) => TlsError::new(
            TlsPart::Cert,
            format!("its first certificate cannot be used ({error})"),
            "have it issued again, as X.509 version 3",
        ),
        error => TlsError::new(
            TlsPart::Key,
            format!("it cannot be used ({error})"),
            "use a key for ECDSA (P-256, P-384, P-521), for RSA (2048 bits or more), or for Ed25519",
        ),
    }
}

fn certificates(pem: &[u8], part: TlsPart) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match all {
        Ok(all) if all.is_empty() => Err(TlsError::new(
            part,
            "there is no certificate in it (a line `-----BEGIN CERTIFICATE-----` is missing)",
            "name a file with certificates in PEM",
        )),
        Ok(all) => Ok(all),
        Err(e) => Err(TlsError::new(part, format!("it is not valid PEM ({e})"), "create the file again")),
    }
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
        if pem.windows(9).any(|word| word == b"ENCRYPTED") {
            let help =
                "remove it (`openssl pkey -in OLD -out NEW`), and let only the user that runs Dragoman read the file";
            TlsError::new(TlsPart::Key, "the key has a passphrase", help)
        } else {
            let problem = "there is no private key in it (a line `-----BEGIN PRIVATE KEY-----` is missing)";
            TlsError::new(TlsPart::Key, problem, "name the file with the certificate's private key in PEM")
        }
    })
}

fn clients(pem: &[u8], provider: Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let unusable = |error: String| {
        let problem = format!("an authority in it cannot be used ({error})");
        TlsError::new(TlsPart::ClientCa, problem, "name certificates of authorities, not of clients")
    };
    let mut roots = RootCertStore::empty();
    for authority in certificates(pem, TlsPart::ClientCa)? {
        roots.add(authority).map_err(|e| unusable(e.to_string()))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map_err(|e| unusable(e.to_string()))
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
