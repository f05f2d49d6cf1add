//! Resources that a dialect's client listens to: what servers tell of them comes on its event stream. It must not know
//! which dialect it is.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{Outcome, Trouble};
use parking_lot::Mutex;
use proto::json::quote;
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::gateway::Shard;
use crate::gateway::streams::event;
use crate::gateway::topics::{self, Heard, Listening, Told};
use crate::gateway::upstream::Upstream;
use crate::gateway::view_cell::ViewCell;

/// How long a server may take to agree; the client then hears that it does.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a client listens to, by URI.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, Following>>);

/// One resource, until this is dropped.
struct Following {
    _listening: Listening,
    telling: AbortHandle,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

/// A change of what a client listens to.
pub(super) struct Change {
    uri: String,
    on: bool,
    pub(super) upstream: Arc<Upstream>,
}

impl Change {
    /// The change that a request asks for, of a resource that the client sees and whose server tells of changes.
    pub(super) fn of(shard: &Shard, cell: &ViewCell, request: &Frame) -> Option<Self> {
        let view = cell.view();
        let on = match Method::from_name(&request.method()) {
            Some(Method::Subscribe) => true,
            Some(Method::Unsubscribe) => false,
            _ => return None,
        };
        let uri = request.string(request.param("uri").ok().flatten()?)?.into_owned();
        let owner = view.resource_owner(&uri)?;
        view.upstream_declares(owner, "resources", Some("subscribe")).then(|| Self {
            uri,
            on,
            upstream: shard.gateway.upstream_by(owner, cell.whose.as_ref()),
        })
    }
}

impl Subscriptions {
    /// Makes a change; what is told from then on goes to `events`.
    pub(super) async fn change(
        &self,
        shard: &Shard,
        change: Change,
        events: &mpsc::Sender<Bytes>,
    ) -> Outcome {
        let done = Outcome::Result(Bytes::from_static(b"{}"));
        let Change { uri, on, upstream } = change;
        if !on {
            self.0.lock().remove(&uri);
            return done;
        }
        let most = shard.gateway.snapshot.limits.subscriptions_per_session;
        if self.has(&uri) {
            return done;
        }
        let (listening, heard) = topics::listen(shard, &upstream, vec![uri.clone()]);
        let settled = tokio::time::timeout(PATIENCE, listening.place().settled()).await;
        if settled.is_ok() && !listening.place().refused().is_empty() {
            let message = format!("server {:?} does not tell of changes of {uri}", upstream.name());
            return Outcome::Trouble(Trouble::new(Condition::UpstreamError, message).of(&**upstream.name()));
        }
        let mut all = self.0.lock();
        if all.len() >= most {
            let message = format!("more than {most} resources are listened to");
            return Outcome::Trouble(Trouble::new(Condition::InvalidParams, message));
        }
        // Of two that ask at once one is enough.
        all.entry(uri).or_insert_with(|| Following {
            telling: tokio::spawn(tell(heard, events.clone())).abort_handle(),
            _listening: listening,
        });
        done
    }

    fn has(&self, uri: &str) -> bool {
        self.0.lock().contains_key(uri)
    }
}

/// Tells the client what its server tells, as long as somebody reads it.
async fn tell(mut heard: Heard, events: mpsc::Sender<Bytes>) {
    while let Some(told) = poll_fn(|context| heard.poll_next(context)).await {
        let uri = match &told {
            Told::Missed(uri) => quote(uri),
            Told::Notice(notice) if notice.method() == Notice::ResourceUpdated.name() => {
                let Some(uri) = notice.param("uri").ok().flatten() else { continue };
                String::from_utf8_lossy(uri.of(notice.text())).into_owned()
            }
            Told::Notice(_) => continue,
        };
        let notice = proto::era::notice(Notice::ResourceUpdated.name(), format!("\"uri\":{uri}").as_bytes());
        if events.send(event(&notice)).await.is_err() {
            return;
        }
    }
}
