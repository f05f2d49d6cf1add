//! A TCP connection to a host: name lookup, and one address after the other. This module must not know what the connection is for.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Duration, Instant, timeout};

use super::error::ClientError;

/// A host and a port.
#[derive(Debug)]
pub(super) struct TcpTarget {
    /// Host and port, for messages and for a proxy.
    pub(super) name: String,
    pub(super) host: String,
    port: u16,
}

impl TcpTarget {
    /// Creates a target from a port and a host, which may be in brackets.
    pub(super) fn new(host: &str, port: u16) -> Self {
        // A URL has `[::1]`; the resolver expects `::1`.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Self { name, host, port }
    }

    /// The host's IP address, if the host is an address and not a name.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Asks this machine's resolver for the host's addresses.
    pub(super) async fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        Ok(lookup_host((self.host.as_str(), self.port)).await?.collect())
    }

    /// The addresses of the host, at least one: the host itself if it is an IP address, otherwise the addresses
    /// that `look_up` returns.
    pub(super) async fn resolve(
        &self,
        look_up: impl Future<Output = io::Result<Vec<SocketAddr>>>,
    ) -> Result<Vec<SocketAddr>, ClientError> {
        if let Some(ip) = self.address() {
            return Ok(vec![(ip, self.port).into()]);
        }
        let failed = |source| ClientError::Dns { host: self.name.clone(), source };
        let found = look_up.await.map_err(failed)?;
        if found.is_empty() { Err(failed(io::Error::other("the name has no address"))) } else { Ok(found) }
    }

    /// Tries one address after the other, in the resolver's order; also returns the address that answered. Each
    /// gets an equal share of the remaining time, so an address that never answers (often IPv6 without a route)
    /// does not use up all of it.
    pub(super) async fn connect_any(
        &self,
        addrs: &[SocketAddr],
        deadline: Instant,
        within: Duration,
    ) -> Result<(TcpStream, IpAddr), ClientError> {
        // An immediate error of one address is more informative than the silence of another.
        let mut said = None;
        for (tried, addr) in addrs.iter().enumerate() {
            match timeout(share(deadline, addrs.len() - tried), TcpStream::connect(addr)).await {
                Ok(Ok(stream)) => {
                    // A request is one write, so waiting for more data would only add up to 40 ms. If the call fails,
                    // nothing else is lost.
                    let _ = stream.set_nodelay(true);
                    return Ok((stream, addr.ip()));
                }
                Ok(Err(error)) => said = Some(error),
                Err(_late) => {}
            }
        }
        let host = self.name.clone();
        Err(match said {
            None => ClientError::ConnectTimeout { host, after: within },
            Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => ClientError::Refused { host },
            Some(source) => ClientError::Unreachable { host, source },
        })
    }
}

/// The part of the remaining time for one of `left` attempts.
pub(super) fn share(deadline: Instant, left: usize) -> Duration {
    let remaining = deadline.saturating_duration_since(Instant::now());
    remaining / u32::try_from(left.max(1)).unwrap_or(u32::MAX)
}
