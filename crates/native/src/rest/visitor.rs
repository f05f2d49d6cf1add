//! The questions that show whether a site treats an account as a visitor, and the verdicts, which are valid for a while. This
//! module must not know how sites are asked, nor their software.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// The time for which a verdict is valid: the site's owner may repair the site meanwhile.
const COUNTS: Duration = Duration::from_mins(10);
/// The largest number of remembered verdicts.
const MOST: usize = 4096;

/// The questions that show whether a site treats the caller as a visitor, and the hint for callers whom it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorCheck {
    /// The questions, in order; the first one with a verdict counts.
    pub(crate) questions: &'static [VisitorQuestion],
    /// The hint to append to a refusal.
    pub(crate) hint: &'static str,
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorQuestion {
    /// The route, with `{me}` for the ID of the caller's account.
    pub(crate) route: &'static str,
    /// Reads the verdict from the status and the answer; `None` if they do not show it.
    pub(crate) judge: fn(u16, &Value) -> Option<bool>,
}

/// The verdicts by site and account.
#[derive(Default)]
pub(crate) struct VisitorVerdicts(Mutex<HashMap<[u8; 32], VisitorVerdict>>);

/// The verdict about an account at a site.
#[derive(Clone, Copy)]
pub(super) struct VisitorVerdict {
    /// `None` if the answers did not show it.
    pub(super) is_visitor: Option<bool>,
    until: Duration,
}

impl VisitorVerdicts {
    pub(super) fn get(&self, digest: &[u8; 32], now: Duration) -> Option<VisitorVerdict> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).filter(|verdict| verdict.until > now).copied()
    }

    pub(super) fn put(&self, digest: [u8; 32], is_visitor: Option<bool>, now: Duration) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&digest) {
            known.retain(|_, verdict| verdict.until > now);
            // Forgetting the verdicts costs only a few more questions.
            if known.len() >= MOST {
                known.clear();
            }
        }
        known.insert(digest, VisitorVerdict { is_visitor, until: now + COUNTS });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_kept_for_a_time_and_for_so_many() {
        let verdicts = VisitorVerdicts::default();
        let now = Duration::from_secs(7);
        verdicts.put([1; 32], Some(true), now);
        verdicts.put([2; 32], None, now);
        let known = |digest, now| verdicts.get(&[digest; 32], now).map(|verdict| verdict.is_visitor);
        assert_eq!(known(1, now), Some(Some(true)));
        assert_eq!(known(2, now), Some(None), "no verdict is remembered as well");
        assert_eq!((known(1, now + COUNTS), known(3, now)), (None, None));
        for number in 0..2 * MOST {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_be_bytes());
            verdicts.put(digest, Some(false), now);
        }
        assert!(verdicts.0.lock().unwrap().len() <= MOST);
    }
}
