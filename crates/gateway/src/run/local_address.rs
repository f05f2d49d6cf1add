//! The Unix socket for clients and proxies on this machine (`listenSocket`). It is opened before the gateway
//! reports that it is ready, and served by the first thread. This module must not know what is served.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use config::Config;
use transport::net::local::{LocalSocket, serve_local_clients};
use transport::net::{BoxError, Stop};

use crate::front::http::Service;
use crate::process::serving::Serving;

/// The open socket, until a thread serves it.
pub(super) struct LocalAddress(Mutex<Option<LocalSocket>>);

impl LocalAddress {
    /// Listens on the configured path, if there is one.
    ///
    /// # Errors
    /// Fails if the gateway cannot listen there.
    pub(super) fn open(config: &Config) -> Result<Self, BoxError> {
        let Some(path) = &config.listen_socket else { return Ok(Self(Mutex::new(None))) };
        let socket =
            LocalSocket::bind_at(Path::new(path.expose())).map_err(|e| format!("listenSocket: {e}"))?;
        tracing::info!(socket = %socket.path().display(), "listening on a Unix socket");
        Ok(Self(Mutex::new(Some(socket))))
    }

    /// Serves clients at the socket until the gateway stops; returns at once if there is no socket, or another thread serves it.
    pub(super) async fn serve(
        &self,
        service: &Service,
        serving: &Serving,
        stop: &Stop,
    ) -> Result<(), BoxError> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(socket) = taken else { return Ok(()) };
        let (service, limits) = (service.clone(), serving.limits.get());
        let served =
            serve_local_clients(socket, service, (*limits).clone(), serving.cap.clone(), stop.clone());
        served.await.map_err(|error| {
            // Without one of its addresses, the gateway is not what its operator configured.
            stop.stop();
            error.into()
        })
    }
}
