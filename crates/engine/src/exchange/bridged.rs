//! The steps of an exchange between different eras.

use std::time::{Duration, Instant};

use proto::bridge::input::{Reply, Turn, url_questions};
use proto::era::{Asks, is_input_required};
use proto::json::Members;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Kind, RpcError, code, result_response};

use super::cross::Input;
use super::input::{answers, may_ask, no_longer_open, visited};
use super::kept::Kept;
use super::{Answer, Binding, Event, Exchange, Sealer, Step, Ticket};
use crate::fault::Fault;

/// The time for which questions are gathered before they go to the client together.
const GATHERING: Duration = Duration::from_millis(10);

/// The time for which the first retry waits that has nothing to bring; each later one twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The number of times that a client may be asked by results for one request.
const MAX_PARKINGS: u32 = 64;

/// The number of notices that are kept for a client that was asked by a result, until it comes back.
const MAX_KEPT: usize = 16;

impl Exchange {
    /// Returns true if its request is with the upstream now, so that it can be cancelled there.
    pub(super) fn is_upstream(&self) -> bool {
        if self.is_settled() {
            return false;
        }
        let Some(cross) = &self.cross else { return true };
        cross.server().shapes.cancellation && !self.is_waiting()
    }

    /// Returns true if nothing can come from the upstream for now: the client has to answer first, or a retry is due.
    pub fn is_waiting(&self) -> bool {
        let Some(cross) = &self.cross else { return false };
        matches!(&cross.input, Input::Rounds(rounds) if rounds.waiting() > 0 || self.wake.is_some())
    }

    /// Returns true if its upstream has answered, so that whatever is said there from now on belongs to something else.
    pub fn is_answered(&self) -> bool {
        self.answered
    }

    /// Returns true if nothing more comes from its upstream: it has answered, or its stream is gone.
    pub fn is_settled(&self) -> bool {
        self.settled || self.kept.as_ref().is_some_and(|kept| kept.is_over)
    }

    /// Keeps what the upstream says while the client is away; gives back what is to be acted on at once.
    pub(super) fn keep(&mut self, event: Event) -> Option<Event> {
        let key = self.key;
        let Some(kept) = &mut self.kept else { return Some(event) };
        let is_progress = |event: &Event| matches!(event, Event::Frame(frame, _) if frame.method() == Notice::Progress.name());
        match &event {
            Event::Frame(frame, _) => match frame.kind() {
                Kind::Request => return Some(event),
                Kind::Response | Kind::Error if frame.id().is_some_and(|id| id.as_number() != Some(key)) => {}
                Kind::Notification if Notice::from_name(&frame.method()) == Some(Notice::Cancelled) => {
                    return Some(event);
                }
                _ if kept.is_over => {}
                Kind::Response | Kind::Error => {
                    (kept.is_over, self.answered) = (true, true);
                    kept.events.push(event);
                }
                Kind::Notification => {
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

    /// The upstream asks by a request of its own.
    pub(super) fn asked(&mut self, frame: Frame, now: Instant) {
        // Whether somebody is here is the gateway's to say, whoever is away.
        if let (Some(Method::Ping), Some(id)) = (Method::from_name(&frame.method()), frame.id()) {
            self.hear(now, self.asking);
            return self.steps.push(Step::Tell(result_response(id, b"{}")));
        }
        self.hear(now, true);
        let Some(cross) = &mut self.cross else { return self.steps.push(Step::Ask(frame)) };
        let refused = match &mut cross.input {
            Input::Parking(parking) => match parking.ask(&frame) {
                Ok(()) => {
                    // A client that is away hears of it when it comes back.
                    if self.kept.is_none() {
                        self.wake.get_or_insert(now + GATHERING);
                    }
                    return;
                }
                Err(why) => why,
            },
            Input::Same | Input::Rounds(_) => {
                let mut mint =
                    || format!("{}-{}", self.key, frame.id().map_or_else(String::new, ToString::to_string));
                match cross.question(&frame, &mut mint) {
                    Ok(question) => return self.steps.push(Step::Ask(question)),
                    Err(why) => why,
                }
            }
        };
        self.hear(now, false);
        self.steps.push(Step::Refuse(frame, refused.to_string()));
    }

    /// The upstream takes a question back.
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
                    self.wake = None;
                }
            }
            Input::Same if !tells => {}
            Input::Same | Input::Rounds(_) => self.steps.push(Step::Withdraw(notice)),
        }
    }

    /// The upstream's answer, in its own words.
    pub(super) fn translated(
        &mut self,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        // What was asked under this id is answered.
        if self.is_waiting() || self.task_answered(frame, sealer, binding, now) {
            return;
        }
        let Some(cross) = &mut self.cross else { return };
        let server = cross.server();
        if let Input::Rounds(rounds) = &mut cross.input
            && frame.kind() == Kind::Response
            && let Some(result) = is_input_required(server, frame)
        {
            return match rounds.take(frame.text(), &result, &mut minted(self.key)) {
                Ok(Turn::Ask(questions)) => {
                    self.steps.extend(questions.into_iter().map(Step::Put));
                    self.hear(now, true);
                }
                Ok(Turn::Again) => {
                    let doublings = rounds.taken().saturating_sub(1).min(5);
                    self.wake = Some(now + PAUSE * (1 << doublings));
                }
                Err(e) => self.fail_upstream(binding, &e.to_string()),
            };
        }
        (self.settled, self.answered) = (true, true);
        if let Some(answer) = self.pages_first(frame, sealer, binding) {
            self.steps.push(Step::Answer(answer));
            self.open = false;
            return;
        }
        let Some(cross) = &self.cross else { return };
        match cross.answer(frame, self.id.json(), &self.request) {
            Err(why) => self.fail_upstream(binding, &why),
            Ok((body, error)) => {
                let status = error.map_or(200, |code| self.era.relayed_status(code, None));
                self.steps.push(Step::Answer(Answer::said(status, body, error.is_none())));
                self.open = false;
            }
        }
    }

    /// The answer that sends a client's user to pages, in the place of an error that names them.
    fn pages_first(&self, frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> Option<Answer> {
        let cross = self.cross.as_ref()?;
        if self.era.asks != Asks::InputRequired
            || !may_ask(self.era, &self.request)
            || !cross.server().shapes.url_error
            || frame.kind() != Kind::Error
        {
            return None;
        }
        let (text, error) = (frame.text(), RpcError::of_value(frame.text(), frame.payload()?)?);
        let data = (error.code == code::URL_ELICITATION_REQUIRED).then_some(error.data?)?;
        let data = Members::of_value(text, data)?;
        let state = visited(&self.request, sealer, binding);
        let result = url_questions(text, &data, self.era, &cross.capabilities, &state, &cross.server_info)?;
        Some(Answer::said(200, result_response(&self.id, &result), true))
    }

    fn fail_upstream(&mut self, binding: Binding<'_>, why: &str) {
        let server = binding.server;
        self.fail(Fault::upstream(server, false, format!("server {server:?} {why}")));
    }

    /// The client's reply to a question that the upstream's result had.
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
            Ok(Reply::Complete) => self.again(sealer, now),
            Ok(Reply::Waiting | Reply::Unknown) => {}
            Err(e) => self.fail_upstream(binding, &e.to_string()),
        }
    }

    /// The request goes to its upstream once more, under a new id.
    fn again(&mut self, sealer: &dyn Sealer, now: Instant) {
        let key = sealer.fresh_key();
        let Some(outbound) = self.cross.as_ref().and_then(|cross| cross.again(key)) else { return };
        self.key = key;
        self.progress.go_on();
        self.hear(now, false);
        self.steps.push(Step::Send(outbound));
    }

    /// What waited is due.
    pub(super) fn wake(&mut self, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        self.wake = None;
        if self.bridge.as_ref().is_some_and(|bridge| bridge.asks()) {
            return self.look_again(sealer, binding, now);
        }
        match self.cross.as_ref().map(|cross| &cross.input) {
            Some(Input::Rounds(_)) => self.again(sealer, now),
            Some(Input::Parking(parking)) if !parking.is_empty() => self.park(sealer, binding),
            _ => {}
        }
    }

    /// Asks the client by a result. The exchange goes on when the client comes back.
    fn park(&mut self, sealer: &dyn Sealer, binding: Binding<'_>) {
        self.round += 1;
        if self.round > MAX_PARKINGS {
            self.give_up();
            self.cancel_upstream(None);
            return self.fail_upstream(binding, "asked for input too often without coming to an end");
        }
        let ticket = Ticket { key: self.key, round: self.round };
        let state = ticket.seal(&self.request, sealer, binding);
        let Some(cross) = &self.cross else { return };
        let Input::Parking(parking) = &cross.input else { return };
        let result = parking.required(&state, &cross.server_info);
        let body = result_response(&self.id, &result);
        self.kept = Some(Kept::default());
        self.steps.push(Step::Park(ticket, Answer::said(200, body, true)));
    }

    /// The client has come back: `retry` is its request with answers to what it was asked under the last ticket.
    ///
    /// # Errors
    /// The fault to answer with, when the answers cannot be read; the exchange then waits as before, under the same
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
        let Kept { events, is_over } = self.kept.take().unwrap_or_default();
        if !is_over {
            self.steps.extend(answers.into_iter().map(Step::Tell));
        }
        (self.id, self.token, self.request) = (id, token, retry);
        self.started = now;
        self.hear(now, left > 0);
        // What was not answered is asked again at once.
        self.wake = (left > 0).then_some(now);
        for event in events {
            self.feed(event, sealer, binding, now);
        }
        Ok(())
    }

    /// Answers the upstream's open questions in the place of a client that will not.
    pub(super) fn give_up(&mut self) {
        let settled = self.is_settled();
        let Some(Input::Parking(parking)) = self.cross.as_mut().map(|cross| &mut cross.input) else { return };
        let answers = parking.give_up();
        if !settled {
            self.steps.extend(answers.into_iter().map(Step::Tell));
        }
    }
}

/// Ids that nothing else in the process has, as `key` has not.
fn minted(key: u64) -> impl FnMut() -> String {
    let mut count = 0;
    move || {
        count += 1;
        format!("{key}-{count}")
    }
}
