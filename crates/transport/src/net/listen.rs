//! Listening sockets, one per shard on the same address. This module must not know who serves the sockets.
//!
//! On Linux, each shard gets its own socket (`SO_REUSEPORT`), so that the kernel distributes connections and no accept
//! wakes two threads. The danger of this option is that a second process of the same user could silently join the
//! port. So the first socket is bound *and listens* without the option, which fails if another process listens there.
//! Only then is the option enabled for this socket, and the other shards join. A second Dragoman does the same, so it
//! gets "address in use" however the two starts interleave. On other systems, all shards share the queue of one
//! socket.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};

use socket2::{Domain, Protocol, Socket, Type};

/// The number of connections per socket that can wait to be accepted; the kernel may lower it (`net.core.somaxconn`).
const BACKLOG: i32 = 1024;

/// The error if an address cannot be listened on, with a suggestion.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process listens there.
    #[error("{addr} is already in use by another program: stop it (find it with `ss -ltnp 'sport = :{}'`) or listen on another port", addr.port())]
    InUse {
        /// The requested address.
        addr: SocketAddr,
    },
    /// The address does not belong to this machine.
    #[error(
        "{addr} is not an address of this machine: listen on 127.0.0.1 (this machine only) or on an address that `ip addr` shows"
    )]
    NotOurs {
        /// The requested address.
        addr: SocketAddr,
    },
    /// The system does not allow this user to use the port.
    #[error("listening on {addr} is not permitted: ports below 1024 need a privilege; choose a higher port")]
    Denied {
        /// The requested address.
        addr: SocketAddr,
    },
    /// Any other error.
    #[error("cannot listen on {addr}: {source}")]
    Other {
        /// The requested address.
        addr: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

/// The sockets of all shards on one address.
#[derive(Debug)]
pub struct Listeners {
    addr: SocketAddr,
    sockets: Mutex<Vec<Option<TcpListener>>>,
}

impl Listeners {
    /// Listens on `addr` with one socket per shard (at least one). If the port is 0, all sockets get the same port.
    pub fn bind(addr: SocketAddr, shards: usize) -> Result<Self, BindError> {
        Self::try_bind(addr, shards.max(1), false).map_err(|source| explain(addr, source))
    }

    /// Listens on `addr` although this process already listens on the same port at an overlapping address. Do not use
    /// this function in any other case, because another process of the same user might be listening there.
    pub fn bind_beside(addr: SocketAddr, shards: usize) -> Result<Self, BindError> {
        Self::try_bind(addr, shards.max(1), true).map_err(|source| explain(addr, source))
    }

    /// Uses a socket that already listens. All shards share its queue of connections.
    ///
    /// # Errors
    /// Fails if the socket cannot be shared.
    pub fn adopt(addr: SocketAddr, listener: TcpListener, shards: usize) -> Result<Self, BindError> {
        let shared =
            (1..shards.max(1)).map(|_| listener.try_clone().map(Some)).collect::<io::Result<Vec<_>>>();
        let mut sockets = shared.map_err(|source| BindError::Other { addr, source })?;
        sockets.push(Some(listener));
        Ok(Self { addr, sockets: Mutex::new(sockets) })
    }

    /// Returns the actual address: if port 0 was requested, it contains the port that the system chose.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns one shard's non-blocking socket, but only once: the shard that serves the socket also closes it.
    /// Returns `None` if the shard has no socket, or has already taken it.
    pub fn take(&self, index: usize) -> Option<TcpListener> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index)?.take()
    }

    fn try_bind(addr: SocketAddr, shards: usize, beside: bool) -> io::Result<Self> {
        let first = socket(addr)?;
        if beside {
            share(&first)?;
        }
        first.bind(&addr.into())?;
        first.listen(BACKLOG)?;
        let addr = TcpListener::from(first.try_clone()?).local_addr()?;
        let mut sockets = Vec::with_capacity(shards);
        for _ in 1..shards {
            sockets.push(Some(join(&first, addr)?));
        }
        share(&first)?;
        sockets.push(Some(first.into()));
        Ok(Self { addr, sockets: Mutex::new(sockets) })
    }
}

fn explain(addr: SocketAddr, source: io::Error) -> BindError {
    match source.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse { addr },
        io::ErrorKind::AddrNotAvailable => BindError::NotOurs { addr },
        io::ErrorKind::PermissionDenied => BindError::Denied { addr },
        _ => BindError::Other { addr, source },
    }
}

fn socket(addr: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // A restart must not have to wait for old connections in TIME_WAIT.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if addr.is_ipv6() {
        // Otherwise, `[::]` would also take the IPv4 port on some systems.
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

/// Allows other sockets of this user to use the port, if they allow this as well.
#[cfg(target_os = "linux")]
fn share(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

/// Does nothing: on other systems, the shards share one socket.
#[cfg(not(target_os = "linux"))]
fn share(_: &Socket) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn join(first: &Socket, addr: SocketAddr) -> io::Result<TcpListener> {
    share(first)?;
    let own = socket(addr)?;
    share(&own)?;
    own.bind(&addr.into())?;
    own.listen(BACKLOG)?;
    Ok(own.into())
}

#[cfg(not(target_os = "linux"))]
fn join(first: &Socket, _addr: SocketAddr) -> io::Result<TcpListener> {
    Ok(first.try_clone()?.into())
}
