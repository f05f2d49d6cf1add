//! The resources that a session's client listens to, and the state of each subscription. It must not know who sends
//! updates.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::Fault;
use parking_lot::{Mutex, MutexGuard};
use upstream::subscriptions::Listening;
use upstream::{Server, Upstream};

/// A resource that a session listens to.
pub(crate) struct Followed {
    /// The resource's server.
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) how: Subscribed,
}

/// The state of a subscription.
pub(crate) enum Subscribed {
    /// The upstream is being asked.
    Asked,
    /// The upstream has accepted the subscription within the session.
    Taken,
    /// An upstream without sessions has accepted; holding this value keeps the subscription open.
    Kept(#[expect(dead_code, reason = "held until the client stops listening")] Listening),
}

/// All subscriptions of one session's client, by URI, and the URIs whose servers are not known yet.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, Followed>>, Mutex<HashSet<String>>);

impl Subscriptions {
    /// Locks all subscriptions.
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.0.lock()
    }

    /// Adds a subscription; returns true if it is new.
    ///
    /// # Errors
    /// Fails if the client already has as many subscriptions as allowed.
    pub(super) fn insert(&self, uri: &str, upstream: &Arc<Upstream>, max: usize) -> Result<bool, Fault> {
        let mut all = self.0.lock();
        if all.contains_key(uri) {
            return Ok(false);
        }
        if all.len() >= max {
            return Err(Fault::gateway(format!(
                "this session already listens to {max} resources (`limits.subscriptionsPerSession` in the \
                 configuration)"
            )));
        }
        let followed = Followed { upstream: upstream.clone(), how: Subscribed::Asked };
        all.insert(uri.to_owned(), followed);
        Ok(true)
    }

    /// Adds resources that the client listened to before the session was restored; they wait until their servers are
    /// known.
    pub(super) fn await_servers(&self, uris: Vec<String>) {
        self.1.lock().extend(uris);
    }

    /// Returns true if a resource of a restored session still waits for its server to become known.
    pub(super) fn awaits_server(&self, uri: &str) -> bool {
        self.1.lock().contains(uri)
    }

    /// Ends the wait for a resource's server.
    pub(super) fn found_server(&self, uri: &str) {
        self.1.lock().remove(uri);
    }

    /// Returns the URIs of all subscriptions, including those that still wait for their servers.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.0.lock().keys().cloned().collect();
        let waiting = self.1.lock();
        all.extend(waiting.iter().filter(|uri| !all.contains(uri)).cloned().collect::<Vec<_>>());
        all
    }

    /// Returns the URIs that upstreams have accepted within the session; they have to be repeated on a new link.
    pub(super) fn taken(&self) -> Vec<String> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| matches!(one.how, Subscribed::Taken));
        taken.map(|(uri, _)| uri.clone()).collect()
    }

    /// Returns the URIs that one server has accepted within the session.
    pub(super) fn taken_at(&self, server: &Server) -> Vec<String> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| {
            matches!(one.how, Subscribed::Taken) && std::ptr::eq(Arc::as_ptr(&one.upstream.server), server)
        });
        taken.map(|(uri, _)| uri.clone()).collect()
    }

    /// Removes a subscription; returns true if it existed.
    pub(super) fn remove(&self, uri: &str) -> bool {
        let awaited = self.1.lock().remove(uri);
        self.0.lock().remove(uri).is_some() || awaited
    }

    /// Removes all subscriptions, and returns their URIs.
    pub(super) fn drain(&self) -> Vec<String> {
        self.1.lock().clear();
        self.0.lock().drain().map(|(uri, _)| uri).collect()
    }

    /// Returns true if the client listens to exactly this resource.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.0.lock().contains_key(uri)
    }

    /// Returns true if the client listens to this resource, or to one that contains it.
    pub(super) fn is_concerned(&self, changed: &str) -> bool {
        self.0.lock().keys().any(|wanted| proto::bridge::listen::concerns(wanted, changed))
    }
}
