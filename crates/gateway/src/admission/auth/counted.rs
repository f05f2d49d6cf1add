//! The number of running calls of each principal, counted across all of its credentials. This module must not know what
//! is counted.

use std::collections::HashMap;
use std::sync::Arc;

use engine::access::{Calls, Principal};
use parking_lot::Mutex;

/// The number of principals at which the counts of principals without running calls are dropped.
const MANY: usize = 8192;

/// The counts, by the principals' ids.
#[derive(Default)]
pub(super) struct CallCounts(Mutex<HashMap<Arc<str>, Calls>>);

impl CallCounts {
    /// Returns the principal with its count of calls, which is shared by all credentials with the same principal id.
    pub(super) fn with(&self, principal: &Principal) -> Arc<Principal> {
        let mut known = self.0.lock();
        if known.len() >= MANY && !known.contains_key(&principal.id) {
            known.retain(|_, calls| !calls.is_idle());
        }
        let own = || principal.calls.clone();
        let calls = known.entry(Arc::clone(&principal.id)).or_insert_with(own).clone();
        drop(known);
        Arc::new(Principal { calls, ..principal.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::access::Scheme;

    #[test]
    fn one_principal_counts_once_and_those_that_are_gone_are_forgotten() {
        let counted = CallCounts::default();
        let user = |name: &str| counted.with(&Principal::new(name, Scheme::Basic));
        let (ann, bob) = (user("user:ann"), user("user:bob"));
        let place = ann.calls.take(1);
        assert!(place.is_some() && user("user:ann").calls.take(1).is_none());
        assert!(bob.calls.take(1).is_some());
        drop(ann);
        for number in 0..MANY {
            user(&format!("user:{number}"));
        }
        assert!(counted.0.lock().len() < MANY);
        // A principal with a call in flight is not forgotten.
        assert!(user("user:ann").calls.take(1).is_none());
    }
}
