//! The state machine of one forwarded request.

use std::io::Write;
use std::time::Instant;

use bytes::Bytes;
use proto::era::{Era, InvalidArguments, complete, is_input_required, says_complete};
use proto::json::{Span, Splice, quote};
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, Id, IdSwap, Kind, RpcError, code, result_response};
use smallvec::SmallVec;

use super::input::{may_ask, unwrap_state, wrap_state};
use super::outbound::{Headers, check_param_headers};
use super::{Answer, Binding, Event, LinkFailure, Mirror, Outbound, Route, Sealer, Step, Timeouts};
use crate::fault::Fault;

/// What an exchange starts with.
pub struct Start<'a> {
    /// The client's request.
    pub frame: Frame,
    /// The era that both sides speak.
    pub era: &'static Era,
    /// Where it goes.
    pub route: Route<'a>,
    /// Our own id for it: unique in the process.
    pub key: u64,
    /// What states are bound to.
    pub binding: Binding<'a>,
    /// Seals states.
    pub sealer: &'a dyn Sealer,
    /// The headers of the client's request; `None` where there is no HTTP.
    pub headers: Option<&'a dyn Headers>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// The gateway's own name and version, a JSON object.
    pub server_info: &'a str,
    /// Now.
    pub now: Instant,
}

/// The token under which a client wants to hear of progress, and ours in its place.
#[derive(Debug, Clone)]
pub struct ProgressToken {
    /// The upstream's: our own id of the request.
    pub key: u64,
    client: Bytes,
}

impl ProgressToken {
    /// Our own token in an upstream's progress notification.
    pub fn named(notice: &Frame) -> Option<u64> {
        let span = notice.param(meta::PROGRESS_TOKEN).ok().flatten()?;
        std::str::from_utf8(span.of(notice.text())).ok()?.parse().ok()
    }

    /// The notification under the client's own token; `None` when it belongs to something else.
    pub fn translate(&self, notice: &Frame) -> Option<Bytes> {
        let span = notice.param(meta::PROGRESS_TOKEN).ok().flatten()?;
        if span.of(notice.text()) != digits(self.key).as_slice() {
            return None;
        }
        let mut splice = Splice::new(notice.text());
        splice.replace(span, &self.client);
        Some(splice.finish())
    }
}

/// One forwarded request, from its first step to its last.
#[derive(Debug)]
pub struct Exchange {
    request: Frame,
    era: &'static Era,
    id: Id,
    key: u64,
    token: Option<Bytes>,
    timeouts: Timeouts,
    started: Instant,
    heard: Instant,
    /// Whether the upstream waits for an answer of the client, and so has nothing to say itself.
    asking: bool,
    /// What is to be done, soonest first; seldom more than one.
    steps: SmallVec<[Step; 2]>,
    open: bool,
}

impl Exchange {
    /// Checks the request and makes its first step.
    ///
    /// # Errors
    /// The fault to answer with, when nothing is sent.
    pub fn begin(start: Start<'_>) -> Result<Self, Fault> {
        let Start { frame, era, route, key, now, .. } = &start;
        let id = frame.id().cloned().ok_or_else(|| Fault::gateway("only requests are forwarded"))?;
        let arguments = frame.param("arguments")?;
        let mut steps = SmallVec::new();
        let mut open = true;
        if let (Some(tool), Some(headers)) = (route.tool, start.headers) {
            check_param_headers(frame, tool, arguments, headers)?;
        }
        match check_arguments(&start, arguments)? {
            Some(misfit) => {
                let body = result_response(&id, &misfit);
                steps.push(Step::Answer(Answer { status: 200, body, ok: false }));
                open = false;
            }
            None => steps.push(Step::Send(outbound(&start)?)),
        }
        let token = frame.meta(meta::PROGRESS_TOKEN)?.map(|span| span.share(frame.text()));
        let (era, key, now) = (*era, *key, *now);
        Ok(Self {
            timeouts: start.timeouts,
            request: start.frame,
            era,
            id,
            key,
            token,
            started: now,
            heard: now,
            asking: false,
            steps,
            open,
        })
    }

    /// The next step, if there is one now.
    pub fn poll(&mut self) -> Option<Step> {
        (!self.steps.is_empty()).then(|| self.steps.remove(0))
    }

    /// When [`Event::Expired`] is due. While the upstream waits for the client, only the time in all counts.
    pub fn deadline(&self) -> Instant {
        let overall = self.started + self.timeouts.overall;
        if self.asking { overall } else { overall.min(self.heard + self.timeouts.idle) }
    }

    /// The id that the client gave the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// What the client's progress notifications have to be translated with, if it wants any.
    pub fn token(&self) -> Option<ProgressToken> {
        Some(ProgressToken { key: self.key, client: self.token.clone()? })
    }

    /// Whether an answer that begins with `head` may be passed on unread: then the exchange is over, and the answer's id
    /// has to be exchanged as the result says.
    pub fn pass(&mut self, head: &[u8]) -> Option<IdSwap> {
        if may_ask(self.era, &self.request) && !says_complete(head) {
            return None;
        }
        self.open = false;
        Some(IdSwap::new(Bytes::from(self.key.to_string()), self.id.json().clone()))
    }

    /// Takes what happened. `sealer` and `binding` are those that the exchange began with, the time apart.
    pub fn feed(&mut self, event: Event, sealer: &dyn Sealer, binding: Binding<'_>, now: Instant) {
        if !self.open {
            return;
        }
        match event {
            Event::Frame(frame, status) => self.frame(frame, status, sealer, binding, now),
            Event::Failed(LinkFailure { message, retry }) => {
                let server = binding.server;
                let fault = Fault::upstream(server, retry, format!("server {server:?} {message}"));
                self.fail(&fault);
            }
            Event::Cancelled(notice) => {
                self.cancel_upstream(notice.as_deref());
                self.steps.push(Step::End);
                self.open = false;
            }
            Event::Answered => self.hear(now, false),
            Event::Expired if now >= self.deadline() => self.expire(binding.server, now),
            Event::Expired => {}
        }
    }

    /// The upstream showed a sign of life, or has had its answer: from now on it is its turn, unless it is `asking`.
    fn hear(&mut self, now: Instant, asking: bool) {
        self.heard = now;
        self.asking = asking;
    }

    fn frame(
        &mut self,
        frame: Box<Frame>,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
        now: Instant,
    ) {
        match frame.kind() {
            Kind::Response | Kind::Error => {
                // An id that is not ours answers nothing of ours. A missing one is an answer to what could not be read.
                if frame.id().is_some_and(|id| id.as_number() != Some(self.key)) {
                    return;
                }
                let answer = self.answer(&frame, status, sealer, binding);
                self.steps.push(Step::Answer(answer));
                self.open = false;
            }
            Kind::Notification => {
                self.hear(now, false);
                match Notice::from_name(&frame.method()) {
                    Some(Notice::Progress) => {
                        if let Some(text) = self.progress(&frame) {
                            self.steps.push(Step::Relay(text));
                        }
                    }
                    Some(Notice::Cancelled) => self.steps.push(Step::Withdraw(frame)),
                    _ => self.steps.push(Step::Relay(frame.text().clone())),
                }
            }
            Kind::Request => {
                self.hear(now, true);
                self.steps.push(Step::Ask(frame));
            }
        }
    }

    /// A progress notification under the client's own token; `None` when it belongs to something else.
    fn progress(&self, frame: &Frame) -> Option<Bytes> {
        self.token()?.translate(frame)
    }

    /// The client's answer: the upstream's, with the client's id and, where it asks for input, with a sealed state.
    fn answer(
        &self,
        frame: &Frame,
        status: Option<u16>,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Answer {
        let text = frame.text();
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
        let error = frame.payload().filter(|_| frame.kind() == Kind::Error);
        let error = error.and_then(|span| RpcError::of_value(text, span));
        let status = match (&error, status) {
            (None, _) => 200,
            (Some(_), Some(status @ 400..=499)) => status,
            (Some(error), _) => self.era.status(error.code),
        };
        Answer { status, body: splice.finish(), ok: error.is_none() }
    }

    fn expire(&mut self, server: &str, now: Instant) {
        let waited = now.duration_since(self.started).as_secs();
        self.cancel_upstream(None);
        let message = format!(
            "server {server:?} did not answer {:?} within {waited} s; it may be overloaded or stuck (raise its `timeout` \
             if it needs longer)",
            self.request.method()
        );
        self.fail(&Fault::upstream(server, false, message));
    }

    fn fail(&mut self, fault: &Fault) {
        let status = fault.http_status(self.era);
        self.steps.push(Step::Answer(Answer { status, body: fault.response(Some(&self.id)), ok: false }));
        self.open = false;
    }

    /// Tells the upstream under our own id; the client's notification keeps its other members.
    fn cancel_upstream(&mut self, notice: Option<&Frame>) {
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

/// A key of ours as JSON; no number of 64 bits has more digits than there is room for.
fn digits(key: u64) -> SmallVec<[u8; 20]> {
    let mut digits = SmallVec::new();
    // Writing to memory cannot fail.
    let _ = write!(digits, "{key}");
    digits
}

/// Checks a call's arguments. A misfit is either the fault or the tool result to answer with, as the era has it.
fn check_arguments(start: &Start<'_>, arguments: Option<Span>) -> Result<Option<Bytes>, Fault> {
    let Some(tool) = start.route.tool else { return Ok(None) };
    // Some clients write null where they have none to send.
    let arguments = arguments.map(|span| span.of(start.frame.text())).filter(|text| *text != b"null");
    if arguments.is_some_and(|text| text[0] != b'{') {
        return Err(Fault::client(code::INVALID_PARAMS, "params.arguments must be an object"));
    }
    let Err(misfit) = tool.check(arguments) else { return Ok(None) };
    match start.era.invalid_arguments {
        InvalidArguments::Error => Err(Fault::client(code::INVALID_PARAMS, misfit.to_string())),
        InvalidArguments::ToolResult => {
            let text = quote(&misfit.to_string());
            let members = format!("\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"isError\":true");
            Ok(Some(complete(start.era, members.as_bytes(), None, start.server_info)))
        }
    }
}

/// The request as its upstream gets it: our id, the real name, our progress token, the upstream's own state.
fn outbound(start: &Start<'_>) -> Result<Outbound, Fault> {
    let Start { frame, era, route, key, .. } = start;
    let key_text = digits(*key);
    let state = if may_ask(era, frame) { unwrap_state(frame, start.sealer, start.binding)? } else { None };
    let mut splice = Splice::new(frame.text());
    if let Some(span) = frame.id_span() {
        splice.replace(span, &key_text);
    }
    if let Some((span, real)) = &route.rename {
        splice.replace(*span, real);
    }
    if let Some(span) = frame.meta(meta::PROGRESS_TOKEN)? {
        splice.replace(span, &key_text);
    }
    if let (Some(state), Some(span)) = (&state, frame.param("requestState")?) {
        splice.replace(span, state.as_bytes());
    }
    let real = route.rename.as_ref().map(|(_, real)| real.as_ref());
    let mirror =
        era.mirrored_headers.then(|| Mirror::of_request(frame, route.method.clone(), real, route.tool));
    Ok(Outbound { upstream: route.upstream, key: *key, body: splice.finish(), mirror })
}
