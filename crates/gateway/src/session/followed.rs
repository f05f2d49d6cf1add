//! The resources that a session's client listens to, and the state of each subscription. This module must not know who
//! sends updates.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::Fault;
use engine::catalogue::{UpstreamId, uri_of_server};
use parking_lot::{Mutex, MutexGuard};
use upstream::subscriptions::ListenerGuard;
use upstream::{Server, Upstream};

/// A resource that a session listens to.
pub(crate) struct Followed {
    /// The resource's server.
    pub(crate) upstream: Arc<Upstream>,
    /// The server's own URI; `None` if the client uses the same URI.
    own: Option<Box<str>>,
    pub(crate) how: Subscribed,
}

impl Followed {
    /// Creates the entry for a resource with the client's URI `uri` and the server's own URI `own`.
    pub(super) fn new(uri: &str, upstream: Arc<Upstream>, own: &str, how: Subscribed) -> Self {
        Self { upstream, own: (uri != own).then(|| own.into()), how }
    }

    /// Returns the server's own URI of the resource; `uri` is the client's URI.
    pub(super) fn own<'f>(&'f self, uri: &'f str) -> &'f str {
        self.own.as_deref().unwrap_or(uri)
    }

    /// Returns true if the resource belongs to this server.
    pub(super) fn is_at(&self, server: UpstreamId) -> bool {
        self.upstream.server.spec.id == server
    }
}

/// The state of a subscription.
pub(crate) enum Subscribed {
    /// The upstream is being asked.
    Asked,
    /// The upstream has accepted the subscription within the session.
    Taken,
    /// An upstream without sessions has accepted the subscription; holding this value keeps the subscription open.
    Kept(#[expect(dead_code, reason = "held until the client stops listening")] ListenerGuard),
}

/// All subscriptions of one session's client, by URI, and the URIs whose servers are not known yet.
#[derive(Default)]
pub struct Subscriptions(Mutex<HashMap<String, Followed>>, Mutex<HashSet<String>>);

impl Subscriptions {
    /// Locks all subscriptions.
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.0.lock()
    }

    /// Adds a subscription to a resource; `uri` is the client's URI of the resource, and `own` is the server's own
    /// URI. Returns true if the subscription is new.
    ///
    /// # Errors
    /// Fails if the client already has as many subscriptions as allowed.
    pub(super) fn insert(
        &self,
        (uri, own): (&str, &str),
        upstream: &Arc<Upstream>,
        max: usize,
    ) -> Result<bool, Fault> {
        let mut all = self.0.lock();
        if all.contains_key(uri) {
            return Ok(false);
        }
        if all.len() >= max {
            return Err(Fault::gateway(format!(
                "this session already listens to {max} resources, which is the limit \
                 (`limits.subscriptionsPerSession`)"
            )));
        }
        let followed = Followed::new(uri, upstream.clone(), own, Subscribed::Asked);
        all.insert(uri.to_owned(), followed);
        Ok(true)
    }

    /// Adds resources that the client listened to before the session was restored. They wait until their servers
    /// are known.
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

    /// Returns the number of subscriptions that a server has accepted.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Returns the URIs of all subscriptions, including those that still wait for their servers.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.0.lock().keys().cloned().collect();
        let waiting = self.1.lock();
        all.extend(waiting.iter().filter(|uri| !all.contains(uri)).cloned().collect::<Vec<_>>());
        all
    }

    /// Returns the subscriptions that a server has accepted within the session, each with the client's URI and the
    /// server's own URI. They have to be sent again on a new link.
    pub(super) fn taken(&self, server: UpstreamId) -> Vec<(String, String)> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| matches!(one.how, Subscribed::Taken) && one.is_at(server));
        taken.map(|(uri, one)| (uri.clone(), one.own(uri).to_owned())).collect()
    }

    /// Returns the server's own URIs of the resources whose subscriptions the server has accepted within the session.
    pub(super) fn taken_at(&self, server: &Server) -> Vec<String> {
        let all = self.0.lock();
        let taken = all.iter().filter(|(_, one)| {
            matches!(one.how, Subscribed::Taken) && std::ptr::eq(Arc::as_ptr(&one.upstream.server), server)
        });
        taken.map(|(uri, one)| one.own(uri).to_owned()).collect()
    }

    /// Removes a subscription; returns true if there was one.
    pub(super) fn remove(&self, uri: &str) -> bool {
        let awaited = self.1.lock().remove(uri);
        self.0.lock().remove(uri).is_some() || awaited
    }

    /// Removes all subscriptions, and returns their URIs with their servers.
    pub(super) fn drain(&self) -> Vec<(String, Followed)> {
        self.1.lock().clear();
        self.0.lock().drain().collect()
    }

    /// Returns true if the client listens to exactly this resource.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.0.lock().contains_key(uri)
    }

    /// Returns true if the client listens to exactly this resource of a server; `own` is the server's own URI.
    pub(crate) fn has_own(&self, server: UpstreamId, own: &str) -> bool {
        self.0.lock().iter().any(|(uri, one)| one.is_at(server) && one.own(uri) == own)
    }

    /// Returns the client's URI of a changed resource of a server, if the client listens to that resource, or to a
    /// resource that contains it.
    pub(super) fn known_as<'c>(&self, server: UpstreamId, changed: &'c str) -> Option<Cow<'c, str>> {
        let all = self.0.lock();
        let is_concerned = |wanted: &str, one: &Followed| {
            one.is_at(server) && proto::bridge::listen::concerns(one.own(wanted), changed)
        };
        let (wanted, one) = all.iter().find(|(wanted, one)| is_concerned(wanted, one))?;
        Some(match &one.own {
            None => Cow::Borrowed(changed),
            Some(own) if **own == *changed => Cow::Owned(wanted.clone()),
            // The client knows this resource, and everything below it, by URIs with the server's name.
            Some(_) => {
                Cow::Owned(uri_of_server(one.upstream.name(), changed).unwrap_or_else(|| wanted.clone()))
            }
        })
    }
}
