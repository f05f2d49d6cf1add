//! Reads and checks the files of `tls`, and reloads them when they change. This module must not know connections, or
//! how TLS works.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use config::{Config, Tls};
use jiff::Timestamp;
use secrecy::zeroize::Zeroizing;
use transport::net::pem::{FileStamp, read_file, stamp};
use transport::net::tls::{ServerCertificate, ServerPem, ServerTls, TlsError, TlsPart, Validity};

/// An unusable file, the reason why it is unusable, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("tls.{key}: {file}: {why}; {help}")]
pub(crate) struct TlsFault {
    key: &'static str,
    file: String,
    why: String,
    help: &'static str,
}

/// The content of the files.
struct TlsContents {
    cert: Zeroizing<Vec<u8>>,
    key: Zeroizing<Vec<u8>>,
    client_ca: Option<Zeroizing<Vec<u8>>>,
}

impl TlsContents {
    fn read(tls: &Tls) -> Result<Self, TlsFault> {
        let read = |part, file: &Path| read_file(part, file).map_err(|error| named(tls, &error));
        let (cert, key) = (read(TlsPart::Cert, &tls.cert)?, read(TlsPart::Key, &tls.key)?);
        let client_ca = tls.client_ca.as_deref().map(|file| read(TlsPart::ClientCa, file)).transpose()?;
        Ok(Self { cert, key, client_ca })
    }

    fn pem(&self) -> ServerPem<'_> {
        ServerPem {
            cert: &self.cert,
            key: &self.key,
            client_ca: self.client_ca.as_deref().map(Vec::as_slice),
        }
    }
}

fn named(tls: &Tls, error: &TlsError) -> TlsFault {
    let file = match error.part {
        TlsPart::Cert => &tls.cert,
        TlsPart::Key => &tls.key,
        TlsPart::ClientCa | TlsPart::Ca => tls.client_ca.as_ref().unwrap_or(&tls.cert),
    };
    let (file, why) = (file.display().to_string(), error.problem.clone());
    TlsFault { key: error.part.key(), file, why, help: error.help }
}

/// Creates the TLS settings from these files.
///
/// # Errors
/// Returns the unusable file.
fn open(tls: &Tls) -> Result<ServerTls, TlsFault> {
    ServerTls::new(&TlsContents::read(tls)?.pem()).map_err(|error| named(tls, &error))
}

/// A problem of one of the files, and its suggested fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsNote {
    /// The problem.
    pub message: String,
    /// The suggested fix.
    pub help: String,
}

impl std::fmt::Display for TlsNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl TlsNote {
    fn new(message: String, help: impl Into<String>) -> Self {
        Self { message, help: help.into() }
    }
}

/// Returns warnings about usable files.
fn notes(tls: &Tls) -> Vec<TlsNote> {
    validity(tls).into_iter().chain(open_key(tls)).collect()
}

/// Returns warnings about the files of a configuration that is not being served.
pub fn check(tls: &Tls) -> Vec<String> {
    errors(tls).into_iter().chain(open_key(tls)).map(|note| note.to_string()).collect()
}

/// Returns the reasons why these files cannot be used now.
pub fn errors(tls: &Tls) -> Vec<TlsNote> {
    let fault = open(tls).err().map(|fault| {
        let TlsFault { key, file, why, help } = fault;
        let help = format!("{help}; until then, `dragoman serve` would not start");
        TlsNote::new(format!("tls.{key}: {file}: {why}"), help)
    });
    fault.into_iter().chain(validity(tls)).collect()
}

/// Returns warnings about usable files: a key that other users can read, a certificate that expires soon.
pub fn warnings(tls: &Tls) -> Vec<TlsNote> {
    open_key(tls).into_iter().chain(soon(tls)).collect()
}

/// The remaining validity, in seconds, below which a certificate should be replaced: 14 days.
const SOON: u64 = 14 * 24 * 60 * 60;

/// Returns a warning about a certificate that expires soon.
fn soon(tls: &Tls) -> Option<TlsNote> {
    let (certificate, now) = (certificate(tls)?, now());
    match (certificate.validity(now), certificate.validity(now + SOON)) {
        (Validity::Now, Validity::Until(end)) => {
            let (file, end) = (tls.cert.display(), moment(end));
            let message = format!("tls.cert: {file}: the certificate expires at {end} UTC");
            Some(TlsNote::new(message, "replace it before"))
        }
        _ => None,
    }
}

/// Returns the present time, in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn moment(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Returns a warning about a certificate that is not valid now.
fn validity(tls: &Tls) -> Option<TlsNote> {
    let certificate = certificate(tls)?;
    let file = tls.cert.display();
    match certificate.validity(now()) {
        Validity::Now => None,
        Validity::Until(end) => {
            let end = moment(end);
            let message =
                format!("tls.cert: {file}: the certificate expired at {end} UTC, so clients refuse it");
            Some(TlsNote::new(message, "replace it"))
        }
        Validity::From(begin) => {
            let begin = moment(begin);
            let message = format!(
                "tls.cert: {file}: the certificate is not valid before {begin} UTC, so clients refuse it \
                 until then"
            );
            Some(TlsNote::new(message, "check this machine's clock, or replace it"))
        }
    }
}

/// Returns a warning about a private key that other users can read.
fn open_key(tls: &Tls) -> Option<TlsNote> {
    let mode = std::fs::metadata(&tls.key).ok()?.permissions().mode() & 0o777;
    let file = tls.key.display();
    (mode & 0o004 != 0).then(|| {
        let message = format!("tls.key: other users can read {file} (mode {mode:03o})");
        TlsNote::new(message, format!("run `chmod 600 {file}`, as the user that runs Dragoman"))
    })
}

fn certificate(tls: &Tls) -> Option<ServerCertificate> {
    ServerCertificate::read(&read_file(TlsPart::Cert, &tls.cert).ok()?).ok()
}

/// Returns the origin for clients on this machine, such as `https://mcp.example.com:8443`. With TLS, the host is a
/// name in the certificate that resolves to this machine, if there is such a name.
pub fn origin(config: &Config, here: SocketAddr) -> String {
    let Some(tls) = &config.tls else { return format!("http://{here}") };
    let host = certificate(tls).and_then(|certificate| {
        let address = here.ip().to_string();
        if certificate.covers(&address) {
            return None;
        }
        let allowed = config.allowed_hosts.iter().map(String::as_str);
        let mut names = here.ip().is_loopback().then_some("localhost").into_iter().chain(allowed);
        names.find(|name| certificate.covers(name.split(':').next().unwrap_or(name))).map(ToOwned::to_owned)
    });
    match (host, here.port()) {
        (None, _) => format!("https://{here}"),
        (Some(host), 443) => format!("https://{host}"),
        (Some(host), _) if host.contains(':') => format!("https://{host}"),
        (Some(host), port) => format!("https://{host}:{port}"),
    }
}

/// The files of one listener, and the settings that are replaced when the files change.
pub(crate) struct TlsWatch {
    files: Arc<Tls>,
    serves: ServerTls,
    seen: Vec<FileStamp>,
    /// The state of the files after the latest change. The files are reloaded only once they have stopped changing,
    /// because until then, another program may still be writing them.
    differs: Option<Vec<FileStamp>>,
}

impl TlsWatch {
    /// Reads the files, and starts watching them.
    ///
    /// # Errors
    /// Returns the unusable file.
    pub(crate) fn start(files: Tls) -> Result<Self, TlsFault> {
        let seen = stamps(&files);
        let serves = open(&files)?;
        for note in notes(&files) {
            tracing::warn!("{note}");
        }
        Ok(Self { files: Arc::new(files), serves, seen, differs: None })
    }

    /// Returns the TLS settings that were made from the files.
    pub(crate) fn serves(&self) -> ServerTls {
        self.serves.clone()
    }

    /// Checks the files. Reloads them if they have changed and then stayed the same since the last check, or if
    /// `is_told` is true.
    pub(crate) async fn look(&mut self, is_told: bool) {
        let files = self.files.clone();
        let Ok(now) = transport::task::spawn_blocking(move || stamps(&files)).await else { return };
        let is_new = now != self.seen;
        if is_told || (is_new && self.differs.as_ref() == Some(&now)) {
            (self.seen, self.differs) = (now, None);
            self.replace().await;
        } else {
            self.differs = is_new.then_some(now);
        }
    }

    async fn replace(&self) {
        let (files, serves) = (self.files.clone(), self.serves.clone());
        let replaced = transport::task::spawn_blocking(move || {
            let contents = TlsContents::read(&files)?;
            serves.replace(&contents.pem()).map_err(|error| named(&files, &error))?;
            Ok::<_, TlsFault>(validity(&files))
        });
        match replaced.await {
            Ok(Ok(note)) => {
                tracing::info!("reloaded the TLS certificate");
                if let Some(note) = note {
                    tracing::warn!("{note}");
                }
            }
            Ok(Err(fault)) => {
                tracing::error!("cannot use the new TLS files; the old certificate stays in use: {fault}");
            }
            Err(error) => tracing::error!(%error, "cannot reload the TLS files"),
        }
    }
}

fn stamps(tls: &Tls) -> Vec<FileStamp> {
    let files = [Some(&tls.cert), Some(&tls.key), tls.client_ca.as_ref()].into_iter().flatten();
    files.map(|file| stamp(file)).collect()
}
