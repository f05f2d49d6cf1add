//! Seals states that pass through clients, and assigns their numbers. This module must not know their content.

use std::sync::Arc;

use cluster::peers::short_number;
use engine::exchange::Sealer;
use upstream::{EgressProcess, NO_RANDOM};

use crate::session::id::SessionClaims;
use crate::session::seal::{NoRandomness, Seal, random_number};

/// Seals states under the gateway's key ring.
pub(crate) struct StateSealer {
    seal: Arc<Seal>,
    keys: Arc<EgressProcess>,
    epoch: u64,
    /// The number by which the other gateways of a cluster recognize this process in ids; 0 without other gateways.
    short_number: u32,
}

impl StateSealer {
    /// Creates the sealer of this process. `has_peers` is true if other gateways of a cluster pass requests on to it.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(crate) fn new(seal: Arc<Seal>, keys: &Arc<EgressProcess>, has_peers: bool) -> Result<Self, String> {
        let epoch = random_number().map_err(|_| NO_RANDOM.to_owned())?;
        let short_number = if has_peers { short_number(epoch) } else { 0 };
        Ok(Self { seal, keys: keys.clone(), epoch, short_number })
    }
}

impl StateSealer {
    /// Returns the number that ids of questions and events contain; 0 without other gateways.
    pub(crate) fn short_number(&self) -> u32 {
        self.short_number
    }

    /// Creates the id of a session.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(crate) fn session_id(&self, claims: &SessionClaims) -> Result<Box<str>, NoRandomness> {
        self.seal.seal_session(&claims.bytes()).map(String::into_boxed_str)
    }

    /// Returns the facts in a session's id; `None` for any other text.
    pub(crate) fn session(&self, id: &str) -> Option<SessionClaims> {
        SessionClaims::parse(&self.seal.open_session(id)?)
    }
}

impl Sealer for StateSealer {
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal.seal(plain, bound)
    }

    fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal.seal_name(plain, bound)
    }

    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        self.seal.open(sealed, bound)
    }

    fn fresh_key(&self) -> u64 {
        self.keys.next_key()
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }
}
