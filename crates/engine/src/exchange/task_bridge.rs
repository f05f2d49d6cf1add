//! Tasks in an exchange whose two sides speak of them in different ways, or one of them not at all.

use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::bridge::tasks::{
    AS_TASK, LegacyToModern, ModernToLegacy, Next, Sides, TaskMethod, TaskSupport, declares_extension,
    is_task, with_extension, wrapped,
};
use proto::codec::headers::encode_value;
use proto::era::{Era, Tasks, is_input_required, own_meta};
use proto::json::{Members, Span, Splice, unquote};
use proto::rpc::{Frame, FrameLimits, Kind, RpcError, code, error_response, result_response};

use super::{Answer, Binding, Exchange, Mirror, Outbound, Sealer, Start, Step, TaskNames};
use crate::catalogue::UpstreamId;
use crate::fault::Fault;
use crate::tasks::KnownTask;

/// What an answered call leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// A task of the upstream, whose link is needed as long as it lasts.
    Task {
        /// The upstream's own id, a JSON string.
        id: Bytes,
        /// The number under which the client's id looks for it.
        home: u64,
    },
    /// A task of which the upstream may tell more, under both names.
    Known(KnownTask),
    /// An outcome, a JSON object in the client's words, for a client that waits for a task.
    Outcome(Bytes),
}

#[derive(Debug)]
enum Way {
    /// A call that the client wants as a task, and whose server decides by itself.
    Wraps,
    /// A request about a task.
    Asks(Box<LegacyToModern>, Bytes),
    /// A call that is sent as a task.
    Calls(Box<ModernToLegacy>),
}

/// What is between the two sides.
#[derive(Debug)]
pub(super) struct TaskBridge {
    way: Way,
    upstream: UpstreamId,
    server: &'static Era,
    capabilities: Bytes,
    /// What requests of ours carry besides: `_meta` with a comma in front, or nothing.
    envelope: String,
    /// The number under which the gateway keeps what the task needs.
    key: u64,
    made: Option<Made>,
}

impl TaskBridge {
    /// The bridge that a request needs, if it does.
    ///
    /// # Errors
    /// The fault to answer with: the tool cannot run as a task.
    pub(super) fn of(start: &Start<'_>) -> Result<Option<Self>, Fault> {
        let (client, server) = (start.client.shapes.tasks, start.server.shapes.tasks);
        if client == server {
            return Ok(None);
        }
        let way = match (&start.route.names, start.route.tool) {
            (TaskNames::Known(method, _), _) => {
                let id = start.route.rename.as_ref().map(|(_, id)| id.clone()).unwrap_or_default();
                LegacyToModern::begin(sides(start), *method, id.clone())
                    .map(|(machine, _)| Way::Asks(Box::new(machine), id))
            }
            (_, Some(tool)) if client == Tasks::Experiment => match start.frame.param("task")? {
                Some(_) if tool.tasks == TaskSupport::Forbidden => {
                    let message = "this tool cannot run as a task; call it without params.task";
                    return Err(Fault::client(code::METHOD_NOT_FOUND, message));
                }
                Some(_) => Some(Way::Wraps),
                None => None,
            },
            (_, Some(tool)) if server == Tasks::Experiment => {
                let takes =
                    client == Tasks::Extension && declares_extension(&start.frame) && start.route.keeps_tasks;
                let called = || Way::Calls(Box::new(ModernToLegacy::called(sides(start), takes)));
                match tool.tasks {
                    TaskSupport::Required => Some(called()),
                    TaskSupport::Optional => takes.then(called),
                    TaskSupport::Forbidden => None,
                }
            }
            _ => None,
        };
        Ok(way.map(|way| Self::new(way, start)))
    }

    fn new(way: Way, start: &Start<'_>) -> Self {
        let capabilities = with_extension(start.capabilities_upstream);
        let own = || {
            own_meta(
                start.server,
                &String::from_utf8_lossy(&capabilities),
                &String::from_utf8_lossy(start.client_info),
            )
        };
        let envelope = if start.server.has_sessions() { String::new() } else { format!(",{}", own()) };
        let (upstream, server) = (start.route.upstream, start.server);
        Self { way, upstream, server, capabilities, envelope, key: start.key, made: None }
    }

    /// What goes to the upstream in the place of the request.
    pub(super) fn first(&self, key: u64) -> Option<Outbound> {
        let Way::Asks(_, id) = &self.way else { return None };
        let params = [b"\"taskId\":", &id[..]].concat();
        Some(self.request(TaskMethod::Get, &params, key))
    }

    /// The client's capabilities as this request has to declare them.
    pub(super) fn capabilities(&self) -> Option<Bytes> {
        matches!(self.way, Way::Wraps).then(|| self.capabilities.clone())
    }

    /// The request, in the upstream's words, as it has to go.
    pub(super) fn dressed(&self, text: Bytes) -> Bytes {
        if !matches!(self.way, Way::Calls(_)) {
            return text;
        }
        let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
        let Some(params) = frame.params() else { return text };
        let mut splice = Splice::new(&text);
        splice.set(&params.members, AS_TASK.0.as_bytes(), AS_TASK.1.as_bytes());
        splice.finish()
    }

    /// Whether the request is about a task.
    pub(super) fn asks(&self) -> bool {
        matches!(self.way, Way::Asks(..))
    }

    /// The number under which the gateway keeps what a new task needs.
    pub(super) fn home(&self) -> Option<u64> {
        match self.made {
            Some(Made::Task { home, .. }) => Some(home),
            _ => None,
        }
    }

    /// A request of ours about a task; `params` is the inside of its params.
    fn request(&self, method: TaskMethod, params: &[u8], key: u64) -> Outbound {
        let head =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{", method.name());
        let body = [head.as_bytes(), params, self.envelope.as_bytes(), b"}}"].concat();
        let mirror = self.server.mirrored_headers.then(|| Mirror {
            method: method.name().into(),
            name: self.name(),
            params: Vec::new(),
        });
        Outbound { upstream: self.upstream, era: self.server, key, body: body.into(), mirror }
    }

    /// The task's id as a header repeats it.
    fn name(&self) -> Option<String> {
        let Way::Asks(_, id) = &self.way else { return None };
        let inside = id.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(encode_value(&unquote(inside)?).into_owned())
    }
}

fn sides(start: &Start<'_>) -> Sides {
    Sides {
        client: start.client,
        server: start.server,
        capabilities: Bytes::copy_from_slice(start.capabilities),
        server_info: start.server_info.to_owned(),
    }
}

impl Exchange {
    /// What the answered call leaves behind for the shell to keep.
    pub fn made(&mut self) -> Option<Made> {
        self.bridge.as_mut()?.made.take()
    }

    /// Takes an answer that is about a task; `false` when it is to be passed on like any other.
    pub(super) fn task_answered(
        &mut self,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) -> bool {
        let Some(bridge) = &mut self.bridge else { return false };
        let next = match &mut bridge.way {
            Way::Asks(machine, _) => {
                let nexts = machine.answer(frame);
                self.go(nexts, sealer, binding, now);
                return true;
            }
            Way::Calls(machine) => match machine.answer(frame) {
                Some(next) => next,
                None => return false,
            },
            Way::Wraps => match self.wrapped_outcome(frame) {
                Some(next) => next,
                None => return false,
            },
        };
        self.go([next], sealer, binding, now);
        true
    }

    /// The answer to a call that the client wants as a task, and that did not fail.
    fn wrapped_outcome(&mut self, frame: &Frame) -> Option<Next> {
        let cross = self.cross.as_ref()?;
        if frame.kind() != Kind::Response || is_input_required(cross.server(), frame).is_some() {
            return None;
        }
        let (text, payload) = (frame.text(), frame.payload()?);
        let result = Members::of_value(text, payload)?;
        if is_task(text, &result) {
            return wrapped(text, &result).map(Next::Result);
        }
        let (body, error) = cross.answer(frame, self.id.json(), &self.request).ok()?;
        let answer = Frame::parse(body, FrameLimits::default()).ok().filter(|_| error.is_none())?;
        let outcome = answer.payload()?.share(answer.text());
        if let Some(bridge) = &mut self.bridge {
            bridge.made = Some(Made::Outcome(outcome.clone()));
        }
        Some(Next::Result(outcome))
    }

    /// The time has passed after which a task is to be looked at again.
    pub(super) fn look_again(&mut self, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        let Some(Way::Asks(machine, _)) = self.bridge.as_mut().map(|bridge| &mut bridge.way) else { return };
        let nexts = machine.waited();
        self.go(nexts, sealer, binding, now);
    }

    /// The client's reply to a question of a task.
    pub(super) fn task_replied(
        &mut self,
        index: usize,
        frame: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        let Some(Way::Asks(machine, _)) = self.bridge.as_mut().map(|bridge| &mut bridge.way) else { return };
        let nexts = machine.reply(index, frame);
        self.go(nexts, sealer, binding, now);
    }

    /// Does what a machine wants.
    fn go(
        &mut self,
        nexts: impl IntoIterator<Item = Next>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        for next in nexts {
            match next {
                Next::Send(method, params) => {
                    let Some(bridge) = &self.bridge else { return };
                    self.key = sealer.fresh_key();
                    let outbound = bridge.request(method, &params, self.key);
                    self.wake = None;
                    self.hear(now, false);
                    self.steps.push(Step::Send(outbound));
                }
                Next::Wait(ms) => {
                    self.wake = Some(now + Duration::from_millis(ms));
                    self.hear(now, false);
                }
                Next::Ask(mut question) => {
                    let named = self.named_params(question.params, sealer, binding);
                    question.params = named;
                    self.steps.push(Step::Put(question));
                }
                Next::Result(result) => self.task_result(&result, sealer, binding),
                Next::Error(error) => self.task_error(&error),
                // Whoever keeps the questions answers such requests without an exchange.
                Next::Questions => self.fail(Fault::gateway("the task's questions are kept elsewhere")),
            }
        }
    }

    fn task_result(&mut self, result: &Bytes, sealer: &dyn Sealer, binding: Binding<'_>) {
        (self.settled, self.answered) = (true, true);
        let text = result_response(&self.id, result);
        let Ok(answer) = Frame::parse(text.clone(), FrameLimits::default()) else {
            return self.fail(Fault::gateway("the task's answer cannot be put in the client's words"));
        };
        if let Some(bridge) = &mut self.bridge
            && matches!(bridge.way, Way::Calls(_))
        {
            let members = answer.payload().and_then(|span| Members::of_value(&text, span));
            let task = members.filter(|members| is_task(&text, members));
            let id = task.and_then(|task| task.get(&text, "taskId"));
            let home = bridge.key;
            bridge.made = id.map(|span| Made::Task { id: Bytes::copy_from_slice(span.of(&text)), home });
        }
        match self.names(&answer, sealer, binding) {
            Err(fault) => self.fail(fault),
            Ok(edits) => {
                let mut splice = Splice::new(&text);
                for (span, name) in &edits {
                    splice.replace(*span, name);
                }
                if let Some(bridge) = &mut self.bridge
                    && let (Way::Wraps, None, Some((span, shown))) =
                        (&bridge.way, &bridge.made, edits.first())
                {
                    let real = answer.string(*span).unwrap_or_default().into_owned();
                    bridge.made = Some(Made::Known(KnownTask { real, shown: shown.clone() }));
                }
                self.finish(Answer::said(200, splice.finish(), true));
            }
        }
    }

    fn task_error(&mut self, error: &Bytes) {
        (self.settled, self.answered) = (true, true);
        let read = RpcError::of_value(error, Span::new(0, error.len()));
        let status = read.map_or(200, |read| self.era.relayed_status(read.code, None));
        let id = self.id.json();
        let body = match read {
            Some(_) => {
                [b"{\"jsonrpc\":\"2.0\",\"id\":", &id[..], b",\"error\":", error, b"}"].concat().into()
            }
            None => error_response(Some(&self.id), code::INTERNAL_ERROR, "the server's error is none", None),
        };
        self.finish(Answer::said(status, body, false));
    }

    /// Tells the upstream that the outcome of a task is no longer waited for.
    pub(super) fn cancel_task(&mut self, sealer: &dyn Sealer) {
        let Some(bridge) = &self.bridge else { return };
        let Way::Calls(machine) = &bridge.way else { return };
        let Some(id) = machine.unattended() else { return };
        let params = [b"\"taskId\":", &id[..]].concat();
        let outbound = bridge.request(TaskMethod::Cancel, &params, sealer.fresh_key());
        self.steps.push(Step::Tell(outbound.body));
    }
}
