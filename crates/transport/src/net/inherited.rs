//! Listening sockets that a service manager opened before it started this process (`LISTEN_FDS`, as `systemd` passes them). This module must not
//! know which addresses are configured.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;

/// Takes the sockets that this process inherited. Only the first call returns them. `listenfd` marks them, so that children
/// do not inherit them.
///
/// # Errors
/// Fails if one of them is not a listening socket of TCP.
pub fn inherited_listeners() -> io::Result<Vec<(SocketAddr, TcpListener)>> {
    let mut passed = ListenFd::from_env();
    let mut all = Vec::with_capacity(passed.len());
    for index in 0..passed.len() {
        if let Some(listener) = passed.take_tcp_listener(index)? {
            listener.set_nonblocking(true)?;
            all.push((listener.local_addr()?, listener));
        }
    }
    Ok(all)
}
