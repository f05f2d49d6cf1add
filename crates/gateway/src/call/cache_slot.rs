//! The cache slot of a call's result: determines which calls share a slot, and which results may be kept. This
//! module must not know which calls are answered from the cache.

use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use config::Affinity;
use engine::cached_calls::{plain_arguments, time_to_keep};
use engine::exchange::Route;
use proto::era::Era;
use proto::rpc::{Frame, FrameKind};

use super::CallContext;
use super::result_store::{CachedResult, CallKey};
use crate::admission::Identity;
use crate::view::ViewCell;

/// The cache slot of a call's result, with the result once it has arrived.
pub(crate) struct CacheSlot {
    key: CallKey,
    keep_for: Duration,
    /// The protocol version that is used with the server.
    era: &'static Era,
    heard: HeardResult,
}

/// A summary of the messages that the server has sent about a call.
enum HeardResult {
    Nothing,
    /// One result, in the form of the server's version.
    Result(Bytes),
    /// A question, or more than one result: the result may depend on more than the request.
    More,
}

/// The owner of a kept result, and the request properties on which the result depends.
#[derive(Clone, Copy)]
pub(super) struct SlotOwner<'a> {
    pub(super) identity: &'a Identity,
    /// The caller's session, or its principal if it has none.
    pub(super) owner: &'a str,
    /// True if only the server checks the arguments.
    pub(super) unchecked: bool,
}

impl CacheSlot {
    /// Returns the key of the result.
    pub(super) fn key(&self) -> CallKey {
        self.key
    }

    /// Returns the cache slot of a call's result; `None` if the result must not be kept. `server` is the protocol
    /// version that is used with the server.
    pub(super) fn of(
        context: &CallContext,
        caller: SlotOwner<'_>,
        (cell, server): (&ViewCell, &'static Era),
        (route, frame): (&Route<'_>, &Frame),
    ) -> Option<Self> {
        let tool = route.tool?;
        let rule = tool.limits()?.cache.as_ref()?;
        let arguments = plain_arguments(frame, route.arguments.as_deref())?;
        let upstream = context.view.state.upstream_of(route.upstream, caller.identity);
        // A client that can answer servers' questions may have answered one before the call, for instance about its roots.
        let is_shared =
            upstream.server.spec.affinity != Affinity::Session && cell.clients.askable.is_nothing();
        let session = if is_shared { "" } else { caller.owner };
        let mut digest = Context::new(&SHA256);
        for part in [
            &caller.identity.data_owner().0[..],
            &cell.profile.to_le_bytes(),
            &route.upstream.0.to_le_bytes(),
            tool.identity().as_bytes(),
            &rule.definition,
            server.version.as_bytes(),
            cell.clients.askable.capabilities().as_bytes(),
            session.as_bytes(),
            &[u8::from(caller.unchecked)],
            &arguments,
        ] {
            digest.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            digest.update(part);
        }
        let mut key = CallKey([0; 32]);
        key.0.copy_from_slice(digest.finish().as_ref());
        Some(Self { key, keep_for: rule.keep_for, era: server, heard: HeardResult::Nothing })
    }

    /// Records a message from the server; `key` is the id of the request at the server.
    pub(super) fn hear(&mut self, frame: &Frame, key: u64) {
        let is_own = frame.id().is_some_and(|id| id.as_number() == Some(key));
        self.heard = match (frame.kind(), &self.heard) {
            (FrameKind::Response, HeardResult::Nothing) if is_own => frame
                .payload()
                .map_or(HeardResult::More, |result| HeardResult::Result(result.share(frame.text()))),
            (FrameKind::Response, _) if is_own => HeardResult::More,
            (FrameKind::Request, _) => HeardResult::More,
            _ => return,
        };
    }

    /// Keeps the result, if it may be kept, now that the call has ended.
    pub(super) fn keep(self, context: &CallContext, identity: &Identity) {
        let HeardResult::Result(heard) = self.heard else { return };
        let Some(keep_for) = time_to_keep(&heard, self.keep_for) else { return };
        // A slice would keep the whole message in memory, which counts elsewhere.
        let cached = CachedResult { era: self.era, result: Bytes::copy_from_slice(&heard) };
        context.state.results.keep_cached(self.key, cached, identity.holder(), keep_for);
    }
}
