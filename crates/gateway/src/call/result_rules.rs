//! The rules that a call's tool or server sets for it: the limit of its result, its place in the cache, and its count
//! among the running calls of its tool. Most calls have no such rules. This module must not know how a call runs.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::ExchangeAnswer;
use proto::era::Era;
use proto::rpc::Frame;
use upstream::Upstream;

use super::CallContext;
use super::at_once::CountedCall;
use super::cache_slot::CacheSlot;
use super::caller::{Caller, Request};
use super::result_limit::ResultLimit;
use crate::admission::Identity;

/// The rules of one call.
pub(crate) struct ResultRules {
    limit: Option<ResultLimit>,
    slot: Option<CacheSlot>,
    counted: Option<CountedCall>,
}

impl ResultRules {
    /// Returns the rules of a request; `None` if there are none.
    ///
    /// # Errors
    /// Returns the fault to answer with if too many calls of the tool are running.
    pub(super) fn of(
        context: &Arc<CallContext>,
        caller: &Caller,
        request: &mut Request<'_>,
        upstream: &Upstream,
    ) -> Result<Option<Box<Self>>, Fault> {
        let (slot, Some(tool)) = (request.slot.take(), request.route.tool) else { return Ok(None) };
        let is_limited = context.egress.snapshot().calls(&upstream.server.spec).max_result.is_some();
        if !is_limited && tool.limits().is_none() {
            return Ok(None);
        }
        let Some(profile) = caller.view().map(|cell| cell.profile) else { return Ok(None) };
        let counted = context.state.running_by_tool.count(profile, tool, upstream.name())?;
        let limit = if request.whole || !is_limited {
            None
        } else {
            ResultLimit::of(context, (upstream, tool), profile, request.identity.data_owner())
        };
        let are_there = limit.is_some() || slot.is_some() || counted.is_some();
        Ok(are_there.then(|| Box::new(Self { limit, slot, counted })))
    }

    /// Returns true if a long answer of this length may be passed on without being read.
    pub(super) fn pass(&self, length: u64) -> bool {
        self.slot.is_none() && self.limit.as_ref().is_none_or(|limit| limit.admits(length))
    }

    /// Notes a message from the server; `key` is the id under which the request was sent to the server.
    pub(super) fn hear(&mut self, frame: &Frame, key: u64) {
        if let Some(slot) = &mut self.slot {
            slot.hear(frame, key);
        }
    }

    /// Forgets the place in the cache, because the request was rewritten and no longer matches the key of this place.
    pub(super) fn forget_slot(&mut self) {
        self.slot = None;
    }

    /// Stops counting the call, because it waits for its client. The call's result is not kept.
    pub(super) fn pause(&mut self) {
        self.slot = None;
        if let Some(counted) = &mut self.counted {
            counted.pause();
        }
    }

    /// Counts the call again.
    pub(super) fn resume(&mut self) {
        if let Some(counted) = &mut self.counted {
            counted.resume();
        }
    }

    /// Applies the rules to the answer of a call that has ended.
    pub(super) fn end(
        self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        answer: ExchangeAnswer,
    ) -> ExchangeAnswer {
        if !answer.ok {
            return answer;
        }
        if let Some(slot) = self.slot {
            slot.keep(context, identity);
        }
        let body: Bytes = match &self.limit {
            Some(limit) => limit.apply(context, identity, era, answer.body),
            None => answer.body,
        };
        ExchangeAnswer { body, ..answer }
    }
}
