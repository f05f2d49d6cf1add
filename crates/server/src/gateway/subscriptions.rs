//! The resources that a session's client listens to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::catalogue::UpstreamId;
use proto::mcp::Method;

use super::Shard;
use super::link::OpenLink;
use super::requests::request;
use super::session::{Session, Subscription};
use super::topics;
use super::upstream::Upstream;

impl Session {
    /// Keeps a change of the session's subscriptions, once its upstream has agreed.
    pub(crate) fn settle(&self, shard: &Shard, change: Option<&Subscription>, agreed: bool) {
        match change {
            Some(Subscription { uri, on: true }) if agreed => {
                let max = shard.gateway.snapshot.limits.subscriptions_per_session;
                if !self.subscribe(uri.clone(), max) {
                    tracing::warn!("a session has more than {max} subscriptions; it will not hear of {uri}");
                }
            }
            Some(Subscription { uri, on: false }) => self.unsubscribe(uri),
            _ => {}
        }
    }

    /// The upstream that has a resource, and the open link to it that this session shares with others.
    pub(crate) fn shared_owner(&self, uri: &str) -> Option<(UpstreamId, Arc<OpenLink>)> {
        let owner = self.view()?.view().resource_owner(uri)?;
        let links = self.links.lock();
        let used = links.get(&owner).filter(|used| !used.cell.is_own())?;
        let link = used.cell.current().filter(|link| link.era.has_sessions())?;
        (used.joined.load(Ordering::Acquire) == link.id).then_some((owner, link))
    }

    /// Ends the subscriptions on shared links that no other session has.
    pub(super) fn leave_resources(&self, shard: &Shard) {
        let uris: Vec<String> = self.subscriptions.lock().drain().map(|(uri, _)| uri).collect();
        let alone = |uri: &String| !shard.gateway.sessions.shares_subscription(self, uri);
        let left: Vec<_> = uris
            .into_iter()
            .filter(alone)
            .filter_map(|uri| Some((self.shared_owner(&uri)?.1, uri)))
            .collect();
        if left.is_empty() {
            return;
        }
        let shard = shard.clone();
        tokio::spawn(async move {
            for (link, uri) in left {
                let params = format!("\"uri\":{}", proto::json::quote(&uri));
                request(&shard, &link, Method::Unsubscribe, &params).await;
            }
        });
    }

    /// Notes a subscription that an upstream has taken. `false` when there are too many.
    fn subscribe(&self, uri: String, max: usize) -> bool {
        let mut subscriptions = self.subscriptions.lock();
        subscriptions.len() < max && {
            subscriptions.entry(uri).or_default();
            true
        }
    }

    /// Listens to a resource of an upstream without sessions; returns when that does so, too. `false` when there are too
    /// many subscriptions.
    pub(crate) async fn listen_to(
        self: &Arc<Self>,
        shard: &Shard,
        upstream: &Arc<Upstream>,
        uri: &str,
    ) -> bool {
        if !self.subscribe(uri.to_owned(), shard.gateway.snapshot.limits.subscriptions_per_session) {
            return false;
        }
        let listening = topics::listen_for(shard, upstream, uri.to_owned(), self);
        let patience = shard.gateway.snapshot.limits.connect_timeout;
        let _ = tokio::time::timeout(patience, listening.settled()).await;
        // An unsubscription may have come meanwhile.
        if let Some(place) = self.subscriptions.lock().get_mut(uri) {
            *place = Some(listening);
        }
        true
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.lock().remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.lock().contains_key(uri)
    }
}
