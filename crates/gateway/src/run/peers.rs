//! Listens for the other gateways of the cluster. This module must not know which requests they pass on.

use std::net::SocketAddr;
use std::sync::Arc;

use cluster::PeerDoor;
use config::Config;
use parking_lot::Mutex;
use transport::net::{BoxError, PeerKey};

use crate::process::serving::{NextAddresses, Serving};

/// The listener for the other gateways of the cluster.
pub(super) struct PeerListening {
    pub(super) serving: Arc<Serving>,
    /// The address and the key that the other gateways get; `None` if they cannot connect.
    pub(super) door: Option<PeerDoor>,
    first: Mutex<Option<NextAddresses>>,
}

impl PeerListening {
    /// Binds the address for the other gateways, if one is configured.
    ///
    /// # Errors
    /// Returns the reason why the address cannot be bound.
    pub(super) fn open(threads: usize, config: &Config) -> Result<Self, BoxError> {
        let address: Option<SocketAddr> = config.cluster.as_ref().and_then(|cluster| cluster.address);
        let key = address.map(|_| PeerKey::generate()).transpose()?;
        let serving = Arc::new(Serving::of_peers(threads, &config.limits, key.as_ref().map(PeerKey::tls)));
        let first = serving.bind(address.as_slice()).map_err(|e| format!("cluster.address: {e}"))?;
        let door = key.zip(first.actual().first().copied()).map(|(key, address)| {
            tracing::info!("listening for the other gateways of the cluster at {address}");
            PeerDoor::new(address, key.public())
        });
        Ok(Self { serving, door, first: Mutex::new(Some(first)) })
    }

    /// Serves the address from now on.
    pub(super) fn serve(&self) {
        if let Some(first) = self.first.lock().take() {
            self.serving.serve(first);
        }
    }
}
