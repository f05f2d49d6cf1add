//! A tunnel through a proxy (CONNECT; RFC 9110, 9.3.6). This module must not know what goes through the tunnel.

use std::fmt;
use std::time::Duration;

use config::forward_proxy::ForwardProxy;
use http::{Method, StatusCode};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::error::WireError;
use super::http1::{AnswerContext, AnswerReader, HeadLimits, Http1Error};

/// Caps on the proxy's answer.
const HEAD: HeadLimits = HeadLimits { lines: 100, bytes: 16 << 10 };

/// The reason why a proxy did not open a tunnel, or did not pass on a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProxyFailure {
    /// The proxy answered with this status.
    Status(StatusCode),
    /// The proxy did not answer in this time.
    Late(Duration),
    /// The connection to the proxy broke, or the proxy's answer is not valid.
    Broken(WireError),
}

impl ProxyFailure {
    /// Returns true if a later attempt may succeed although nothing is changed.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Status(status) => status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS,
            Self::Late(_) | Self::Broken(WireError::Io(_)) => true,
            Self::Broken(_) => false,
        }
    }
}

impl fmt::Display for ProxyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Some proxies refuse a wrong password with 401.
            Self::Status(status @ (StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::UNAUTHORIZED)) => {
                write!(
                    f,
                    "HTTP {}; write the user name and password into the proxy's URL (`HTTP_PROXY`, `HTTPS_PROXY`, or `proxy` for this server)",
                    status.as_u16()
                )
            }
            Self::Status(status) if status.is_server_error() => {
                write!(f, "HTTP {}; check that the proxy can reach this host", status.as_u16())
            }
            Self::Status(status) => write!(
                f,
                "HTTP {}; allow this host at the proxy, or exempt it (`NO_PROXY`, or `proxy: none` for this server)",
                status.as_u16()
            ),
            Self::Late(within) => write!(f, "no answer within {within:?}"),
            Self::Broken(why) => write!(f, "{why}"),
        }
    }
}

/// Asks the proxy at the other end of `stream` to connect to `authority` (host and port). Afterwards, the stream leads there. The
/// caller sets the deadline.
///
/// # Errors
/// Returns the reason why the proxy did not connect.
pub(super) async fn open<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    proxy: &ForwardProxy,
    authority: &str,
) -> Result<(), ProxyFailure> {
    let broken = |error: std::io::Error| ProxyFailure::Broken(error.into());
    let malformed = |error: Http1Error| ProxyFailure::Broken(error.into());
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n").into_bytes();
    if let Some(authorization) = proxy.authorization() {
        for part in [b"proxy-authorization: ", authorization.as_bytes(), b"\r\n"] {
            request.extend_from_slice(part);
        }
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    let mut answer = AnswerReader::new(HEAD);
    answer.begin(false, false);
    let asked = AnswerContext { method: &Method::CONNECT, hears: Some(&[]) };
    let mut room = [0; 2048];
    let head = loop {
        let length = stream.read(&mut room).await.map_err(broken)?;
        if let Some(head) = answer.head(&room[..length], asked).map_err(malformed)? {
            break head;
        }
    };
    let status = head.response.status();
    if !status.is_success() {
        return Err(ProxyFailure::Status(status));
    }
    // The other side does not speak first, so these bytes would be the proxy's own.
    if answer.held() > 0 {
        return Err(malformed(Http1Error::Malformed("the proxy sent data before the tunnel was used")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    async fn answered(answer: &'static [u8], url: &str) -> (Result<(), String>, String) {
        let (mut near, mut far) = duplex(64 << 10);
        let proxy = ForwardProxy::parse(url).unwrap();
        let served = tokio::spawn(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(far.read_u8().await.unwrap());
            }
            far.write_all(answer).await.unwrap();
            (String::from_utf8(head).unwrap(), far)
        });
        let opened = open(&mut near, &proxy, "mcp.example:443").await.map_err(|why| why.to_string());
        (opened, served.await.unwrap().0)
    }

    #[tokio::test]
    async fn a_tunnel_is_asked_for_with_the_proxys_credentials() {
        let (opened, head) =
            answered(b"HTTP/1.0 200 Connection established\r\n\r\n", "http://a:b@proxy:1").await;
        assert_eq!(opened, Ok(()));
        assert_eq!(
            head,
            "CONNECT mcp.example:443 HTTP/1.1\r\nhost: mcp.example:443\r\nproxy-authorization: Basic YTpi\r\n\r\n"
        );
        let (_, head) = answered(b"HTTP/1.1 200 OK\r\n\r\n", "http://proxy:1").await;
        assert!(!head.contains("authorization"), "{head}");
    }

    #[tokio::test]
    async fn answers_that_open_no_tunnel() {
        for (answer, says) in [
            (
                &b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n"[..],
                "user name and password",
            ),
            (b"HTTP/1.0 401 Unauthorized\r\n\r\n", "HTTP 401; write the user name and password"),
            (b"HTTP/1.1 403 Forbidden\r\ncontent-length: 3\r\n\r\nno\n", "HTTP 403; allow this host"),
            (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "HTTP 502; check that the proxy can reach"),
            (b"HTTP/1.1 302 Found\r\nlocation: http://login/\r\n\r\n", "HTTP 302"),
            (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "another protocol"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "before the tunnel was used"),
            (b"HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01", "before the tunnel was used"),
            (b"SSH-2.0-x\r\n\r\n", "invalid"),
        ] {
            let (opened, _) = answered(answer, "http://proxy:1").await;
            let why = opened.unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[tokio::test]
    async fn an_endless_head_is_cut_off() {
        let (mut near, mut far) = duplex(1024);
        let flood = tokio::spawn(async move {
            let _ = far.write_all(b"HTTP/1.1 200 OK\r\n").await;
            while far
                .write_all(b"x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")
                .await
                .is_ok()
            {}
        });
        let proxy = ForwardProxy::parse("http://proxy:1").unwrap();
        let why = open(&mut near, &proxy, "mcp.example:443").await.unwrap_err().to_string();
        assert!(why.contains("too"), "{why}");
        drop(near);
        flood.await.unwrap();
    }
}
