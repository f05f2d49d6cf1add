//! The settings of a replica. This module must not know what is shared.

use std::time::Duration;

use config::{Cluster, StoreUrl};
use transport::net::client::{TlsFiles, Trust};

use crate::families::StoreKeys;
use crate::formats::FORMAT;
use crate::peer_door::PeerDoor;
use crate::replicas::Replica;
use crate::valkey::{StoreAddress, StoreState};

/// The settings of a replica.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// The store.
    pub store: ClusterStore,
    /// A random number for this process. The ids that this process gives to clients contain the number, or a part of it.
    pub id: u64,
    /// The address at which this replica accepts requests of other replicas, if it does.
    pub door: Option<PeerDoor>,
    /// The name of this replica.
    pub name: String,
    /// The time for which sessions are kept after their last use.
    pub session_life: Duration,
    /// True if the events of clients' event streams are copied to the store.
    pub copies_events: bool,
}

/// The store of a cluster, and the certificate authorities that are trusted for it.
#[derive(Debug, Clone)]
pub struct ClusterStore {
    /// The address and the credentials.
    pub url: StoreUrl,
    /// The certificate authorities that are trusted for the store.
    pub trust: Trust,
    /// The prefix of all key names in the store.
    pub prefix: String,
}

impl ClusterStore {
    /// Returns the store that the configuration names.
    ///
    /// # Errors
    /// Fails if its URL is invalid.
    pub fn of(cluster: &Cluster) -> Result<Self, String> {
        let files = cluster.tls.as_ref().map(|tls| TlsFiles {
            ca: tls.ca.clone(),
            system_too: false,
            identity: tls.cert.clone().zip(tls.key.clone()),
        });
        Ok(Self {
            url: StoreUrl::parse(cluster.store.expose()).map_err(|fault| fault.to_string())?,
            trust: files.map_or_else(Trust::default, Trust::from_files),
            prefix: cluster.prefix.clone(),
        })
    }

    /// Opens a connection to the store, and checks whether the store can be used. No data is read or written. This
    /// takes a few seconds at most.
    pub async fn examine(&self) -> StoreState {
        match self.address(StoreKeys::new(&self.prefix).log()).connect().await {
            Ok((_, version)) => StoreState::Ready(version),
            Err(unconnected) => unconnected.state(),
        }
    }

    pub(crate) fn address(&self, channel: String) -> StoreAddress {
        StoreAddress { url: self.url.clone(), trust: self.trust.clone(), channel }
    }
}

impl ClusterSettings {
    pub(crate) fn replica(&self, started_ms: u64) -> Replica {
        Replica {
            id: format!("{:016x}", self.id),
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms,
            sessions: 0,
            door: self.door.clone(),
            format: FORMAT,
        }
    }
}
