//! A new connection to an upstream: name lookup, TCP and TLS, all within one deadline. This module must not know what
//! is requested.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use config::forward_proxy::ForwardProxy;
use http::Uri;
use rustls::pki_types::ServerName;
use tokio::time::{Instant, timeout};

use super::error::ClientError;
use super::public::{Reach, is_public};
use super::stream::WireStream;
use super::tcp::{TcpTarget, share};
use super::tls::Trust;
use super::tunnel::{self, ProxyFailure};
use super::{ClientLimits, ProxyUse};

/// The maximum number of addresses of a checked host to try through a proxy.
const TRIES: usize = 4;

/// The host and port of an origin, parsed once from a URL, and the proxy through which the origin is reached.
#[derive(Debug)]
pub(super) struct ConnectTarget {
    origin: TcpTarget,
    tls: Option<ServerName<'static>>,
    hop: Option<ProxyHop>,
    seen: SeenAddresses,
}

/// A proxy on the way to an origin.
#[derive(Debug)]
struct ProxyHop {
    proxy: Arc<ForwardProxy>,
    tcp: TcpTarget,
    tls: Option<ServerName<'static>>,
    /// True if the proxy forwards each request (absolute form), false if requests go through a tunnel.
    forwards: bool,
}

/// A record of the addresses to which connections have been made.
#[derive(Debug, Default)]
struct SeenAddresses {
    any: AtomicBool,
    public: AtomicBool,
}

/// The TLS settings for a connection: those for the origin, and those for a proxy.
pub(super) struct Trusts<'a> {
    pub(super) origin: &'a Trust,
    pub(super) proxy: &'a Trust,
}

impl ConnectTarget {
    /// Creates the target of a URL. If `tunnels` is true, a proxy opens a tunnel even for requests without TLS.
    pub(super) fn of(uri: &Uri, proxy: &ProxyUse, tunnels: bool) -> Result<Self, ClientError> {
        let bad = |reason| ClientError::BadUrl { url: uri.to_string(), reason };
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad("the URL must begin with http:// or https://")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| bad("the URL has no host"))?;
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let origin = TcpTarget::new(host, port);
        let named = |host: &str| ServerName::try_from(host.to_owned());
        let tls = secure.then(|| named(&origin.host)).transpose();
        let tls = tls.map_err(|_| bad("the host is not a valid name"))?;
        let proxy = proxy
            .choose(secure, &origin.host, port)
            .map_err(|source| ClientError::ProxyUnusable { host: origin.name.clone(), source })?;
        let hop = proxy.map(|proxy| {
            let tcp = TcpTarget::new(proxy.host(), proxy.port());
            let tls = proxy.is_secure().then(|| named(&tcp.host)).transpose();
            let tls = tls.map_err(|_| bad("the host of its proxy is not a valid name"))?;
            Ok(ProxyHop { proxy, tcp, tls, forwards: !secure && !tunnels })
        });
        Ok(Self { origin, tls, hop: hop.transpose()?, seen: SeenAddresses::default() })
    }

    /// Host and port, for messages.
    pub(super) fn name(&self) -> &str {
        &self.origin.name
    }

    /// The proxy that passes on requests in absolute form, if there is one.
    pub(super) fn forwarder(&self) -> Option<&ForwardProxy> {
        self.hop.as_ref().filter(|hop| hop.forwards).map(|hop| &*hop.proxy)
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
        trusts: &Trusts<'_>,
        http2: bool,
        limits: &ClientLimits,
    ) -> Result<(WireStream, bool), ClientError> {
        self.connect_to(self.origin.look_up(), trusts, http2, limits).await
    }

    /// Connects to an address that `look_up` returns for the host's name. The name is looked up only once, so a
    /// connection leads only to an address that was checked, even if the name server would return another address
    /// next time.
    async fn connect_to(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        trusts: &Trusts<'_>,
        http2: bool,
        limits: &ClientLimits,
    ) -> Result<(WireStream, bool), ClientError> {
        let within = limits.connect_timeout;
        let connecting = async {
            let wire = match &self.hop {
                None => self.direct(look_up, limits).await?,
                Some(hop) => self.through(hop, look_up, trusts.proxy, limits).await?,
            };
            self.secured(wire, trusts.origin, http2).await
        };
        timeout(within, connecting).await.map_err(|_| self.late(within))?
    }

    fn late(&self, after: Duration) -> ClientError {
        match &self.hop {
            None => ClientError::ConnectTimeout { host: self.origin.name.clone(), after },
            Some(hop) => self.refused(hop, None, ProxyFailure::Late(after)),
        }
    }

    async fn direct(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        limits: &ClientLimits,
    ) -> Result<WireStream, ClientError> {
        let within = limits.connect_timeout;
        let deadline = Instant::now() + within;
        let addrs = self.checked(look_up, limits.reach).await?;
        let (tcp, address) = self.origin.connect_any(&addrs, deadline, within).await?;
        self.note(is_public(address));
        Ok(WireStream::Plain(tcp))
    }

    /// The origin's addresses, all of which are allowed.
    async fn checked(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        reach: Reach,
    ) -> Result<Vec<SocketAddr>, ClientError> {
        let addrs = self.origin.resolve(look_up).await?;
        if !addrs.iter().all(|addr| reach.covers(addr.ip())) {
            return Err(ClientError::NotPublic { host: self.origin.name.clone() });
        }
        Ok(addrs)
    }

    /// Records a connection before its first byte is sent, because its address decides whether the content can be
    /// trusted.
    fn note(&self, is_public: bool) {
        if is_public {
            self.seen.public.store(true, Ordering::SeqCst);
        }
        self.seen.any.store(true, Ordering::SeqCst);
    }

    async fn through(
        &self,
        hop: &ProxyHop,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
        trust: &Trust,
        limits: &ClientLimits,
    ) -> Result<WireStream, ClientError> {
        let within = limits.connect_timeout;
        let deadline = Instant::now() + within;
        if limits.reach == Reach::All {
            // The proxy resolves a name, so its address is unknown; it counts as public.
            self.note(self.origin.address().is_none_or(is_public));
            let mut wire = self.to_proxy(hop, trust, deadline, within).await?;
            if !hop.forwards {
                let opened = tunnel::open(&mut wire, &hop.proxy, &self.origin.name).await;
                opened.map_err(|why| self.refused(hop, None, why))?;
            }
            return Ok(wire);
        }
        let addrs = self.checked(look_up, limits.reach).await?;
        let tries = addrs.len().min(TRIES);
        let mut failed = None;
        for (tried, addr) in addrs.iter().take(TRIES).enumerate() {
            let attempt = self.to_address(hop, *addr, trust, (deadline, within));
            match timeout(share(deadline, tries - tried), attempt).await {
                Ok(Ok(wire)) => return Ok(wire),
                Ok(Err(why)) => failed = Some(why),
                Err(_) => {}
            }
        }
        Err(failed.unwrap_or_else(|| self.late(within)))
    }

    async fn to_address(
        &self,
        hop: &ProxyHop,
        addr: SocketAddr,
        trust: &Trust,
        (deadline, within): (Instant, Duration),
    ) -> Result<WireStream, ClientError> {
        let mut wire = self.to_proxy(hop, trust, deadline, within).await?;
        self.note(is_public(addr.ip()));
        let opened = tunnel::open(&mut wire, &hop.proxy, &addr.to_string()).await;
        opened.map_err(|why| self.refused(hop, Some(addr.ip()), why))?;
        Ok(wire)
    }

    /// Connects to the proxy itself. The configuration chooses the proxy, so every address is allowed.
    async fn to_proxy(
        &self,
        hop: &ProxyHop,
        trust: &Trust,
        deadline: Instant,
        within: Duration,
    ) -> Result<WireStream, ClientError> {
        let connected = async {
            let addrs = hop.tcp.resolve(hop.tcp.look_up()).await?;
            let (tcp, _) = hop.tcp.connect_any(&addrs, deadline, within).await?;
            let Some(name) = &hop.tls else { return Ok(WireStream::Plain(tcp)) };
            let connector = trust.connector(&hop.tcp.name, false).await?;
            let stream = connector.connect(name.clone(), tcp).await;
            Ok(WireStream::Tls(Box::new(stream.map_err(|error| ClientError::tls(&hop.tcp.name, error))?)))
        };
        let failed = |source| ClientError::Proxy { host: self.origin.name.clone(), source: Box::new(source) };
        connected.await.map_err(failed)
    }

    fn refused(&self, hop: &ProxyHop, address: Option<IpAddr>, why: ProxyFailure) -> ClientError {
        let name = &self.origin.name;
        let host = match address.filter(|_| self.origin.address().is_none()) {
            Some(address) => format!("{name} ({address})"),
            None => name.clone(),
        };
        ClientError::ProxyRefused { host, proxy: hop.proxy.to_string(), why }
    }

    /// Adds TLS for the origin, if the origin's URL requires it.
    async fn secured(
        &self,
        wire: WireStream,
        trust: &Trust,
        http2: bool,
    ) -> Result<(WireStream, bool), ClientError> {
        let Some(name) = self.tls.clone() else { return Ok((wire, false)) };
        let failed = |error| ClientError::tls(&self.origin.name, error);
        let connector = trust.connector(&self.origin.name, http2).await?;
        let is_http2 = |protocol: Option<&[u8]>| protocol == Some(b"h2");
        match wire {
            WireStream::Plain(tcp) => {
                let stream = connector.connect(name, tcp).await.map_err(failed)?;
                let agreed = is_http2(stream.get_ref().1.alpn_protocol());
                Ok((WireStream::Tls(Box::new(stream)), agreed))
            }
            WireStream::Tls(tunnel) => {
                let stream = connector.connect(name, *tunnel).await.map_err(failed)?;
                let agreed = is_http2(stream.get_ref().1.alpn_protocol());
                Ok((WireStream::Nested(Box::new(stream)), agreed))
            }
            WireStream::Nested(_) => Ok((wire, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::task::Context;

    use tokio::net::TcpListener;

    use super::*;

    /// A host name that never resolves.
    const NAME: &str = "http://rebound.invalid/";

    async fn reached(found: &[&str], reach: Reach) -> (Result<SocketAddr, ClientError>, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let addresses = found.iter().map(|ip| (ip.parse::<IpAddr>().unwrap(), port).into()).collect();
        let target = ConnectTarget::of(&NAME.parse().unwrap(), &ProxyUse::Direct, true).unwrap();
        let limits = ClientLimits { reach, ..ClientLimits::default() };
        let trust = Trust::default();
        let trusts = Trusts { origin: &trust, proxy: &trust };
        let wire = target.connect_to(ready(Ok(addresses)), &trusts, false, &limits).await;
        let peer = wire.map(|(wire, _)| match wire {
            WireStream::Plain(stream) => stream.peer_addr().unwrap(),
            WireStream::Tls(_) | WireStream::Nested(_) => panic!("nobody asked for TLS"),
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

    /// The `CONNECT` lines that a proxy receives for a name with these addresses. The proxy refuses all of them
    /// except the last.
    async fn tunnelled(found: &[&str], reach: Reach) -> (Result<bool, ClientError>, Vec<String>) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = ProxyUse::Through(Arc::new(ForwardProxy::parse(&format!("127.0.0.1:{port}")).unwrap()));
        let target = ConnectTarget::of(&NAME.parse().unwrap(), &proxy, true).unwrap();
        let addresses = found.iter().map(|ip| (ip.parse::<IpAddr>().unwrap(), 80).into()).collect();
        let limits = ClientLimits { reach, ..ClientLimits::default() };
        let last = if reach == Reach::All { 1 } else { found.len() };
        let serving = tokio::spawn(async move {
            let mut lines = Vec::new();
            while lines.len() < last {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let line = String::from_utf8(head).unwrap().lines().next().unwrap().to_owned();
                lines.push(line);
                let answer = if lines.len() == last { "200 OK" } else { "502 Bad Gateway" };
                stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes()).await.unwrap();
            }
            lines
        });
        let trust = Trust::default();
        let trusts = Trusts { origin: &trust, proxy: &trust };
        let wire = target.connect_to(ready(Ok(addresses)), &trusts, false, &limits).await;
        let near = wire.map(|_| target.was_near());
        let lines = if near.is_ok() { serving.await.unwrap() } else { Vec::new() };
        (near, lines)
    }

    #[tokio::test]
    async fn a_proxy_gets_checked_addresses_so_that_it_has_no_name_to_resolve() {
        let (near, lines) = tunnelled(&["2606:4700::1111", "1.1.1.1"], Reach::Public).await;
        assert_eq!(
            (near.unwrap(), &*lines.join(" | ")),
            (false, "CONNECT [2606:4700::1111]:80 HTTP/1.1 | CONNECT 1.1.1.1:80 HTTP/1.1")
        );
        let (near, lines) = tunnelled(&["10.0.0.1"], Reach::Others).await;
        assert_eq!((near.unwrap(), &*lines[0]), (true, "CONNECT 10.0.0.1:80 HTTP/1.1"));
        for found in [&["127.0.0.1"][..], &["1.1.1.1", "127.0.0.1"], &["169.254.169.254"]] {
            for reach in [Reach::Public, Reach::Others] {
                let (refused, _) = tunnelled(found, reach).await;
                assert!(matches!(refused, Err(ClientError::NotPublic { .. })), "{found:?}");
            }
        }
        // A host that the configuration chose is resolved by the proxy; its address is not known here.
        let (near, lines) = tunnelled(&["10.0.0.1"], Reach::All).await;
        assert_eq!((near.unwrap(), &*lines[0]), (false, "CONNECT rebound.invalid:80 HTTP/1.1"));
    }
}
