//! The interfaces between a cluster and the gateway that belongs to it. This module must not know the store.

use store::keys::KeyRecord;
use store::sessions::SessionKey;

/// The sessions of a gateway.
pub trait SharedSessions: Send + Sync {
    /// Ends sessions that have ended at another replica, if this one has them in memory.
    fn end(&self, keys: &[SessionKey]);

    /// Returns the sessions in memory.
    fn open(&self) -> Vec<SessionKey>;

    /// Stores the sessions in memory and the known ends again, because the store has lost them.
    fn store_again(&self);
}

/// The API keys of a gateway. Its methods block.
pub trait SharedKeys: Send + Sync {
    /// Returns a number that changes with each change of the keys that [`SharedKeys::merge`] did not make.
    ///
    /// # Errors
    /// Returns the reason why the keys cannot be read.
    fn version(&self) -> Result<i64, String>;

    /// Returns all keys.
    ///
    /// # Errors
    /// Returns the reason why the keys cannot be read.
    fn all(&self) -> Result<Vec<KeyRecord>, String>;

    /// Adds keys of other replicas, and takes over their revocations.
    ///
    /// # Errors
    /// Returns the reason why the keys cannot be stored.
    fn merge(&self, keys: &[KeyRecord]) -> Result<bool, String>;
}
