//! Learns the items that a server shows only to clients that can be asked questions, one class of clients after the
//! other. This module must not know who these clients are.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use config::QuestionPolicy;
use proto::bridge::handshake::client_capabilities;
use proto::bridge::input::Askable;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use transport::up::LinkError;

use super::cell::Catalogue;
use super::gated::Learner;
use super::lifecycle_lists::LifecycleLists;
use crate::egress::Egress;
use crate::health::HealthEvent;

/// The permits for learning classes, for the whole process. Only a few classes are learned at the same time,
/// because each may start a child.
static LEARNING: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

impl Catalogue {
    /// Returns those questions in `askable` that decide which items a client is shown.
    pub fn deciding(&self, askable: Askable) -> Askable {
        self.gated.deciding(askable)
    }

    /// Returns true if the items of clients with these capabilities should be learned.
    pub fn is_unlearned(&self, askable: Askable) -> bool {
        let is_asked = self.server.spec.asks == QuestionPolicy::Auto && !self.server.is_native();
        is_asked
            && !self.server.shutdown.begun.is_stopped()
            && self.gated.is_unlearned(askable, Instant::now())
    }

    /// Returns true if clients with these capabilities may soon be shown more items.
    pub fn is_being_learned(&self, askable: Askable) -> bool {
        self.gated.is_being_learned(askable)
    }

    /// Learns the items that clients of a class are shown in addition to those for all clients, unless another caller
    /// is already learning them. The caller may wait for the end.
    pub fn learn(
        self: &Arc<Self>,
        egress: &Egress,
        class: Askable,
        learner: Learner,
    ) -> watch::Receiver<u64> {
        let done = self.done.subscribe();
        if self.gated.begin(class, Instant::now()) {
            let (catalogue, egress) = (self.clone(), egress.clone());
            transport::task::spawn(async move {
                let _told = Learned(&catalogue, class);
                // This frees the link for calls before clients are notified.
                let learner = learner;
                let idle = egress.snapshot().calls(&catalogue.server.spec).usual.timeouts.idle;
                let patience = egress.snapshot().opening_time() + idle;
                let outcome = timeout(patience, catalogue.try_learn(&egress, class, &learner)).await;
                if let Ok(Err(e)) = outcome {
                    tracing::debug!(
                        server = %catalogue.server.name(),
                        "cannot fetch the server's lists for clients that can answer questions: the server {}",
                        catalogue.server.describe(&e)
                    );
                }
            });
        }
        done
    }

    /// Learns the items of a class again, because a change was announced on a link that serves a client of this
    /// class. Returns true if clients were notified of a difference.
    pub async fn learn_again(&self, egress: &Egress, class: Askable, learner: &Learner) -> bool {
        let outcome = self.try_learn(egress, class, learner).await;
        outcome.unwrap_or_else(|e| {
            self.gated.miss(class, Instant::now());
            self.server.tell_failure("the server's lists may have changed, but cannot be fetched: ", &e);
            false
        })
    }

    /// Learns a class. Returns true if the clients of the class were notified of a difference.
    async fn try_learn(&self, egress: &Egress, class: Askable, learner: &Learner) -> Result<bool, LinkError> {
        let _one = LEARNING.acquire().await.map_err(|_| LinkError::Closed)?;
        let of = |era| {
            let text = client_capabilities(&learner.capabilities, learner.era, era);
            String::from_utf8_lossy(&text).into_owned()
        };
        let catalogue = self.gather_over(egress, &learner.cell, &of).await?;
        let clients = if class.has_roots() { "roots" } else { "sampling or elicitation" };
        self.server.health.note(HealthEvent::ListedFor(clients));
        let lifecycle = catalogue.listed_in.lifecycle;
        let base =
            self.lifecycles.iter().find(|lists| lists.lifecycle == lifecycle).and_then(LifecycleLists::known);
        let more = match base {
            Some(base) => catalogue.beyond(&base),
            None => catalogue,
        };
        // For a list that failed on this link, the items that were seen before are kept.
        let entries = egress.snapshot().limits.catalogue_entries;
        let more = self.gated.known(class).map_or(more.clone(), |before| more.completed(&before, entries));
        let differs = self.keep_class(class, more);
        if differs {
            self.tell(egress).finished().await;
        }
        self.save();
        Ok(differs)
    }
}

/// Marks the learning of a class as ended when dropped, whatever the outcome.
struct Learned<'a>(&'a Catalogue, Askable);

impl Drop for Learned<'_> {
    fn drop(&mut self) {
        self.0.gated.end(self.1, Instant::now());
        self.0.done.send_modify(|done| *done += 1);
    }
}
