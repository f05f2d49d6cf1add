//! Failures of requests to upstreams. Each failure shows whether the upstream may have acted on the request, and
//! suggests a fix. This module must not know who made the request.

use std::io;
use std::time::Duration;

use config::forward_proxy::UnusableProxy;
use rustls::{AlertDescription, CertificateError};

use super::http1::Http1Error;
use super::tls::TlsFileError;
use super::tunnel::ProxyFailure;

/// A failure on a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The answer is not HTTP/1.1, or is incomplete.
    #[error(transparent)]
    Http1(#[from] Http1Error),
    /// HTTP/2 failed.
    #[error(transparent)]
    Http2(#[from] hyper::Error),
    /// The source of the request's own body failed.
    #[error("{0}")]
    Body(io::Error),
}

impl WireError {
    /// Returns true if an HTTP/1.1 connection broke before the end of the answer.
    pub(super) fn is_loss(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Http1(Http1Error::Incomplete))
    }
}

/// The reason why there is no answer. Each message names the host and suggests a fix, if there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The URL cannot be requested.
    #[error("cannot request {url}: {reason}")]
    BadUrl {
        /// The URL.
        url: String,
        /// The fault.
        reason: &'static str,
    },
    /// The host's name has no address.
    #[error("cannot resolve {host}: {source}; check the name and this machine's DNS")]
    Dns {
        /// Host and port.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// The host is outside the allowed part of the network, for example not on the public network.
    #[error("{host} is not an address on the public network, and only public addresses are allowed here")]
    NotPublic {
        /// Host and port.
        host: String,
    },
    /// No program listens on the address.
    #[error("{host} refused the connection; check that the server is running and that the port is right")]
    Refused {
        /// Host and port.
        host: String,
    },
    /// There is no route to the host, or no socket left on this machine.
    #[error("cannot connect to {host}: {source}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// The system's error.
        source: io::Error,
    },
    /// Connecting (including the TLS handshake) took too long.
    #[error(
        "{host} did not accept the connection within {after:?}; check that the host is up and that no firewall blocks the connection"
    )]
    ConnectTimeout {
        /// Host and port.
        host: String,
        /// The time limit.
        after: Duration,
    },
    /// No trusted, encrypted connection could be established.
    #[error("no secure connection to {host}: {source}; {help}")]
    Tls {
        /// Host and port.
        host: String,
        /// The TLS library's error.
        source: io::Error,
        /// A suggestion for the user.
        help: &'static str,
    },
    /// A file for TLS cannot be used.
    #[error("cannot connect to {host}: {source}")]
    TlsFile {
        /// Host and port.
        host: String,
        /// The file, and the reason.
        source: TlsFileError,
    },
    /// The proxy for the host cannot be reached.
    #[error("cannot reach {host} through its proxy: {source}")]
    Proxy {
        /// Host and port.
        host: String,
        /// The reason, which names the proxy.
        source: Box<Self>,
    },
    /// The proxy did not connect to the host.
    #[error("the proxy {proxy} did not connect to {host}: {why}")]
    ProxyRefused {
        /// Host and port.
        host: String,
        /// Host and port of the proxy.
        proxy: String,
        /// The reason.
        why: ProxyFailure,
    },
    /// The environment names no usable proxy for the host.
    #[error("cannot reach {host}: {source}; correct the variable, or set `proxy` for this server")]
    ProxyUnusable {
        /// Host and port.
        host: String,
        /// The variable.
        source: UnusableProxy,
    },
    /// All allowed connections to this host are in use.
    #[error("all {cap} connections to {host} are in use, and none became free within {after:?}")]
    Busy {
        /// Host and port.
        host: String,
        /// The maximum number of connections.
        cap: usize,
        /// The time for which the request waited.
        after: Duration,
    },
    /// The answer's head did not arrive before the caller's deadline.
    #[error("{host} did not answer in time")]
    Timeout {
        /// Host and port.
        host: String,
    },
    /// The connection broke before an answer's head was complete.
    #[error("{host} closed the connection before it answered{}: {source}", if *.sent { "" } else { " (nothing had been sent)" })]
    Closed {
        /// Host and port.
        host: String,
        /// True if any byte of the request was sent. In this case, the host may have acted on the request.
        sent: bool,
        /// The failure on the connection.
        source: WireError,
    },
    /// The host's answer is not HTTP that Dragoman accepts (for example, its head is too large).
    #[error("{host} answered with something that is not valid HTTP: {source}")]
    Protocol {
        /// Host and port.
        host: String,
        /// The fault.
        source: WireError,
    },
    /// The body of Dragoman's own request failed while it was being sent.
    #[error("the request to {host} could not be sent completely: {source}")]
    Body {
        /// Host and port.
        host: String,
        /// The fault.
        source: WireError,
    },
}

impl ClientError {
    /// Returns true if the upstream has certainly not seen the request, so any request may be sent again.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::BadUrl { .. }
            | Self::NotPublic { .. }
            | Self::Dns { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Tls { .. }
            | Self::TlsFile { .. }
            | Self::Proxy { .. }
            | Self::ProxyRefused { .. }
            | Self::ProxyUnusable { .. }
            | Self::Busy { .. } => true,
            Self::Closed { sent, .. } => !sent,
            Self::Timeout { .. } | Self::Protocol { .. } | Self::Body { .. } => false,
        }
    }

    /// Returns true if the same request may succeed later although nothing is changed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Busy { .. }
            | Self::Timeout { .. }
            | Self::Closed { .. }
            | Self::Dns { .. } => true,
            Self::Proxy { source, .. } => source.is_passing(),
            Self::ProxyRefused { why, .. } => why.is_passing(),
            Self::BadUrl { .. }
            | Self::NotPublic { .. }
            | Self::Tls { .. }
            | Self::TlsFile { .. }
            | Self::ProxyUnusable { .. }
            | Self::Protocol { .. }
            | Self::Body { .. } => false,
        }
    }

    /// Classifies the failure of a request to `host`; `sent` is true if any byte of the request was sent.
    pub(super) fn http(host: &str, sent: bool, source: WireError) -> Self {
        // With TLS 1.3, a server refuses a client's certificate only after the handshake, and before it reads a request.
        if let Some(alert) = late_alert(&source) {
            return Self::tls(host, io::Error::other(rustls::Error::AlertReceived(alert)));
        }
        let host = host.to_owned();
        match &source {
            WireError::Http2(error) if error.is_parse() => Self::Protocol { host, source },
            WireError::Http2(error) if error.is_user() => Self::Body { host, source },
            WireError::Http2(error) => {
                let sent = sent && !error.is_canceled() && !refused_stream(error);
                Self::Closed { host, sent, source }
            }
            WireError::Io(_) | WireError::Http1(Http1Error::Incomplete) => {
                Self::Closed { host, sent, source }
            }
            WireError::Http1(_) => Self::Protocol { host, source },
            WireError::Body(_) => Self::Body { host, source },
        }
    }

    pub(super) fn tls(host: &str, source: io::Error) -> Self {
        let help = tls_help(&source);
        Self::Tls { host: host.to_owned(), source, help }
    }
}

/// Returns true for a refused stream: HTTP/2 guarantees that the request on it was not processed (RFC 9113, 8.7).
fn refused_stream(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<h2::Error>());
    cause.is_some_and(|cause| cause.reason() == Some(h2::Reason::REFUSED_STREAM))
}

/// The alert with which the other side ended TLS.
fn tls_alert(error: &io::Error) -> Option<AlertDescription> {
    match error.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::AlertReceived(alert) => Some(*alert),
        _ => None,
    }
}

/// The alert with which the other side ended TLS after the handshake, if it is about the client's certificate.
fn late_alert(error: &WireError) -> Option<AlertDescription> {
    match error {
        WireError::Io(error) => tls_alert(error).filter(|alert| ABOUT_THE_CLIENT.contains(alert)),
        WireError::Http1(_) | WireError::Body(_) => None,
        // HTTP/2 keeps only the text of the error.
        WireError::Http2(error) => {
            let text = std::error::Error::source(error)?.to_string();
            let is_it = |alert: &AlertDescription| rustls::Error::AlertReceived(*alert).to_string() == text;
            ABOUT_THE_CLIENT.into_iter().find(is_it)
        }
    }
}

/// The alerts that refuse the client's certificate, or a client without one.
const ABOUT_THE_CLIENT: [AlertDescription; 9] = [
    AlertDescription::CertificateRequired,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnknownCA,
    AlertDescription::DecryptError,
    AlertDescription::AccessDenied,
];

fn tls_help(error: &io::Error) -> &'static str {
    use rustls::Error;
    match tls_alert(error) {
        Some(AlertDescription::CertificateRequired) => {
            return "the server requires a client certificate: set `tls: { cert: FILE, key: FILE }` for this server";
        }
        Some(alert) if ABOUT_THE_CLIENT.contains(&alert) => {
            return "the server refuses the client certificate: check the server's `tls.cert`, and the authority that issued \
                    this certificate";
        }
        _ => {}
    }
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            "the server's certificate is not signed by a trusted authority: add that authority's certificate with `tls: { ca: FILE }` for this \
             server, or to the authorities of this machine"
        }
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => {
            "the server's certificate has expired: renew the certificate there, or correct this machine's clock"
        }
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "the server's certificate is for another name: use a name from the certificate",
        Some(Error::InvalidMessage(_)) => "the port does not seem to use TLS: try http:// instead",
        Some(Error::General(_)) => "no trusted authorities were found: install the ca-certificates package",
        _ => "check which TLS versions and ciphers the server supports",
    }
}
