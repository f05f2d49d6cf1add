//! The resources that a session's client listens to, and how far each subscription is. It must not know who tells of them.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Fault;
use parking_lot::{Mutex, MutexGuard};
use upstream::subscriptions::Listening;
use upstream::{Server, Upstream};

/// A resource that a session listens to.
pub(crate) struct Followed {
    /// Its server.
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) how: Subscribed,
}

/// How far a subscription is.
pub(crate) enum Subscribed {
    /// Its upstream is being asked.
    Asked,
    /// Its upstream has agreed, in the session.
    Taken,
    /// What keeps it open where the upstream has no sessions.
    Kept(#[expect(dead_code, reason = "held until the client listens no more")] Listening),
}

/// All that one session's client listens to, by URI.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, Followed>>);

impl Subscriptions {
    /// All of them, for as long as this is held.
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.0.lock()
    }

    /// Notes that the client listens to a resource; whether it did not before.
    ///
    /// # Errors
    /// It listens to as many as it may.
    pub(super) fn insert(&self, uri: &str, upstream: &Arc<Upstream>, max: usize) -> Result<bool, Fault> {
        let mut all = self.0.lock();
        if all.contains_key(uri) {
            return Ok(false);
        }
        if all.len() >= max {
            return Err(Fault::gateway(format!(
                "this session listens to {max} resources already (`limits.subscriptionsPerSession` in the configuration)"
            )));
        }
        let followed = Followed { upstream: upstream.clone(), how: Subscribed::Asked };
        all.insert(uri.to_owned(), followed);
        Ok(true)
    }

    /// What upstreams have agreed to in the session, and what another link has to be told.
    pub(super) fn taken(&self) -> Vec<String> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| matches!(one.how, Subscribed::Taken));
        taken.map(|(uri, _)| uri.clone()).collect()
    }

    /// The same of one server.
    pub(super) fn taken_at(&self, server: &Server) -> Vec<String> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| {
            matches!(one.how, Subscribed::Taken) && std::ptr::eq(Arc::as_ptr(&one.upstream.server), server)
        });
        taken.map(|(uri, _)| uri.clone()).collect()
    }

    /// Notes that the client listens to a resource no more; whether it did.
    pub(super) fn remove(&self, uri: &str) -> bool {
        self.0.lock().remove(uri).is_some()
    }

    /// Takes all of them away.
    pub(super) fn drain(&self) -> Vec<String> {
        self.0.lock().drain().map(|(uri, _)| uri).collect()
    }

    /// Returns true if the client listens to exactly this resource.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.0.lock().contains_key(uri)
    }

    /// Returns true if a change of this resource concerns the client.
    pub(super) fn is_concerned(&self, changed: &str) -> bool {
        self.0.lock().keys().any(|wanted| proto::bridge::listen::concerns(wanted, changed))
    }
}
