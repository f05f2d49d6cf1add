//! Why a request to an upstream got no answer: who is to blame, whether the upstream may have acted on it, and what
//! a person can do. It must not know who asked.

use std::io;
use std::time::Duration;

use super::http1::Http1Error;

/// What went wrong on a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What came is no answer in HTTP/1.1, or not all of one.
    #[error(transparent)]
    Http1(#[from] Http1Error),
    /// HTTP/2 failed.
    #[error(transparent)]
    Http2(#[from] hyper::Error),
}

/// The reason why there is no answer. Each message names the host and, where there is one, a mend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The URL cannot be asked.
    #[error("cannot ask {url}: {reason}")]
    BadUrl {
        /// The URL.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host's name has no address.
    #[error("cannot find {host}: {source} (is the name right, and does this machine's DNS know it?)")]
    Dns {
        /// Host and port.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The host is not on the public network, and only that may be asked.
    #[error("{host} is not an address of the public network, and nothing else may be asked here")]
    NotPublic {
        /// Host and port.
        host: String,
    },
    /// Nobody listens there.
    #[error("{host} refused the connection: is the server running, and is this its port?")]
    Refused {
        /// Host and port.
        host: String,
    },
    /// No way to the host, or no socket left on this machine.
    #[error("cannot connect to {host}: {source}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What the system said.
        source: io::Error,
    },
    /// Connecting (with TLS handshake) took too long.
    #[error(
        "{host} did not take the connection within {after:?}: is it up, and does a firewall drop what we send?"
    )]
    ConnectTimeout {
        /// Host and port.
        host: String,
        /// The limit.
        after: Duration,
    },
    /// No trusted, encrypted connection.
    #[error("no secure connection to {host}: {source}; {mend}")]
    Tls {
        /// Host and port.
        host: String,
        /// What the TLS library said.
        source: io::Error,
        /// What a person can do.
        mend: &'static str,
    },
    /// All connections that we allow ourselves are in use.
    #[error("all {cap} connections to {host} are in use and none came free within {after:?}")]
    Busy {
        /// Host and port.
        host: String,
        /// How many.
        cap: usize,
        /// The time for which we waited.
        after: Duration,
    },
    /// No answer's head before the caller's deadline.
    #[error("{host} has not answered in time")]
    Timeout {
        /// Host and port.
        host: String,
    },
    /// The connection broke before an answer's head was complete.
    #[error("{host} closed the connection before it answered{}: {source}", if *.sent { "" } else { " (nothing had been sent)" })]
    Closed {
        /// Host and port.
        host: String,
        /// True if any byte of the request went out. If so, the host may have acted on it.
        sent: bool,
        /// What was seen.
        source: WireError,
    },
    /// The host speaks, but not HTTP as we allow it (also: an answer's head is too large).
    #[error("{host} answered with something that is not valid HTTP: {source}")]
    Protocol {
        /// Host and port.
        host: String,
        /// What was wrong.
        source: WireError,
    },
    /// Our own request's body failed while it was being sent.
    #[error("the request to {host} could not be sent whole: {source}")]
    Body {
        /// Host and port.
        host: String,
        /// What was wrong.
        source: WireError,
    },
}

impl ClientError {
    /// Returns true if the upstream has surely not seen the request, so that any request may be sent again.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::BadUrl { .. }
            | Self::NotPublic { .. }
            | Self::Dns { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Tls { .. }
            | Self::Busy { .. } => true,
            Self::Closed { sent, .. } => !sent,
            Self::Timeout { .. } | Self::Protocol { .. } | Self::Body { .. } => false,
        }
    }

    /// Returns true if trying again later, unchanged, has a chance without anybody mending anything.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Busy { .. }
            | Self::Timeout { .. }
            | Self::Closed { .. }
            | Self::Dns { .. } => true,
            Self::BadUrl { .. }
            | Self::NotPublic { .. }
            | Self::Tls { .. }
            | Self::Protocol { .. }
            | Self::Body { .. } => false,
        }
    }

    /// What an error means for a request to `host` of which `sent` says whether any byte went out.
    pub(super) fn http(host: &str, sent: bool, source: WireError) -> Self {
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
        }
    }

    pub(super) fn tls(host: &str, source: io::Error) -> Self {
        let mend = tls_mend(&source);
        Self::Tls { host: host.to_owned(), source, mend }
    }
}

/// HTTP/2 says for certain that a refused stream was not processed (RFC 9113, 8.7).
fn refused_stream(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<h2::Error>());
    cause.is_some_and(|cause| cause.reason() == Some(h2::Reason::REFUSED_STREAM))
}

fn tls_mend(error: &io::Error) -> &'static str {
    use rustls::{CertificateError, Error};
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            "its certificate is not signed by an authority that this machine trusts: add that authority's certificate"
        }
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => "its certificate has expired: renew it there, or set this machine's clock right",
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "its certificate is for another name: use the name that the certificate is for",
        Some(Error::InvalidMessage(_)) => "it does not seem to speak TLS on this port: is it http:// ?",
        Some(Error::General(_)) => "no trusted authorities were found: install the ca-certificates package",
        _ => "see what its TLS set-up allows",
    }
}
