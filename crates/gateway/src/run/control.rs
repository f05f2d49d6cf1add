//! The control socket of this process: opened in the state folder at startup, removed at shutdown. This module must not
//! know what is requested.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use transport::net::local::{LocalBindError, LocalSocket, serve_local};
use transport::net::{Handler, ServerLimits};

use crate::process::Gateway;

/// The interval between attempts to take over the socket of another process that uses the same folder.
const RETRY: Duration = Duration::from_secs(5);

/// Serves the control socket in the state folder, if there is one, until the gateway stops. If another gateway
/// serves the socket, this gateway takes over when the other one ends. The gateway serves clients even without the
/// socket.
pub(super) fn serve(gateway: Arc<Gateway>, service: Box<dyn Handler>) {
    let (stop, Some(folder)) = (gateway.process.stop.clone(), gateway.process.folder.clone()) else { return };
    transport::task::spawn(async move {
        let opened = tokio::select! {
            socket = open(&folder) => socket,
            () = stop.stopped() => return,
        };
        let Some(socket) = opened else { return };
        let drain_timeout = gateway.snapshot.limits.drain_timeout;
        let limits = ServerLimits { drain_timeout, ..ServerLimits::default() };
        drop(gateway);
        if let Err(error) = serve_local(socket, service, limits, stop).await {
            tracing::error!(%error, "the control socket is closed");
        }
    });
}

/// Opens the socket; waits as long as another process has it.
async fn open(folder: &Path) -> Option<LocalSocket> {
    let mut is_noted = false;
    loop {
        let own = folder.to_path_buf();
        let opened = transport::task::spawn_blocking(move || LocalSocket::bind(&own)).await.ok()?;
        match opened {
            Ok(socket) => {
                if is_noted {
                    tracing::info!(
                        "took over {}, so commands now reach this gateway",
                        socket.path().display()
                    );
                }
                return Some(socket);
            }
            Err(error @ LocalBindError::InUse { .. }) => {
                if !is_noted {
                    tracing::warn!(
                        "another gateway uses the state folder {}, so commands such as `dragoman status` reach that one: {error}; \
                         give each gateway a `stateFolder` of its own if you want to reach both",
                        folder.display()
                    );
                }
                is_noted = true;
            }
            Err(error) => {
                tracing::warn!(
                    "commands such as `dragoman status` cannot reach this gateway: {error}; let only its user write to the state \
                     folder, or set `stateFolder`"
                );
                return None;
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}
