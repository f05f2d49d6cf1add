//! A new connection to an upstream: name lookup, TCP and TLS, all within one deadline. It must not know what is
//! requested.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout};
use tokio_rustls::client::TlsStream;

use super::ClientLimits;
use super::error::ClientError;
use super::public::is_public;
use super::tls::Trust;

/// The location of an origin, read from a URL once.
#[derive(Debug)]
pub(super) struct ConnectTarget {
    /// Host and port, for messages.
    pub(super) name: String,
    host: String,
    port: u16,
    tls: Option<ServerName<'static>>,
    seen: Seen,
}

/// A record of the addresses to which connections have been made.
#[derive(Debug, Default)]
struct Seen {
    any: AtomicBool,
    public: AtomicBool,
}

impl ConnectTarget {
    pub(super) fn of(uri: &Uri) -> Result<Self, ClientError> {
        let bad = |reason| ClientError::BadUrl { url: uri.to_string(), reason };
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad("it must begin with http:// or https://")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| bad("it has no host"))?;
        // A URL contains `[::1]`; the resolver expects `::1`.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let named = || ServerName::try_from(host.clone()).map_err(|_| bad("its host is not a valid name"));
        let tls = if secure { Some(named()?) } else { None };
        let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Self { name, host, port, tls, seen: Seen::default() })
    }

    /// Returns true if connections were made, and all of them led to addresses outside the public network.
    pub(super) fn was_near(&self) -> bool {
        self.seen.any.load(Ordering::SeqCst) && !self.seen.public.load(Ordering::SeqCst)
    }

    pub(super) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Connects; if `http2` is true, HTTP/2 is offered through TLS's ALPN. The second value is true if HTTP/2 was
    /// negotiated.
    pub(super) async fn connect(
        &self,
        trust: &Trust,
        http2: bool,
        limits: &ClientLimits,
    ) -> Result<(WireStream, bool), ClientError> {
        let look_up = async { Ok(lookup_host((self.host.as_str(), self.port)).await?.collect()) };
        self.connect_to(look_up, trust, http2, limits).await
    }

    /// Connects to an address that `look_up` returns for the host's name. The name is looked up only once, so the
    /// address that is checked is the one that is used, whatever the name server answers next.
    async fn connect_to(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        trust: &Trust,
        http2: bool,
        limits: &ClientLimits,
    ) -> Result<(WireStream, bool), ClientError> {
        let within = limits.connect_timeout;
        let connected = timeout(within, self.connect_unbounded(look_up, trust, http2, limits)).await;
        connected.map_err(|_| self.late(within))?
    }

    fn late(&self, after: Duration) -> ClientError {
        ClientError::ConnectTimeout { host: self.name.clone(), after }
    }

    async fn connect_unbounded(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        trust: &Trust,
        http2: bool,
        limits: &ClientLimits,
    ) -> Result<(WireStream, bool), ClientError> {
        let within = limits.connect_timeout;
        let deadline = Instant::now() + within;
        let addrs = self.resolve(look_up).await?;
        let reaches = |addr: &SocketAddr| limits.reach.covers(addr.ip());
        if !addrs.iter().all(reaches) {
            return Err(ClientError::NotPublic { host: self.name.clone() });
        }
        let tcp = self.connect_any(&addrs, deadline, within).await?;
        // A request is one write, so waiting for more data would only add up to 40 ms. It does no harm if this call
        // fails.
        let _ = tcp.set_nodelay(true);
        let Some(name) = &self.tls else {
            return Ok((WireStream::Plain(tcp), false));
        };
        let failed = |error| ClientError::tls(&self.name, error);
        let connector = trust.connector(http2).await.map_err(failed)?;
        let stream = connector.connect(name.clone(), tcp).await.map_err(failed)?;
        let agreed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((WireStream::Tls(Box::new(stream)), agreed))
    }

    async fn resolve(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
    ) -> Result<Vec<SocketAddr>, ClientError> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![(ip, self.port).into()]);
        }
        let failed = |source| ClientError::Dns { host: self.name.clone(), source };
        let found = look_up.await.map_err(failed)?;
        if found.is_empty() { Err(failed(io::Error::other("it has no address"))) } else { Ok(found) }
    }

    /// Tries one address after the other, in the resolver's order. Each address gets an equal share of the remaining
    /// time, so an address that swallows packets (often IPv6 without a route) does not use up all of it.
    async fn connect_any(
        &self,
        addrs: &[SocketAddr],
        deadline: Instant,
        within: Duration,
    ) -> Result<TcpStream, ClientError> {
        // An immediate error of one address is more informative than the silence of another.
        let mut said = None;
        for (tried, addr) in addrs.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(addrs.len() - tried).unwrap_or(u32::MAX);
            match timeout(share, TcpStream::connect(addr)).await {
                Ok(Ok(stream)) => {
                    // This is recorded before the first byte, because the address decides whether the content can be
                    // trusted.
                    if is_public(addr.ip()) {
                        self.seen.public.store(true, Ordering::SeqCst);
                    }
                    self.seen.any.store(true, Ordering::SeqCst);
                    return Ok(stream);
                }
                Ok(Err(error)) => said = Some(error),
                Err(_late) => {}
            }
        }
        let host = self.name.clone();
        Err(match said {
            None => self.late(within),
            Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => ClientError::Refused { host },
            Some(source) => ClientError::Unreachable { host, source },
        })
    }
}

/// The byte stream of a connection.
#[derive(Debug)]
pub(super) enum WireStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for WireStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for WireStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::net::TcpListener;

    use super::super::public::Reach;
    use super::*;

    /// A name that no name server knows.
    const NAME: &str = "http://rebound.invalid/";

    async fn reached(found: &[&str], reach: Reach) -> (Result<SocketAddr, ClientError>, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let addresses = found.iter().map(|ip| (ip.parse::<IpAddr>().unwrap(), port).into()).collect();
        let target = ConnectTarget::of(&NAME.parse().unwrap()).unwrap();
        let limits = ClientLimits { reach, ..ClientLimits::default() };
        let wire = target.connect_to(ready(Ok(addresses)), &Trust::default(), false, &limits).await;
        let peer = wire.map(|(wire, _)| match wire {
            WireStream::Plain(stream) => stream.peer_addr().unwrap(),
            WireStream::Tls(_) => panic!("nobody asked for TLS"),
        });
        (peer, listener)
    }

    #[tokio::test]
    async fn the_address_that_was_looked_up_is_the_one_that_is_connected_to() {
        let (peer, listener) = reached(&["127.0.0.1"], Reach::All).await;
        assert_eq!(peer.unwrap(), listener.local_addr().unwrap());
    }

    #[tokio::test]
    async fn a_name_with_one_inner_address_is_none_of_the_public_network() {
        for found in [
            &["127.0.0.1"][..],
            &["1.1.1.1", "127.0.0.1"],
            &["127.0.0.1", "1.1.1.1"],
            &["2606:4700::1111", "::ffff:127.0.0.1"],
            &["1.1.1.1", "169.254.169.254"],
            &["1.1.1.1", "100.64.0.1"],
        ] {
            let (peer, listener) = reached(found, Reach::Public).await;
            assert!(matches!(peer, Err(ClientError::NotPublic { .. })), "{found:?}: {peer:?}");
            let mut context = Context::from_waker(std::task::Waker::noop());
            assert!(listener.poll_accept(&mut context).is_pending(), "{found:?}");
        }
    }
}
