//! The sockets beside those for clients over the network: for metrics, for the other gateways of the cluster, and for clients on this
//! machine. This module must not know what is served.

use std::sync::Arc;

use config::Config;
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;
use transport::net::BoxError;

use super::local_address::LocalAddress;
use super::peers::PeerListening;
use crate::process::serving::{NextAddresses, Serving, ServingSocket};

/// The sockets of the process.
pub(super) struct BesideClients {
    pub(super) metrics: Arc<Serving>,
    pub(super) peers: PeerListening,
    local: Arc<LocalAddress>,
    first_of_metrics: Mutex<Option<NextAddresses>>,
}

/// An address with the receiver of its sockets.
type ServedAddress = (Arc<Serving>, Option<UnboundedReceiver<ServingSocket>>);

/// The sockets that one thread serves.
pub(super) struct BesideThread {
    /// The address for metrics; only one thread has it.
    pub(super) metrics: Option<ServedAddress>,
    pub(super) local: Arc<LocalAddress>,
    pub(super) peers: ServedAddress,
}

impl BesideClients {
    /// Binds the configured addresses.
    ///
    /// # Errors
    /// Returns the address that cannot be bound, and the reason.
    pub(super) fn open(threads: usize, config: &Config) -> Result<Self, BoxError> {
        let metrics = Arc::new(Serving::of_metrics(&config.limits));
        let wanted = config.metrics.as_ref().and_then(|metrics| metrics.listen);
        let first = metrics.bind(wanted.as_slice()).map_err(|e| format!("metrics.listen: {e}"))?;
        for address in first.actual() {
            tracing::info!("serving http://{address}/metrics");
        }
        let (peers, local) = (PeerListening::open(threads, config)?, Arc::new(LocalAddress::open(config)?));
        Ok(Self { metrics, peers, local, first_of_metrics: Mutex::new(Some(first)) })
    }

    /// Serves the addresses from now on.
    pub(super) fn serve(&self) {
        if let Some(first) = self.first_of_metrics.lock().take() {
            self.metrics.serve(first);
        }
        self.peers.serve();
    }

    /// Returns the sockets for a thread.
    pub(super) fn of_thread(&self, index: usize) -> BesideThread {
        let peers = (self.peers.serving.clone(), self.peers.serving.sockets(index));
        let metrics = (index == 0).then(|| (self.metrics.clone(), self.metrics.sockets(0)));
        BesideThread { metrics, local: self.local.clone(), peers }
    }
}
