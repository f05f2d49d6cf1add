//! The settings of a replica. This module must not know what is shared.

use std::time::Duration;

use config::StoreUrl;
use transport::net::client::Trust;

use crate::replicas::Replica;
use crate::valkey::StoreAddress;

/// The settings of a replica.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// The store.
    pub url: StoreUrl,
    /// The authorities that are trusted for the store's certificate.
    pub trust: Trust,
    /// The first part of all names in the store.
    pub prefix: String,
    /// A random number for this process.
    pub id: u64,
    /// The name of this replica.
    pub name: String,
    /// The time for which sessions are kept after their last use.
    pub session_life: Duration,
}

impl ClusterSettings {
    pub(crate) fn address(&self, channel: String) -> StoreAddress {
        StoreAddress { url: self.url.clone(), trust: self.trust.clone(), channel }
    }

    pub(crate) fn replica(&self, started_ms: u64) -> Replica {
        Replica {
            id: format!("{:016x}", self.id),
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms,
            sessions: 0,
        }
    }
}
