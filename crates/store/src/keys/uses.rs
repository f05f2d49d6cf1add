//! Times of last use, collected between writes: a call costs a lookup in a small map, not a write.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The last use of each key since the last [`LastUses::take`]; at most one entry for each key in use.
#[derive(Debug, Default)]
pub struct LastUses(Mutex<HashMap<i64, u64>>);

impl LastUses {
    /// Records a use of the key with this id.
    pub fn note(&self, id: i64, now_ms: u64) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = uses.entry(id).or_default();
        *last = now_ms.max(*last);
    }

    /// Takes the collected uses for [`super::Keys::touch`], and starts over.
    pub fn take(&self) -> Vec<(i64, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}
