//! The connection of a call to its server: the links that the call uses, and the reply that it receives. This
//! module must not know the client.

use std::sync::Arc;

use bytes::Bytes;
use proto::rpc::FrameLimits;
use transport::up::{LinkError, Owner};
use upstream::embedded::Carried;
use upstream::link::reply::{Item, ReplySource};
use upstream::link::{HeldLink, OpenLink};
use upstream::pool::DedicatedLink;

use super::CallContext;

/// The links and the reply of one call.
pub(crate) struct CallConnection {
    /// The owner of messages that the upstream sends during the call.
    pub(crate) owner: Owner,
    /// The link over which the request was sent.
    pub(crate) held: Option<HeldLink>,
    /// A dedicated link, and the log level to set on it.
    pub(crate) dedicated: Option<(DedicatedLink, Option<Bytes>)>,
    /// The reply that is arriving.
    pub(crate) source: Option<ReplySource>,
    /// The key of the call's progress notifications on its link.
    pub(crate) progress: Option<u64>,
    /// The credentials that the call's request carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// True if the dialect of the client's endpoint documents the form of results and failures.
    pub(crate) documented: bool,
}

impl CallConnection {
    /// Creates a connection that does not use a link yet.
    pub(super) fn new(
        owner: Owner,
        dedicated: Option<(DedicatedLink, Option<Bytes>)>,
        (carried, documented): (Option<Arc<Carried>>, bool),
    ) -> Self {
        Self { owner, held: None, dedicated, source: None, progress: None, carried, documented }
    }

    /// Returns the link over which the request was sent.
    pub(super) fn link(&self) -> Option<&Arc<OpenLink>> {
        self.held.as_ref().map(HeldLink::link)
    }

    /// Returns the upstream's next message; never completes if no message can arrive.
    pub(super) async fn next_item(
        &mut self,
        context: &Arc<CallContext>,
        limits: FrameLimits,
    ) -> Result<Item, LinkError> {
        match &mut self.source {
            Some(source) => source.next(context.egress.client(), limits).await,
            None => std::future::pending().await,
        }
    }

    /// Stops reading the reply that is arriving.
    pub(super) fn finish_source(&mut self) {
        if let Some(source) = self.source.take() {
            source.finish();
        }
    }

    /// Registers another key for the call's progress notifications.
    pub(super) fn expect_progress(&mut self, key: Option<u64>) {
        if let (Some(old), Some(link)) = (std::mem::replace(&mut self.progress, key), self.link()) {
            link.recipients.forget_progress(old);
        }
    }

    /// Releases the links and the reply.
    pub(super) fn leave(&mut self) {
        drop(self.dedicated.take());
        if let (Some(held), Some(key)) = (self.held.take(), self.progress.take()) {
            held.link().recipients.forget_progress(key);
        }
        self.finish_source();
    }
}
