//! Records whether callers have separate upstreams for a server, because each caller gives its own consent. This
//! module must not know who the callers are.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::credential::challenge::Challenge;

/// The record for one server.
#[derive(Default)]
pub(crate) struct CallerSeparation {
    /// True once the server has required a credential.
    wants: AtomicBool,
    /// True if callers that were connected before the separation have not been separated yet.
    is_news: AtomicBool,
    /// True if the configuration, or the server's refusal, shows that users can give consent.
    offers_consent: AtomicBool,
}

impl CallerSeparation {
    /// Creates the record of a server; `wants` is true if callers are separated from the start.
    pub(crate) fn new(wants: bool, offers_consent: bool) -> Self {
        let (wants, offers_consent) = (AtomicBool::new(wants), AtomicBool::new(offers_consent));
        Self { wants, offers_consent, ..Self::default() }
    }

    /// Records that the server refused a request because it had no credential; `challenge` is the server's
    /// challenge.
    pub(crate) fn note(&self, challenge: &str) {
        if Challenge::read(challenge).resource_metadata.is_some() {
            self.offers_consent.store(true, Ordering::Relaxed);
        }
        if !self.wants.swap(true, Ordering::SeqCst) {
            self.is_news.store(true, Ordering::SeqCst);
        }
    }

    /// Returns true if callers are separated.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wants.load(Ordering::Relaxed)
    }

    /// Returns true if callers have become separated since the last call of this function.
    pub(crate) fn take_news(&self) -> bool {
        self.is_news.swap(false, Ordering::SeqCst)
    }

    /// Returns true if it is known that users can give the server consent.
    pub(crate) fn offers_consent(&self) -> bool {
        self.offers_consent.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metadata_of_a_resource_say_that_users_can_consent() {
        let separation = CallerSeparation::new(false, false);
        separation.note("Basic realm=\"x\"");
        assert!(separation.is_wanted() && !separation.offers_consent());
        assert!(separation.take_news() && !separation.take_news());
        separation.note("Bearer resource_metadata=\"https://x.example/.well-known\"");
        assert!(separation.offers_consent() && !separation.take_news());
    }
}
