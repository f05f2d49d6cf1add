//! The rules that the configuration sets for the calls of a tool or server: the size limit of the result, its cache
//! slot, the limit on concurrent calls of the tool, and a deadline that also applies to tasks. Most calls have no
//! such rules. This module must not know how a call runs.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::ExchangeAnswer;
use proto::bridge::tasks::TaskMethod;
use proto::era::{Era, Tasks};
use proto::json::unquote;
use proto::rpc::Frame;
use upstream::Upstream;

use super::CallContext;
use super::at_once::CountedCall;
use super::cache_slot::CacheSlot;
use super::caller::{Caller, Request};
use super::limited_tasks::{LimitedTool, TaskLimits};
use super::result_limit::ResultLimit;
use crate::admission::Identity;

/// The rules of one call.
pub(crate) struct ResultRules {
    limit: Option<ResultLimit>,
    slot: Option<CacheSlot>,
    counted: Option<CountedCall>,
    /// The deadline for the task, if the call becomes one.
    deadline: Option<Instant>,
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
        let (slot, Some(tool)) = (request.slot.take(), request.route.tool) else {
            return Ok(Self::of_task_request(context, caller, request, upstream));
        };
        let is_limited = context.egress.snapshot().calls(&upstream.server.spec).max_result.is_some();
        if !is_limited && tool.limits().is_none() {
            return Ok(None);
        }
        let Some(profile) = caller.view().map(|cell| cell.profile) else { return Ok(None) };
        let counted = context.state.running_by_tool.count(profile, tool, upstream.name())?;
        let limit = if request.whole || !is_limited {
            None
        } else {
            let tool = LimitedTool::of(upstream, tool, profile);
            ResultLimit::of(context, upstream, tool, request.identity.data_owner())
        };
        let may_be_task = caller.era().shapes.tasks != Tasks::None;
        let timeout = tool.limits().and_then(|limits| limits.timeout).filter(|_| may_be_task);
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let are_there = limit.is_some() || slot.is_some() || counted.is_some() || deadline.is_some();
        Ok(are_there.then(|| Box::new(Self { limit, slot, counted, deadline })))
    }

    /// Returns the rules of a request for the outcome of a task; `None` for any other request.
    fn of_task_request(
        context: &CallContext,
        caller: &Caller,
        request: &Request<'_>,
        upstream: &Upstream,
    ) -> Option<Box<Self>> {
        context.egress.snapshot().calls(&upstream.server.spec).max_result?;
        let method = TaskMethod::from_name(&request.route.method).filter(|_| !request.whole)?;
        let real = match &request.route.rename {
            Some((_, real)) => unquote(real.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?,
            None => request.frame.string(request.frame.param("taskId").ok()??)?,
        };
        let (profile, owner) = (caller.view()?.profile, request.identity.data_owner());
        let limit = ResultLimit::of_task(context, (upstream, &real), (method, profile), owner)?;
        Some(Box::new(Self { limit: Some(limit), slot: None, counted: None, deadline: None }))
    }

    /// Returns true if a long answer of this length may be passed on without being read.
    pub(super) fn pass(&self, length: u64) -> bool {
        self.slot.is_none() && self.limit.as_ref().is_none_or(|limit| limit.admits(length))
    }

    /// Records a message from the server; `key` is the id of the request at the server.
    pub(super) fn hear(&mut self, frame: &Frame, key: u64) {
        if let Some(slot) = &mut self.slot {
            slot.hear(frame, key);
        }
    }

    /// Gives up the cache slot: the request was rewritten, and no longer matches the slot's key.
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

    /// Shortens an outcome to the limit. The outcome, a JSON object, is kept for a client that waits for a task.
    pub(super) fn cut(
        &self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        outcome: Bytes,
    ) -> Bytes {
        let short = self.limit.as_ref().and_then(|limit| limit.shortened(context, identity, era, &outcome));
        short.unwrap_or(outcome)
    }

    /// Returns the rules that apply to the task that the call became.
    pub(super) fn into_task_limits(self) -> TaskLimits {
        let tool = self.limit.as_ref().map(|limit| limit.tool().clone());
        TaskLimits { tool, counted: self.counted, deadline: self.deadline }
    }
}
