//! When keys were last used, gathered between writes: a call costs a look into a small map, not a write.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The last use of each key since the last [`LastUses::take`]; as many as there are keys in use.
#[derive(Debug, Default)]
pub struct LastUses(Mutex<HashMap<i64, u64>>);

impl LastUses {
    /// The key with this id is being used.
    pub fn note(&self, id: i64, now_ms: u64) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = uses.entry(id).or_default();
        *last = now_ms.max(*last);
    }

    /// What was noted, for [`super::Keys::touch`]; the gathering begins anew.
    pub fn take(&self) -> Vec<(i64, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}
