//! What seals states that go through clients, and numbers what is sealed. It must not know what they say.

use std::sync::Arc;

use engine::exchange::Sealer;
use upstream::{EgressProcess, NO_RANDOM};

use crate::gateway::session::seal::Seal;

/// Seals states under the process's key.
pub(crate) struct StateSealer {
    seal: Seal,
    keys: Arc<EgressProcess>,
}

impl StateSealer {
    /// Under a new key.
    ///
    /// # Errors
    /// When the operating system's random number generator fails.
    pub(crate) fn new(keys: &Arc<EgressProcess>) -> Result<Self, String> {
        let seal = Seal::new().map_err(|_| NO_RANDOM.to_owned())?;
        Ok(Self { seal, keys: keys.clone() })
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
}
