//! The sites' last answers about sign-ins, the time for which each answer is valid, and the locks by which only one
//! caller at a time asks a site about a sign-in. This module must not know how a site is asked.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::account_fault::AccountFault;

/// The time for which the site's last answer stays valid if the site does not answer.
const TRUSTED: Duration = Duration::from_hours(1);
/// The time to wait before the site is asked again, after it has ignored a password once.
const DOUBTED: Duration = Duration::from_secs(3);
/// The time to wait before the site is asked again, after it has refused an account or has not answered.
pub(crate) const RETRY: Duration = Duration::from_secs(10);
/// The number of answers of each kind that are remembered.
const MOST: usize = 16_384;

/// A site's confirmation of the account of a grant.
#[derive(Debug, Clone)]
pub(crate) struct Confirmation {
    at: Instant,
    /// The time at which the site ignored the password, later than `at`; `None` if it did not.
    doubted: Option<Instant>,
    pub(crate) user_id: u64,
    pub(crate) roles: Vec<String>,
}

/// The sites' last answers, by grant.
#[derive(Debug, Default)]
pub(crate) struct Confirmations {
    known: HashMap<String, Confirmation>,
    /// The last attempt for each grant that ended without a confirmation: its time and its fault.
    failed: HashMap<String, (Instant, AccountFault)>,
    /// A lock for each grant, held while a site is asked about the grant. A lock is forgotten once no caller holds
    /// it or waits for it.
    turns: HashMap<String, Arc<Mutex<()>>>,
}

impl Confirmations {
    /// Returns the last answer about a grant; `None` if it is too old, and the site must be asked again. A
    /// confirmation is valid for `cache`.
    pub(crate) fn recent(&self, grant: &str, cache: Duration) -> Option<Result<Confirmation, AccountFault>> {
        let now = Instant::now();
        let known = self.known.get(grant);
        if let Some((_, fault)) = self.failed.get(grant).filter(|(at, _)| now < *at + RETRY) {
            return Some(answer(known, fault));
        }
        let is_fresh = |known: &&Confirmation| match known.doubted {
            Some(doubted) => now < doubted + DOUBTED,
            None => now < known.at + cache,
        };
        known.filter(is_fresh).cloned().map(Ok)
    }

    /// Returns the lock of a grant, so that only one caller at a time asks the site about it.
    pub(crate) fn turn(&mut self, grant: &str) -> Arc<Mutex<()>> {
        self.turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        self.turns.entry(grant.to_owned()).or_default().clone()
    }

    /// Records that a site has confirmed the account of a grant, and returns the confirmation.
    pub(crate) fn note(&mut self, grant: &str, user_id: u64, roles: Vec<String>) -> Confirmation {
        let now = Instant::now();
        let confirmation = Confirmation { at: now, doubted: None, user_id, roles };
        if self.known.len() >= MOST {
            self.known.retain(|_, known| now < known.at + TRUSTED);
        }
        if self.known.len() < MOST {
            self.known.insert(grant.to_owned(), confirmation.clone());
        }
        self.failed.remove(grant);
        confirmation
    }

    /// Records that a site ignored the password of a grant. Returns the last confirmation, unless the site has
    /// already ignored the password since that confirmation.
    pub(crate) fn doubt(&mut self, grant: &str) -> Option<Confirmation> {
        let known = self.known.get_mut(grant).filter(|known| known.doubted.is_none())?;
        let before = known.clone();
        known.doubted = Some(Instant::now());
        Some(before)
    }

    /// Records that the site refuses the account of a grant.
    pub(crate) fn refuse(&mut self, grant: &str, fault: AccountFault) {
        self.known.remove(grant);
        self.fail(grant, fault);
    }

    /// Records that the site could not be asked. Returns the last confirmation if it is still trusted; otherwise,
    /// `fault`.
    pub(crate) fn miss(&mut self, grant: &str, fault: &AccountFault) -> Result<Confirmation, AccountFault> {
        self.fail(grant, fault.clone());
        answer(self.known.get(grant), fault)
    }

    pub(crate) fn forget(&mut self, grant: &str) {
        self.known.remove(grant);
        self.failed.remove(grant);
    }

    fn fail(&mut self, grant: &str, fault: AccountFault) {
        let now = Instant::now();
        if self.failed.len() >= MOST {
            self.failed.retain(|_, (at, _)| now < *at + RETRY);
        }
        if self.failed.len() < MOST {
            self.failed.insert(grant.to_owned(), (now, fault));
        }
    }
}

/// The answer after an attempt that failed with `fault`: the last confirmation, while it is trusted.
fn answer(known: Option<&Confirmation>, fault: &AccountFault) -> Result<Confirmation, AccountFault> {
    known.filter(|known| Instant::now() < known.at + TRUSTED).cloned().ok_or_else(|| fault.clone())
}
