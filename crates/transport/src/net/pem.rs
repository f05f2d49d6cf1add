//! Certificates and keys in PEM, for TLS in both directions: parsing, the files that contain them, and the reasons why they are
//! unusable. This module must not know connections.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::zeroize::Zeroizing;

/// The maximum size of a file, in bytes.
const MOST: u64 = 1 << 20;

/// One of the files for TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPart {
    /// Dragoman's own certificate.
    Cert,
    /// The certificate's private key.
    Key,
    /// The authorities of clients.
    ClientCa,
    /// The authorities of servers.
    Ca,
}

/// The reason why a file is unusable.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem}; {help}")]
pub struct TlsError {
    /// The file.
    pub part: TlsPart,
    /// The problem.
    pub problem: String,
    /// The suggested fix.
    pub help: &'static str,
}

impl TlsPart {
    /// The configuration key that names the file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Cert => "cert",
            Self::Key => "key",
            Self::ClientCa => "clientCa",
            Self::Ca => "ca",
        }
    }
}

impl TlsError {
    pub(super) fn new(part: TlsPart, problem: impl Into<String>, help: &'static str) -> Self {
        Self { part, problem: problem.into(), help }
    }

    /// The error for a certificate and a key that rustls rejects in combination.
    pub(super) fn unfit(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InconsistentKeys(_) => Self::new(
                TlsPart::Key,
                "the key does not match the certificate",
                "use the key for which the certificate was issued",
            ),
            rustls::Error::InvalidCertificate(_) => Self::new(
                TlsPart::Cert,
                format!("the first certificate cannot be used ({error})"),
                "have it issued again, as X.509 version 3",
            ),
            error => Self::new(
                TlsPart::Key,
                format!("the key cannot be used ({error})"),
                "use a key for ECDSA (P-256, P-384, P-521), for RSA (2048 bits or more), or for Ed25519",
            ),
        }
    }
}

/// The certificates in a text, at least one.
pub(super) fn certificates(pem: &[u8], part: TlsPart) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match all {
        Ok(all) if all.is_empty() => Err(TlsError::new(
            part,
            "the file contains no certificate (a line `-----BEGIN CERTIFICATE-----` is missing)",
            "name a file with certificates in PEM",
        )),
        Ok(all) => Ok(all),
        Err(e) => {
            Err(TlsError::new(part, format!("the file is not valid PEM ({e})"), "create the file again"))
        }
    }
}

/// The private key in a text.
pub(super) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
        if pem.windows(9).any(|word| word == b"ENCRYPTED") {
            let help =
                "remove the passphrase (`openssl pkey -in OLD -out NEW`), and let only the user that runs Dragoman read the file";
            TlsError::new(TlsPart::Key, "the key has a passphrase", help)
        } else {
            let problem = "the file contains no private key (a line `-----BEGIN PRIVATE KEY-----` is missing)";
            TlsError::new(TlsPart::Key, problem, "name the file with the certificate's private key in PEM")
        }
    })
}

/// The authorities in a text; `help` is the suggested fix if one of them cannot be used.
pub(super) fn authorities(pem: &[u8], part: TlsPart, help: &'static str) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(pem, part)? {
        let added = roots.add(authority);
        added.map_err(|e| {
            TlsError::new(part, format!("an authority in the file cannot be used ({e})"), help)
        })?;
    }
    Ok(roots)
}

/// Reads a file. This blocks.
///
/// # Errors
/// Returns the reason why it cannot be read.
pub fn read_file(part: TlsPart, path: &Path) -> Result<Zeroizing<Vec<u8>>, TlsError> {
    let cannot = |why: &dyn fmt::Display| {
        let help = "name a file that the user running Dragoman can read";
        TlsError::new(part, format!("cannot read the file ({why})"), help)
    };
    let file = File::open(path).map_err(|e| cannot(&e))?;
    let size = file.metadata().map_err(|e| cannot(&e))?;
    if !size.is_file() {
        return Err(cannot(&"the path does not lead to a file"));
    }
    if size.len() > MOST {
        return Err(cannot(&format_args!("the file is larger than {MOST} bytes")));
    }
    // Allocate the whole buffer at once: a growing buffer would leave copies of a key in memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size.len()).unwrap_or(0) + 1));
    file.take(MOST).read_to_end(&mut bytes).map_err(|e| cannot(&e))?;
    Ok(bytes)
}

/// A file's metadata, which changes with its content; `None` if the file does not exist.
pub type FileStamp = Option<(i64, i64, u64, u64)>;

/// The current metadata of a file. This blocks.
pub fn stamp(path: &Path) -> FileStamp {
    let file = std::fs::metadata(path).ok()?;
    Some((file.mtime(), file.mtime_nsec(), file.size(), file.ino()))
}
