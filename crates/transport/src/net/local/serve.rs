//! The connections to a folder's socket. This module must not know what is requested.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::net::{UnixListener, UnixStream};

use super::socket::LocalSocket;
use crate::net::accept::Acceptor;
use crate::net::{ConnectionCap, Handler, ServeError, ServerLimits, Stop};

/// The maximum number of open connections. Commands and pages of one user need a few.
const CONNECTIONS: usize = 64;

/// Serves the socket until `stop`, then removes its file, and returns when the last request is done or the drain
/// time is over. Connections of other users, except root, are closed.
pub async fn serve_local(
    socket: LocalSocket,
    handler: impl Handler,
    limits: ServerLimits,
    stop: Stop,
) -> Result<(), ServeError> {
    let limits = ServerLimits { tls: None, ..limits };
    let acceptor = Acceptor::new(Arc::new(handler), limits.into(), ConnectionCap::new(CONNECTIONS));
    serve_each(socket, acceptor, stop, |path, stream| match is_own(stream) {
        Ok(true) => true,
        Ok(false) => {
            tracing::warn!(socket = %path.display(), "refused a connection from another user");
            false
        }
        Err(error) => {
            tracing::debug!(%error, "the user of a local connection is unknown");
            false
        }
    })
    .await
}

/// Serves the socket to every user whom the file's permissions allow to connect. The connections have the same
/// limits as connections to other addresses, and are counted together with them.
pub async fn serve_local_clients(
    socket: LocalSocket,
    handler: impl Handler,
    limits: ServerLimits,
    cap: ConnectionCap,
    stop: Stop,
) -> Result<(), ServeError> {
    // TLS would protect nothing here.
    let limits = ServerLimits { tls: None, ..limits };
    serve_each(socket, Acceptor::new(Arc::new(handler), limits.into(), cap), stop, |_, _| true).await
}

async fn serve_each(
    socket: LocalSocket,
    acceptor: Acceptor,
    stop: Stop,
    admits: impl Fn(&Path, &UnixStream) -> bool,
) -> Result<(), ServeError> {
    let listener = UnixListener::from_std(socket.listener.try_clone()?)?;
    let start = |(stream, _)| {
        if admits(socket.path(), &stream) {
            acceptor.start_local(stream);
        }
    };
    let result = tokio::select! {
        result = acceptor.accept_from(|cx| listener.poll_accept(cx), start) => result,
        () = stop.stopped() => Ok(()),
        () = acceptor.sweep() => Ok(()),
    };
    drop(socket);
    drop(listener);
    acceptor.drain().await;
    result
}

/// Returns true if the other side is a process of this user or of root.
pub(super) fn is_own(stream: &UnixStream) -> io::Result<bool> {
    let uid = stream.peer_cred()?.uid();
    Ok(may_come_in(uid, rustix::process::geteuid().as_raw()))
}

/// Returns true if `uid` is this process's user (`own`) or root.
fn may_come_in(uid: u32, own: u32) -> bool {
    uid == 0 || uid == own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_user_but_root_comes_in() {
        assert!(may_come_in(1000, 1000) && may_come_in(0, 1000));
        assert!(!may_come_in(1001, 1000) && !may_come_in(1000, 0));
    }
}
