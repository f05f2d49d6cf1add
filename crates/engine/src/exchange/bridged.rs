//! The steps of an exchange between different eras.

use std::time::{Duration, Instant};

use proto::bridge::input::{InputAction, RoundsReply, url_questions};
use proto::era::{Asks, is_input_required};
use proto::json::Members;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind, RpcError, code, result_response};

use super::era_translation::Input;
use super::input::{answers, may_ask, no_longer_open, visited};
use super::kept::MissedMessages;
use super::{Binding, Event, Exchange, ExchangeAnswer, Sealer, Step};
use crate::fault::Fault;

/// The time for which questions are collected before they are sent to the client together.
const GATHERING: Duration = Duration::from_millis(10);

/// The delay before the first retry without answers; it doubles with each further retry.
const PAUSE: Duration = Duration::from_millis(100);

/// The maximum number of times that one request may ask its client for input through a result.
const MAX_PARKINGS: u32 = 64;

/// The maximum number of notifications that are kept while a client is away to answer questions from a result.
const MAX_KEPT: usize = 16;

impl Exchange {
    /// Returns true if the upstream is working on the request, so it can be cancelled there.
    pub(super) fn is_upstream(&self) -> bool {
        if self.is_settled() {
            return false;
        }
        let Some(cross) = &self.cross else { return true };
        cross.server().shapes.cancellation && !self.is_waiting()
    }

    /// Returns true if nothing can arrive from the upstream for now: the client must answer first, or a retry is due.
    pub fn is_waiting(&self) -> bool {
        let Some(cross) = &self.cross else { return false };
        matches!(&cross.input, Input::Rounds(rounds) if rounds.waiting() > 0 || self.clock.wake.is_some())
    }

    /// Returns true if the upstream has answered; its later messages belong to other requests.
    pub fn is_answered(&self) -> bool {
        self.reply.is_answered
    }

    /// Returns true if nothing more arrives from the upstream: it has answered, or its stream is gone.
    pub fn is_settled(&self) -> bool {
        self.reply.is_settled || self.rounds.missed.as_ref().is_some_and(|kept| kept.is_over)
    }

    /// Keeps the upstream's messages while the client is away; returns an event that must be handled immediately.
    pub(super) fn keep(&mut self, event: Event) -> Option<Event> {
        let key = self.key;
        let Some(kept) = &mut self.rounds.missed else { return Some(event) };
        let is_progress = |event: &Event| matches!(event, Event::Frame(frame, _) if frame.method() == Notice::Progress.name());
        match &event {
            Event::Frame(frame, _) => match frame.kind() {
                FrameKind::Request => return Some(event),
                FrameKind::Response | FrameKind::Error
                    if frame.id().is_some_and(|id| id.as_number() != Some(key)) => {}
                FrameKind::Notification if Notice::from_name(&frame.method()) == Some(Notice::Cancelled) => {
                    return Some(event);
                }
                _ if kept.is_over => {}
                FrameKind::Response | FrameKind::Error => {
                    (kept.is_over, self.reply.is_answered) = (true, true);
                    kept.events.push(event);
                }
                FrameKind::Notification => {
                    if is_progress(&event) {
                        kept.events.retain(|event| !is_progress(event));
                    } else if kept.events.len() >= MAX_KEPT {
                        return None;
                    }
                    kept.events.push(event);
                }
            },
            Event::Failed(_) if !kept.is_over => {
                kept.is_over = true;
                kept.events.push(event);
            }
            Event::Cancelled(_) => return Some(event),
            _ => {}
        }
        None
    }

    /// Handles a question that the upstream asks by sending a request.
    pub(super) fn asked(&mut self, frame: Frame, now: Instant) {
        // The gateway itself answers a ping, even if the client is away.
        if let (Some(Method::Ping), Some(id)) = (Method::from_name(&frame.method()), frame.id()) {
            self.hear(now, self.clock.is_asking);
            return self.steps.push(Step::Tell(result_response(id, b"{}")));
        }
        self.hear(now, true);
        let Some(cross) = &mut self.cross else { return self.steps.push(Step::Ask(frame)) };
        let refused = match &mut cross.input {
            Input::Parking(parking) => match parking.ask(&frame) {
                Ok(()) => {
                    // A client that is away receives the notification when it returns.
                    if self.rounds.missed.is_none() {
                        self.clock.wake.get_or_insert(now + GATHERING);
                    }
                    return;
                }
                Err(why) => why,
            },
            Input::Same | Input::Rounds(_) => {
                let mut fresh_id =
                    || format!("{}-{}", self.key, frame.id().map_or_else(String::new, ToString::to_string));
                match cross.question(&frame, &mut fresh_id) {
                    Ok(question) => return self.steps.push(Step::Ask(question)),
                    Err(why) => why,
                }
            }
        };
        self.hear(now, false);
        self.steps.push(Step::Refuse(frame, refused.to_string()));
    }

    /// Handles a question that the upstream withdraws.
    pub(super) fn taken_back(&mut self, notice: Frame) {
        let Some(cross) = &mut self.cross else { return self.steps.push(Step::Withdraw(notice)) };
        let tells = cross.client().shapes.cancellation;
        match &mut cross.input {
            Input::Parking(parking) => {
                let id = notice.param("requestId").ok().flatten();
                if let Some(span) = id {
                    parking.withdraw(span.of(notice.text()));
                }
                if parking.is_empty() {
                    self.clock.wake = None;
                }
            }
            Input::Same if !tells => {}
            Input::Same | Input::Rounds(_) => self.steps.push(Step::Withdraw(notice)),
        }
    }

    /// Handles the upstream's answer, in the form of its era.
    pub(super) fn translated(
        &mut self,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        // The request with this id has already been answered.
        if self.is_waiting() || self.task_answered(frame, sealer, binding, now) {
            return;
        }
        let Some(cross) = &mut self.cross else { return };
        let server = cross.server();
        if let Input::Rounds(rounds) = &mut cross.input
            && frame.kind() == FrameKind::Response
            && let Some(result) = is_input_required(server, frame)
        {
            return match rounds.take(frame.text(), &result, &mut minted(self.key)) {
                Ok(InputAction::Ask(questions)) => {
                    self.steps.extend(questions.into_iter().map(Step::Put));
                    self.hear(now, true);
                }
                Ok(InputAction::Again) => {
                    let doublings = rounds.taken().saturating_sub(1).min(5);
                    self.clock.wake = Some(now + PAUSE * (1 << doublings));
                }
                Err(e) => self.fail_upstream(binding, &e.to_string()),
            };
        }
        (self.reply.is_settled, self.reply.is_answered) = (true, true);
        if let Some(answer) = self.pages_first(frame, sealer, binding) {
            self.steps.push(Step::Answer(answer));
            self.open = false;
            return;
        }
        let Some(cross) = &self.cross else { return };
        match cross.answer(frame, self.client.id.json(), &self.client.request) {
            Err(why) => self.fail_upstream(binding, &why),
            Ok((body, error)) => {
                let status = error.map_or(200, |code| self.client.era.relayed_status(code, None));
                self.steps.push(Step::Answer(ExchangeAnswer::upstream(status, body, error.is_none())));
                self.open = false;
            }
        }
    }

    /// The answer that asks a client's user to visit pages before the client retries. It replaces the upstream's
    /// error, which names the pages.
    fn pages_first(
        &self,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Option<ExchangeAnswer> {
        let cross = self.cross.as_ref()?;
        if self.client.era.asks != Asks::InputRequired
            || !may_ask(self.client.era, &self.client.request)
            || !cross.server().shapes.url_error
            || frame.kind() != FrameKind::Error
        {
            return None;
        }
        let (text, error) = (frame.text(), RpcError::of_value(frame.text(), frame.payload()?)?);
        let data = (error.code == code::URL_ELICITATION_REQUIRED).then_some(error.data?)?;
        let data = Members::of_value(text, data)?;
        let state = visited(&self.client.request, sealer, binding);
        let result =
            url_questions(text, &data, self.client.era, &cross.capabilities, &state, &cross.server_info)?;
        Some(ExchangeAnswer::upstream(200, result_response(&self.client.id, &result), true))
    }

    fn fail_upstream(&mut self, binding: Binding<'_>, why: &str) {
        let server = binding.server;
        self.fail(Fault::upstream(server, false, format!("server {server:?} {why}")));
    }

    /// Handles the client's reply to a question from the upstream's result.
    pub(super) fn replied(
        &mut self,
        index: usize,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        if self.bridge.as_ref().is_some_and(|bridge| bridge.asks()) {
            return self.task_replied(index, frame, sealer, binding, now);
        }
        let Some(cross) = &mut self.cross else { return };
        let Input::Rounds(rounds) = &mut cross.input else { return };
        match rounds.reply(index, frame) {
            Ok(RoundsReply::Complete) => self.again(sealer, now),
            Ok(RoundsReply::Waiting | RoundsReply::Unknown) => {}
            Err(e) => self.fail_upstream(binding, &e.to_string()),
        }
    }

    /// Sends the request to its upstream again, under a new id.
    fn again(&mut self, sealer: &dyn Sealer, now: Instant) {
        let key = sealer.fresh_key();
        let Some(outbound) = self.cross.as_ref().and_then(|cross| cross.again(key)) else { return };
        self.key = key;
        self.progress.go_on();
        self.hear(now, false);
        self.steps.push(Step::Send(outbound));
    }

    /// Performs the delayed work that is due.
    pub(super) fn wake(&mut self, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        self.clock.wake = None;
        if self.bridge.as_ref().is_some_and(|bridge| bridge.asks()) {
            return self.look_again(sealer, binding, now);
        }
        match self.cross.as_ref().map(|cross| &cross.input) {
            Some(Input::Rounds(_)) => self.again(sealer, now),
            Some(Input::Parking(parking)) if !parking.is_empty() => self.park(sealer, binding),
            _ => {}
        }
    }

    /// Asks the client through a result. The exchange continues when the client returns.
    fn park(&mut self, sealer: &dyn Sealer, binding: Binding<'_>) {
        self.rounds.number += 1;
        if self.rounds.number > MAX_PARKINGS {
            self.give_up();
            self.cancel_upstream(None);
            return self.fail_upstream(binding, "asked for input too many times");
        }
        let Some(cross) = &self.cross else { return };
        let Input::Parking(parking) = &cross.input else { return };
        let ticket = self.ticket();
        let resumable = self.resumable(parking);
        let state = ticket.seal((&self.client.request, resumable.as_ref()), sealer, binding);
        let result = parking.required(&state, &cross.server_info);
        let body = result_response(&self.client.id, &result);
        self.rounds.missed = Some(MissedMessages::default());
        self.steps.push(Step::Park(ticket, ExchangeAnswer::upstream(200, body, true)));
    }

    /// Continues with `retry`, the client's request with answers to the questions of the last ticket.
    ///
    /// # Errors
    /// Returns the fault to answer with if the answers cannot be read; the exchange then keeps waiting under the same
    /// ticket.
    pub fn resume(
        &mut self,
        retry: Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) -> Result<(), Fault> {
        let id = retry.id().cloned().ok_or_else(|| Fault::gateway("only requests are forwarded"))?;
        let token = retry.meta(proto::mcp::meta::PROGRESS_TOKEN)?.map(|span| span.share(retry.text()));
        let responses = answers(&retry)?;
        let Some(Input::Parking(parking)) = self.cross.as_mut().map(|cross| &mut cross.input) else {
            return Err(no_longer_open());
        };
        let answers = responses.map(|r| parking.answer(retry.text(), &r)).unwrap_or_default();
        let left = parking.len();
        let MissedMessages { events, is_over } = self.rounds.missed.take().unwrap_or_default();
        if !is_over {
            self.steps.extend(answers.into_iter().map(Step::Tell));
        }
        (self.client.id, self.client.token, self.client.request) = (id, token, retry);
        self.clock.started = now;
        self.hear(now, left > 0);
        // Unanswered questions are asked again immediately.
        self.clock.wake = (left > 0).then_some(now);
        for event in events {
            self.feed(event, sealer, binding, now);
        }
        Ok(())
    }

    /// Answers the upstream's open questions on behalf of a client that will not answer them.
    pub(super) fn give_up(&mut self) {
        let settled = self.is_settled();
        let Some(Input::Parking(parking)) = self.cross.as_mut().map(|cross| &mut cross.input) else { return };
        let answers = parking.give_up();
        if !settled {
            self.steps.extend(answers.into_iter().map(Step::Tell));
        }
    }
}

/// Generates ids that are unique in the process, because `key` is unique.
fn minted(key: u64) -> impl FnMut() -> String {
    let mut count = 0;
    move || {
        count += 1;
        format!("{key}-{count}")
    }
}
