//! Tasks in an exchange: replaces their ids if clients see other ids than the upstream's.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
use memchr::memmem::Finder;
use proto::bridge::tasks::{TaskMethod, TaskStep, is_task, wrapped};
use proto::era::is_input_required;
use proto::json::{Members, Span, Splice};
use proto::rpc::{Frame, FrameKind, FrameLimits, RpcError, code, error_response, result_response};

use super::task_bridge::{TaskDirection, TaskEffect};
use super::{Binding, Exchange, ExchangeAnswer, Sealer, Step};
use crate::fault::Fault;
use crate::tasks::{Edits, KnownTask, TaskIds, TaskPlace, message_edits};

impl Exchange {
    /// The edits that replace task ids in an answer. `answer` is already in the client's form.
    ///
    /// # Errors
    /// Returns the fault to answer with instead.
    pub(super) fn names(
        &self,
        answer: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<Edits, Fault> {
        let Some(renaming) = &self.renaming else { return Ok(Edits::new()) };
        renaming.answer(answer, self.ids(sealer, binding), self.place(binding))
    }

    /// A notification with the ids that the client knows; `None` if the client cannot receive it.
    pub(super) fn named(&self, text: Bytes, sealer: &dyn Sealer, binding: Binding<'_>) -> Option<Bytes> {
        match &self.renaming {
            Some(renaming) if may_name(&text) => {
                let frame = Frame::parse(text, FrameLimits::default()).ok()?;
                let (ids, place) = (self.ids(sealer, binding), self.place(binding));
                Some(applied(&frame, &message_edits(&frame, renaming.task(), ids, place).ok()?))
            }
            _ => Some(text),
        }
    }

    /// A question from the upstream with the ids that the client knows.
    ///
    /// # Errors
    /// Returns the question, and the reason why the client cannot be asked.
    pub(super) fn named_question(
        &self,
        question: Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<Frame, (Frame, String)> {
        let Some(renaming) = self.renaming.as_ref().filter(|_| may_name(question.text())) else {
            return Ok(question);
        };
        let (ids, place) = (self.ids(sealer, binding), self.place(binding));
        let named = message_edits(&question, renaming.task(), ids, place)
            .map_err(|fault| fault.message)
            .and_then(|edits| {
                let text = applied(&question, &edits);
                Frame::parse(text, FrameLimits::default()).map_err(|e| e.to_string())
            });
        named.map_err(|why| (question, why))
    }

    /// The params of a question, a JSON object, with the ids that the client knows.
    pub(super) fn named_params(&self, params: Bytes, sealer: &dyn Sealer, binding: Binding<'_>) -> Bytes {
        let text = [b"{\"jsonrpc\":\"2.0\",\"method\":\"\",\"params\":", &params[..], b"}"].concat();
        let named = self.named(text.into(), sealer, binding);
        let frame = named.and_then(|text| Frame::parse(text, FrameLimits::default()).ok());
        let span = frame.as_ref().and_then(|frame| Some(frame.params()?.members.span()));
        match (frame, span) {
            (Some(frame), Some(span)) => span.share(frame.text()),
            _ => params,
        }
    }

    fn ids<'a>(&self, sealer: &'a dyn Sealer, binding: Binding<'a>) -> TaskIds<'a> {
        TaskIds::new(sealer, binding.principal, self.client.era)
    }

    fn place<'a>(&self, binding: Binding<'a>) -> TaskPlace<'a> {
        TaskPlace { server: binding.server, home: self.bridge.as_ref().and_then(|bridge| bridge.home()) }
    }
}

impl Exchange {
    /// The state that the answered call leaves for the gateway to keep.
    pub fn made(&mut self) -> Option<TaskEffect> {
        self.bridge.as_mut()?.made.take()
    }

    /// Handles an answer about a task; returns `false` if the answer is passed on unchanged.
    pub(super) fn task_answered(
        &mut self,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) -> bool {
        let Some(bridge) = &mut self.bridge else { return false };
        let next = match &mut bridge.way {
            TaskDirection::Asks(machine, _) => {
                let nexts = machine.answer(frame);
                self.go(nexts, sealer, binding, now);
                return true;
            }
            TaskDirection::Calls(machine) => match machine.answer(frame) {
                Some(next) => next,
                None => return false,
            },
            TaskDirection::Wraps => match self.wrapped_outcome(frame) {
                Some(next) => next,
                None => return false,
            },
        };
        self.go([next], sealer, binding, now);
        true
    }

    /// The answer to a successful call for which the client requested a task.
    fn wrapped_outcome(&mut self, frame: &Frame) -> Option<TaskStep> {
        let cross = self.cross.as_ref()?;
        if frame.kind() != FrameKind::Response || is_input_required(cross.server(), frame).is_some() {
            return None;
        }
        let (text, payload) = (frame.text(), frame.payload()?);
        let result = Members::of_value(text, payload)?;
        if is_task(text, &result) {
            return wrapped(text, &result).map(TaskStep::Result);
        }
        let (body, error) = cross.answer(frame, self.client.id.json(), &self.client.request).ok()?;
        let answer = Frame::parse(body, FrameLimits::default()).ok().filter(|_| error.is_none())?;
        let outcome = answer.payload()?.share(answer.text());
        if let Some(bridge) = &mut self.bridge {
            bridge.made = Some(TaskEffect::Outcome(outcome.clone()));
        }
        Some(TaskStep::Result(outcome))
    }

    /// Polls a task again after its interval.
    pub(super) fn look_again(&mut self, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        let Some(TaskDirection::Asks(machine, _)) = self.bridge.as_mut().map(|bridge| &mut bridge.way) else {
            return;
        };
        let nexts = machine.waited();
        self.go(nexts, sealer, binding, now);
    }

    /// Handles the client's reply to a question of a task.
    pub(super) fn task_replied(
        &mut self,
        index: usize,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        let Some(TaskDirection::Asks(machine, _)) = self.bridge.as_mut().map(|bridge| &mut bridge.way) else {
            return;
        };
        let nexts = machine.reply(index, frame);
        self.go(nexts, sealer, binding, now);
    }

    /// Performs the next steps of a task machine.
    fn go(
        &mut self,
        nexts: impl IntoIterator<Item = TaskStep>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        for next in nexts {
            match next {
                TaskStep::Send(method, params) => {
                    let Some(bridge) = &self.bridge else { return };
                    self.key = sealer.fresh_key();
                    let outbound = bridge.request(method, &params, self.key);
                    self.clock.wake = None;
                    self.hear(now, false);
                    self.steps.push(Step::Send(outbound));
                }
                TaskStep::Wait(ms) => {
                    self.clock.wake = Some(now + Duration::from_millis(ms));
                    self.hear(now, false);
                }
                TaskStep::Ask(mut question) => {
                    let named = self.named_params(question.params, sealer, binding);
                    question.params = named;
                    self.steps.push(Step::Put(question));
                }
                TaskStep::Result(result) => self.task_result(&result, sealer, binding),
                TaskStep::Error(error) => self.task_error(&error),
                // The module that stores the questions answers such requests without an exchange.
                TaskStep::Questions => {
                    self.fail(Fault::gateway("the gateway does not store the task's questions"));
                }
            }
        }
    }

    fn task_result(&mut self, result: &Bytes, sealer: &dyn Sealer, binding: Binding<'_>) {
        (self.reply.is_settled, self.reply.is_answered) = (true, true);
        let text = result_response(&self.client.id, result);
        let Ok(answer) = Frame::parse(text.clone(), FrameLimits::default()) else {
            return self.fail(Fault::gateway("the task's answer cannot be translated for the client"));
        };
        if let Some(bridge) = &mut self.bridge
            && matches!(bridge.way, TaskDirection::Calls(_))
        {
            let members = answer.payload().and_then(|span| Members::of_value(&text, span));
            let task = members.filter(|members| is_task(&text, members));
            let id = task.and_then(|task| task.get(&text, "taskId"));
            let home = bridge.key;
            bridge.made =
                id.map(|span| TaskEffect::Task { id: Bytes::copy_from_slice(span.of(&text)), home });
        }
        match self.names(&answer, sealer, binding) {
            Err(fault) => self.fail(fault),
            Ok(edits) => {
                let mut splice = Splice::new(&text);
                for (span, name) in &edits {
                    splice.replace(*span, name);
                }
                if let Some(bridge) = &mut self.bridge
                    && let (TaskDirection::Wraps, None, Some((span, shown))) =
                        (&bridge.way, &bridge.made, edits.first())
                {
                    let real = answer.string(*span).unwrap_or_default().into_owned();
                    bridge.made = Some(TaskEffect::Known(KnownTask { real, shown: shown.clone() }));
                }
                self.finish(ExchangeAnswer::upstream(200, splice.finish(), true));
            }
        }
    }

    fn task_error(&mut self, error: &Bytes) {
        (self.reply.is_settled, self.reply.is_answered) = (true, true);
        let read = RpcError::of_value(error, Span::new(0, error.len()));
        let status = read.map_or(200, |read| self.client.era.relayed_status(read.code, None));
        let id = self.client.id.json();
        let body = match read {
            Some(_) => {
                [b"{\"jsonrpc\":\"2.0\",\"id\":", &id[..], b",\"error\":", error, b"}"].concat().into()
            }
            None => error_response(
                Some(&self.client.id),
                code::INTERNAL_ERROR,
                "the server's error is malformed",
                None,
            ),
        };
        self.finish(ExchangeAnswer::upstream(status, body, false));
    }

    /// Tells the upstream that nobody waits for the outcome of a task any more.
    pub(super) fn cancel_task(&mut self, sealer: &dyn Sealer) {
        let Some(bridge) = &self.bridge else { return };
        let TaskDirection::Calls(machine) = &bridge.way else { return };
        let Some(id) = machine.unattended() else { return };
        let params = [b"\"taskId\":", &id[..]].concat();
        let outbound = bridge.request(TaskMethod::Cancel, &params, sealer.fresh_key());
        self.steps.push(Step::Tell(outbound.body));
    }
}

/// The finder for `taskId`. The finder is built only once, because building one costs more than most searches.
static NAMES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("taskId"));
static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));

/// Returns true if a message may name a task. Hardly any message does, and this search is far cheaper than
/// parsing each one.
fn may_name(text: &[u8]) -> bool {
    NAMES.find(text).is_some() || ESCAPES.find(text).is_some()
}

fn applied(frame: &Frame, edits: &Edits) -> Bytes {
    let mut splice = Splice::new(frame.text());
    for (span, name) in edits {
        splice.replace(*span, name);
    }
    splice.finish()
}
