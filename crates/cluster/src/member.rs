//! The interfaces between a cluster and the gateway that belongs to it. This module must not know the store.

use store::keys::KeyRecord;
use store::sessions::SessionKey;

use crate::logins::LoginAttempt;

/// The sessions of a gateway.
pub trait SharedSessions: Send + Sync {
    /// Ends those of the given sessions that are in memory; they have ended at another replica.
    fn end(&self, keys: &[SessionKey]);

    /// Returns the sessions in memory.
    fn open(&self) -> Vec<SessionKey>;

    /// Writes all sessions in memory, and all known ends of sessions, to a store that has lost its data.
    fn store_again(&self);
}

/// Documents of a gateway that others change, too: consents, sign-ins, or approved definitions.
pub trait ChangeWatch: Send + Sync {
    /// Compares the documents with these names with the store, because they have changed there.
    fn changed(&self, names: &[String]);

    /// Compares all documents with the store, because the connection to it was lost.
    fn joined(&self);
}

/// The operators of a gateway.
pub trait SharedLogins: Send + Sync {
    /// Counts the attempts to log in that were made at another replica.
    fn attempted(&self, attempts: &[LoginAttempt]);
}

/// The API keys of a gateway. Its methods block.
pub trait SharedKeys: Send + Sync {
    /// Returns a number that changes whenever the keys change, except by [`SharedKeys::merge`].
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
