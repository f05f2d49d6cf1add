//! The state machine of one forwarded request.

use std::time::Instant;

use bytes::Bytes;
use proto::era::{Era, is_input_required, says_complete};
use proto::json::Splice;
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, FrameKind, Id, IdSwap, RpcError, code, result_response};
use smallvec::SmallVec;

use super::clock::ExchangeClock;
use super::era_translation::EraTranslation;
use super::input::{may_ask, wrap_state};
use super::kept::MissedMessages;
use super::outbound::{Mirror, check_mirrored};
use super::position::StreamPosition;
use super::prepare::{check_arguments, digits, outbound};
use super::progress::RequestProgress;
use super::start::Start;
use super::task_bridge::TaskBridge;
use super::{Binding, Event, ExchangeAnswer, Sealer, Step};
use crate::catalogue::ServerUris;
use crate::fault::Fault;
use crate::tasks::Renaming;

/// One forwarded request, from its first step to its last.
#[derive(Debug)]
pub struct Exchange {
    pub(super) client: ClientRequest,
    /// The additional state if the upstream uses another era.
    pub(super) cross: Option<Box<EraTranslation>>,
    /// The replacement of task ids, if there is any.
    pub(super) renaming: Option<Renaming>,
    /// The upstream's URIs as clients know them; `None` if all URIs stay unchanged.
    pub(super) uris: Option<Box<ServerUris>>,
    /// The additional state if the upstream uses another form of tasks.
    pub(super) bridge: Option<Box<TaskBridge>>,
    /// The request's id at the upstream.
    pub(super) key: u64,
    pub(super) progress: RequestProgress,
    pub(super) clock: ExchangeClock,
    pub(super) reply: ReplyState,
    pub(super) rounds: InputRounds,
    /// The pending steps, in order; there is rarely more than one.
    pub(super) steps: SmallVec<[Step; 2]>,
    pub(super) open: bool,
}

/// The request as its client sent it.
#[derive(Debug)]
pub(super) struct ClientRequest {
    pub(super) request: Frame,
    pub(super) era: &'static Era,
    pub(super) id: Id,
    /// The token for progress notifications, if the client wants them.
    pub(super) token: Option<Bytes>,
}

/// The part of the upstream's reply that has arrived.
#[derive(Debug, Default)]
pub(super) struct ReplyState {
    /// True if the upstream has answered, or its stream has ended.
    pub(super) is_settled: bool,
    /// True if the upstream has answered.
    pub(super) is_answered: bool,
    /// True if the upstream answered that the request's headers do not match.
    is_header_mismatch: bool,
}

/// The rounds in which a result asks the client for input.
#[derive(Debug, Default)]
pub(super) struct InputRounds {
    /// The number of times that the client was asked.
    pub(super) number: u32,
    /// The upstream's messages since the client was asked; kept until the client returns.
    pub(super) missed: Option<MissedMessages>,
    /// The additional state for other processes that may have to continue; `None` if none can.
    pub(super) shared: Option<Box<SharedRounds>>,
}

/// The additional state of a request that other processes can continue.
#[derive(Debug, Default)]
pub(super) struct SharedRounds {
    /// The place from which the upstream's messages continue.
    pub(super) position: Option<StreamPosition>,
    /// The number of this process's tickets for a request that it continues: another process has chosen the request's id.
    pub(super) ticket: Option<u64>,
}

impl Exchange {
    /// Checks the request and prepares its first step.
    ///
    /// # Errors
    /// Returns the fault to answer with if nothing is sent.
    pub fn begin(mut start: Start<'_>) -> Result<Self, Fault> {
        check_mirrored(&start.frame, start.route.tool, (start.client, start.headers))?;
        start.set_arguments()?;
        let Start { frame, key, now, .. } = &start;
        let id = frame.id().cloned().ok_or_else(|| Fault::gateway("only requests are forwarded"))?;
        let arguments = frame.param("arguments")?;
        let mut steps = SmallVec::new();
        let mut open = true;
        let mut cross = None;
        let bridge = TaskBridge::of(&start)?.map(Box::new);
        if let Some(misfit) = check_arguments(&start, arguments)? {
            let body = result_response(&id, &misfit);
            steps.push(Step::Answer(ExchangeAnswer::upstream(200, body, false)));
            open = false;
        } else {
            let (out, said) = outbound(&start, bridge.as_deref())?;
            cross = (start.client != start.server)
                .then(|| Box::new(EraTranslation::new(&start, said, out.mirror.clone())));
            steps.push(Step::Send(out));
        }
        let token = frame.meta(meta::PROGRESS_TOKEN)?.map(|span| span.share(frame.text()));
        let (key, now) = (*key, *now);
        let renaming = start.renaming();
        let uris = start.route.uris.take();
        Ok(Self {
            clock: ExchangeClock::new(start.timeouts, now),
            client: ClientRequest { request: start.frame, era: start.client, id, token },
            cross,
            renaming,
            uris,
            bridge,
            key,
            progress: RequestProgress::default(),
            reply: ReplyState::default(),
            rounds: InputRounds::default(),
            steps,
            open,
        })
    }

    /// The next step, if there is one now.
    pub fn poll(&mut self) -> Option<Step> {
        (!self.steps.is_empty()).then(|| self.steps.remove(0))
    }

    /// The time at which [`Event::Expired`] is due. While the upstream waits for the client, only the total time
    /// counts.
    pub fn deadline(&self) -> Instant {
        self.clock.deadline()
    }

    /// Returns true if the upstream answered that the headers do not match the request.
    pub fn is_header_mismatch(&self) -> bool {
        self.reply.is_header_mismatch
    }

    /// The client's request.
    pub fn request(&self) -> &Frame {
        &self.client.request
    }

    /// The headers that mirror the request, if it is sent in the form of another era that has such headers.
    pub fn mirror(&self) -> Option<&Mirror> {
        self.cross.as_ref().and_then(|cross| cross.mirror())
    }

    /// The request's id at the upstream.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The id that the client gave to the request.
    pub fn id(&self) -> &Id {
        &self.client.id
    }

    /// Returns the replacement of the id if an answer that starts with `head` may be passed on without being
    /// parsed. The exchange is then over.
    pub fn pass(&mut self, head: &[u8]) -> Option<IdSwap> {
        if self.cross.is_some()
            || self.uris.is_some()
            || self.renaming.as_ref().is_some_and(Renaming::reads_all)
            || (may_ask(self.client.era, &self.client.request) && !says_complete(head))
        {
            return None;
        }
        (self.open, self.reply.is_settled, self.reply.is_answered) = (false, true, true);
        Some(IdSwap::new(Bytes::from(self.key.to_string()), self.client.id.json().clone()))
    }

    /// Handles an event. `sealer` and `binding` must be the same as at the start of the exchange, except for the
    /// time.
    pub fn feed(&mut self, event: Event, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        if !self.open {
            return;
        }
        let Some(event) = self.keep(event) else { return };
        match event {
            Event::Frame(frame, status) => self.frame(frame, status, sealer, binding, now),
            Event::Failed(failure) => {
                self.reply.is_settled = true;
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
            Event::Expired if self.clock.is_awake(now) => self.wake(sealer, binding, now),
            Event::Expired if now >= self.deadline() => self.expire(sealer, binding.server, now),
            Event::Unreached if now >= self.deadline() => self.unreached(binding.server, now),
            Event::Expired | Event::Unreached => {}
        }
    }

    /// Restarts the idle time, because the upstream sent a message or received its answer. If the upstream is now
    /// `asking` the client, the idle time does not count.
    pub(super) fn hear(&mut self, now: Instant, asking: bool) {
        self.clock.hear(now, asking);
    }

    fn frame(
        &mut self,
        frame: Frame,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        let frame = match &self.uris {
            Some(uris) => uris.published(frame),
            None => frame,
        };
        match frame.kind() {
            FrameKind::Response | FrameKind::Error => {
                // A message with an id that is not ours does not answer our request. A message without an id answers
                // a message that could not be read.
                if frame.id().is_some_and(|id| id.as_number() != Some(self.key)) {
                    return;
                }
                if frame.kind() == FrameKind::Error {
                    let error = frame.payload().and_then(|error| RpcError::of_value(frame.text(), error));
                    self.reply.is_header_mismatch =
                        error.is_some_and(|error| error.code == code::HEADER_MISMATCH);
                }
                if self.cross.is_some() {
                    return self.translated(&frame, sealer, binding, now);
                }
                (self.reply.is_settled, self.reply.is_answered) = (true, true);
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

    /// The client's answer: the upstream's answer with the client's id and, if it asks for input, with a sealed
    /// state.
    fn answer(
        &self,
        frame: &Frame,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<ExchangeAnswer, Fault> {
        let text = frame.text();
        let names = self.names(frame, sealer, binding)?;
        let state = is_input_required(self.client.era, frame)
            .filter(|_| may_ask(self.client.era, &self.client.request))
            .and_then(|result| result.get(text, "requestState"));
        let wrapped =
            state.map(|span| (span, wrap_state(span.of(text), &self.client.request, sealer, binding)));
        let mut splice = Splice::new(text);
        match frame.id_span() {
            Some(span) => splice.replace(span, self.client.id.json()),
            None => splice.set(frame.members(), b"id", self.client.id.json()),
        };
        if let Some((span, wrapped)) = &wrapped {
            splice.replace(*span, wrapped.as_bytes());
        }
        for (span, name) in &names {
            splice.replace(*span, name);
        }
        let error = frame.payload().filter(|_| frame.kind() == FrameKind::Error);
        let error = error.and_then(|span| RpcError::of_value(text, span));
        let status = error.as_ref().map_or(200, |error| self.client.era.relayed_status(error.code, status));
        Ok(ExchangeAnswer::upstream(status, splice.finish(), error.is_none()))
    }

    pub(super) fn finish(&mut self, answer: ExchangeAnswer) {
        self.steps.push(Step::Answer(answer));
        self.open = false;
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        let status = fault.http_status(self.client.era);
        self.steps.push(Step::Answer(ExchangeAnswer::fault(status, fault, &self.client.id)));
        self.open = false;
    }

    /// Cancels the request at the upstream, under our own id. Other members of the client's notification are kept.
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
