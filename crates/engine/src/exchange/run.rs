//! The state machine of one forwarded request.

use std::time::Instant;

use bytes::Bytes;
use proto::era::{Era, is_input_required, says_complete};
use proto::json::Splice;
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, FrameKind, Id, IdSwap, RpcError, code, result_response};
use smallvec::SmallVec;

use super::cross::Cross;
use super::input::{may_ask, wrap_state};
use super::kept::MissedMessages;
use super::outbound::{Mirror, check_param_headers};
use super::prepare::{check_arguments, digits, outbound};
use super::progress::RequestProgress;
use super::start::Start;
use super::task_bridge::TaskBridge;
use super::{Binding, Event, ExchangeAnswer, Execution, LinkFailure, Sealer, Step, Timeouts};
use crate::fault::Fault;
use crate::tasks::Renaming;

/// One forwarded request, from its first step to its last.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of the upstream or the client; most combine"
)]
#[derive(Debug)]
pub struct Exchange {
    pub(super) request: Frame,
    pub(super) era: &'static Era,
    /// The additional state if the upstream uses another era.
    pub(super) cross: Option<Box<Cross>>,
    /// The replacement of task ids, if there is any.
    pub(super) renaming: Option<Renaming>,
    /// The additional state if the upstream uses another form of tasks.
    pub(super) bridge: Option<Box<TaskBridge>>,
    pub(super) id: Id,
    pub(super) key: u64,
    pub(super) token: Option<Bytes>,
    pub(super) progress: RequestProgress,
    timeouts: Timeouts,
    pub(super) started: Instant,
    heard: Instant,
    /// True if the upstream waits for the client's answer and is therefore silent.
    pub(super) asking: bool,
    /// The time of the next delayed step: questions are collected, and a retry is delayed.
    pub(super) wake: Option<Instant>,
    /// The number of times that the client was asked through a result.
    pub(super) round: u32,
    /// The upstream's messages after the client was asked through a result, until the client returns.
    pub(super) kept: Option<MissedMessages>,
    /// True if the upstream has answered, or its stream has ended.
    pub(super) settled: bool,
    /// True if it has answered.
    pub(super) answered: bool,
    /// True if it answered that the request's headers do not match.
    header_mismatch: bool,
    /// The pending steps in order; rarely more than one.
    pub(super) steps: SmallVec<[Step; 2]>,
    pub(super) open: bool,
}

impl Exchange {
    /// Checks the request and prepares its first step.
    ///
    /// # Errors
    /// The fault to answer with if nothing is sent.
    pub fn begin(start: Start<'_>) -> Result<Self, Fault> {
        let Start { frame, route, key, now, .. } = &start;
        let id = frame.id().cloned().ok_or_else(|| Fault::gateway("only requests are forwarded"))?;
        let arguments = frame.param("arguments")?;
        let mut steps = SmallVec::new();
        let mut open = true;
        let mut cross = None;
        let bridge = TaskBridge::of(&start)?.map(Box::new);
        if let (Some(tool), Some(headers)) = (route.tool, start.headers)
            && start.client.mirrored_headers
        {
            check_param_headers(frame, tool, arguments, headers)?;
        }
        if let Some(misfit) = check_arguments(&start, arguments)? {
            let body = result_response(&id, &misfit);
            steps.push(Step::Answer(ExchangeAnswer::upstream(200, body, false)));
            open = false;
        } else {
            let (out, said) = outbound(&start, bridge.as_deref())?;
            cross = (start.client != start.server)
                .then(|| Box::new(Cross::new(&start, said, out.mirror.clone())));
            steps.push(Step::Send(out));
        }
        let token = frame.meta(meta::PROGRESS_TOKEN)?.map(|span| span.share(frame.text()));
        let (key, now) = (*key, *now);
        let renaming = start.renaming();
        Ok(Self {
            timeouts: start.timeouts,
            request: start.frame,
            era: start.client,
            cross,
            renaming,
            bridge,
            id,
            key,
            token,
            progress: RequestProgress::default(),
            started: now,
            heard: now,
            asking: false,
            wake: None,
            round: 0,
            kept: None,
            settled: false,
            answered: false,
            header_mismatch: false,
            steps,
            open,
        })
    }

    /// The next step, if there is one now.
    pub fn poll(&mut self) -> Option<Step> {
        (!self.steps.is_empty()).then(|| self.steps.remove(0))
    }

    /// The time when [`Event::Expired`] is due. While the upstream waits for the client, only the total time counts.
    pub fn deadline(&self) -> Instant {
        let overall = self.started + self.timeouts.overall;
        let due = if self.asking { overall } else { overall.min(self.heard + self.timeouts.idle) };
        self.wake.map_or(due, |wake| due.min(wake))
    }

    /// Returns true if the upstream answered that the headers do not match the request.
    pub fn is_header_mismatch(&self) -> bool {
        self.header_mismatch
    }

    /// The client's request.
    pub fn request(&self) -> &Frame {
        &self.request
    }

    /// The headers that mirror the request, if it is sent in the form of another era that has such headers.
    pub fn mirror(&self) -> Option<&Mirror> {
        self.cross.as_ref().and_then(|cross| cross.mirror())
    }

    /// The id under which the upstream knows the request.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The id that the client gave the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Returns a value if an answer that starts with `head` may be passed on unread. The exchange is then over, and
    /// the returned value replaces the answer's id.
    pub fn pass(&mut self, head: &[u8]) -> Option<IdSwap> {
        if self.cross.is_some()
            || self.renaming.as_ref().is_some_and(Renaming::reads_all)
            || (may_ask(self.era, &self.request) && !says_complete(head))
        {
            return None;
        }
        (self.open, self.settled, self.answered) = (false, true, true);
        Some(IdSwap::new(Bytes::from(self.key.to_string()), self.id.json().clone()))
    }

    /// Takes an event. `sealer` and `binding` must be the ones with which the exchange began, except for the
    /// time.
    pub fn feed(&mut self, event: Event, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        if !self.open {
            return;
        }
        let Some(event) = self.keep(event) else { return };
        match event {
            Event::Frame(frame, status) => self.frame(frame, status, sealer, binding, now),
            Event::Failed(failure) => {
                self.settled = true;
                self.fail(failure.fault(binding.server));
            }
            Event::Cancelled(notice) => {
                self.give_up();
                self.cancel_task(sealer);
                self.cancel_upstream(notice.as_ref());
                self.steps.push(Step::End);
                self.open = false;
            }
            Event::Answered => self.hear(now, false),
            Event::Replied(index, frame) => self.replied(index, &frame, sealer, binding, now),
            Event::Expired if self.wake.is_some_and(|wake| now >= wake) => self.wake(sealer, binding, now),
            Event::Expired if now >= self.deadline() => self.expire(sealer, binding.server, now),
            Event::Unreached if now >= self.deadline() => self.unreached(binding.server, now),
            Event::Expired | Event::Unreached => {}
        }
    }

    /// Records that the upstream sent a message or received an answer. From now on its time counts, unless it
    /// is `asking`.
    pub(super) fn hear(&mut self, now: Instant, asking: bool) {
        self.heard = now;
        self.asking = asking;
    }

    fn frame(
        &mut self,
        frame: Frame,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        match frame.kind() {
            FrameKind::Response | FrameKind::Error => {
                // A message with an id that is not ours does not answer our request. A missing id answers a message
                // that could not be read.
                if frame.id().is_some_and(|id| id.as_number() != Some(self.key)) {
                    return;
                }
                if frame.kind() == FrameKind::Error {
                    let error = frame.payload().and_then(|error| RpcError::of_value(frame.text(), error));
                    self.header_mismatch = error.is_some_and(|error| error.code == code::HEADER_MISMATCH);
                }
                if self.cross.is_some() {
                    return self.translated(&frame, sealer, binding, now);
                }
                (self.settled, self.answered) = (true, true);
                match self.answer(&frame, status, sealer, binding) {
                    Ok(answer) => self.finish(answer),
                    Err(fault) => self.fail(fault),
                }
            }
            FrameKind::Notification => {
                self.hear(now, false);
                match Notice::from_name(&frame.method()) {
                    Some(Notice::Progress) => {
                        if let Some(text) = self.progress(&frame) {
                            self.steps.push(Step::Relay(text));
                        }
                    }
                    Some(Notice::Cancelled) => self.taken_back(frame),
                    _ => {
                        let text = match &self.cross {
                            None => Some(frame.text().clone()),
                            Some(cross) => cross.notification(&frame),
                        };
                        let text = text.and_then(|text| self.named(text, sealer, binding));
                        self.steps.extend(text.map(Step::Relay));
                    }
                }
            }
            FrameKind::Request => match self.named_question(frame, sealer, binding) {
                Ok(question) => self.asked(question, now),
                Err((question, why)) => self.steps.push(Step::Refuse(question, why)),
            },
        }
    }

    /// The client's answer: the upstream's, with the client's id and, if it asks for input, with a sealed state.
    fn answer(
        &self,
        frame: &Frame,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<ExchangeAnswer, Fault> {
        let text = frame.text();
        let names = self.names(frame, sealer, binding)?;
        let state = is_input_required(self.era, frame)
            .filter(|_| may_ask(self.era, &self.request))
            .and_then(|result| result.get(text, "requestState"));
        let wrapped = state.map(|span| (span, wrap_state(span.of(text), &self.request, sealer, binding)));
        let mut splice = Splice::new(text);
        match frame.id_span() {
            Some(span) => splice.replace(span, self.id.json()),
            None => splice.set(frame.members(), b"id", self.id.json()),
        };
        if let Some((span, wrapped)) = &wrapped {
            splice.replace(*span, wrapped.as_bytes());
        }
        for (span, name) in &names {
            splice.replace(*span, name);
        }
        let error = frame.payload().filter(|_| frame.kind() == FrameKind::Error);
        let error = error.and_then(|span| RpcError::of_value(text, span));
        let status = error.as_ref().map_or(200, |error| self.era.relayed_status(error.code, status));
        Ok(ExchangeAnswer::upstream(status, splice.finish(), error.is_none()))
    }

    pub(super) fn finish(&mut self, answer: ExchangeAnswer) {
        self.steps.push(Step::Answer(answer));
        self.open = false;
    }

    fn expire(&mut self, sealer: &dyn Sealer, server: &str, now: Instant) {
        let waited = now.duration_since(self.started).as_secs();
        self.give_up();
        self.cancel_task(sealer);
        self.cancel_upstream(None);
        if self.is_waiting() {
            let message = format!(
                "server {server:?} needs the client's answer to a question, and none arrived within {waited} s"
            );
            return self.fail(Fault::upstream(server, false, message));
        }
        let message = format!(
            "did not answer {:?} within {waited} s; it may be overloaded or stuck; raise its `timeout` if it needs longer",
            self.request.method()
        );
        let failure = LinkFailure { message, execution: Execution::Unknown, retry: false };
        self.fail(failure.fault(server));
    }

    fn unreached(&mut self, server: &str, now: Instant) {
        let waited = now.duration_since(self.started).as_secs();
        let message = format!(
            "could not be reached within {waited} s, so {:?} was not sent; it may be starting or overloaded",
            self.request.method()
        );
        let failure = LinkFailure { message, execution: Execution::NotExecuted, retry: true };
        self.fail(failure.fault(server));
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        let status = fault.http_status(self.era);
        self.steps.push(Step::Answer(ExchangeAnswer::fault(status, fault, &self.id)));
        self.open = false;
    }

    /// Cancels at the upstream under our own id; the client's notification keeps its other members.
    pub(super) fn cancel_upstream(&mut self, notice: Option<&Frame>) {
        if !self.is_upstream() {
            return;
        }
        let known = notice.and_then(|n| Some((n, n.param("requestId").ok().flatten()?)));
        let text = match known {
            Some((notice, span)) => {
                let key = digits(self.key);
                let mut splice = Splice::new(notice.text());
                splice.replace(span, &key);
                splice.finish()
            }
            None => {
                proto::era::notice(Notice::Cancelled.name(), format!("\"requestId\":{}", self.key).as_bytes())
            }
        };
        self.steps.push(Step::Cancel(text));
    }
}
