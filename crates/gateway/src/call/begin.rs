//! The beginning of a call: the checks before anything is sent. Also resumes a parked call when its client comes
//! back.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use engine::Fault;
use engine::catalogue::ToolEntry;
use engine::exchange::{Exchange, ExchangeAnswer, ResendPolicy, Start};
use proto::rpc::{Frame, Id};
use tokio::sync::oneshot;

use super::call::Call;
use super::caller::{Caller, Request};
use crate::call::CallContext;
use crate::call::capture::Lane;
use crate::call::client_introduction::{ClientIntroduction, introduction};
use crate::call::connection::CallConnection;
use crate::call::dedicated_link::dedicated_link;
use crate::call::in_flight;
use crate::call::in_progress::{CallInProgress, CallStage};
use crate::call::record::{Record, Refused};
use crate::call::recorded_target::RecordedTarget;
use crate::call::result_rules::ResultRules;
use crate::call::retries::Retries;
use crate::call::side_channel::SideChannel;
use crate::call::turn::CallTurn;
use crate::call::waiting_client::WaitingClient;
use upstream::CLIENT_INFO;
use upstream::Upstream;

impl Call {
    /// Checks a request and prepares its call.
    ///
    /// # Errors
    /// Returns the fault to answer with.
    pub(crate) fn begin(
        context: &Arc<CallContext>,
        caller: Caller,
        mut request: Request<'_>,
    ) -> Result<Box<Self>, Refused> {
        let (masked, tool) = (request.route.masked.take(), request.route.tool);
        let upstream = context.view.state.upstream_of(request.route.upstream, caller.identity());
        let place =
            request.counted.then(|| in_flight::place(context, &caller, &request.frame)).transpose()?;
        let (era, cancelled) = (caller.era(), in_flight::register(context, &caller, &request.frame)?);
        let viewed = if Record::is_kept(context) { caller.view() } else { None };
        let record = viewed.and_then(|view| {
            let (arrived, traced) = (request.arrived, Some((&caller, request.server)));
            let target = RecordedTarget { upstream: &upstream, tool, arrived, traced };
            Record::forwarded(context, caller.identity(), view.profile, &request.frame, target)
        });
        let (id, origin) = (request.frame.id().cloned(), (request.carried.clone(), request.whole));
        let (resend, unchecked) = (resend_policy(context, &request, &upstream), request.route.unchecked);
        let is_cross = era != request.server;
        let said = if is_cross { introduction(&caller, &request) } else { ClientIntroduction::default() };
        let method = request.route.method.clone();
        let begun = ResultRules::of(context, &caller, &mut request, &upstream).and_then(|rules| {
            let turn = CallTurn::of(&caller, &upstream)?;
            let dedicated = dedicated_link(&context.egress, &caller, &upstream, &request, &said)?;
            Ok((rules, turn, dedicated))
        });
        context.state.unchecked.note(upstream.name(), tool);
        let (rules, turn, dedicated) = match begun {
            Ok(begun) => begun,
            Err(fault) => return Err(refuse(&caller, id.as_ref(), Refused::new(fault, masked, record))),
        };
        // The exchange is large, so it is moved only from here into the box.
        let exchange = match exchange(context, &caller, &upstream, request, (&said, record.as_deref())) {
            Ok(exchange) => exchange,
            Err(fault) => return Err(refuse(&caller, id.as_ref(), Refused::new(fault, masked, record))),
        };
        let entry =
            context.state.in_progress.enter(|| in_progress(&caller, (method, tool), &upstream, &turn));
        let side_channel = dedicated.is_some().then(|| SideChannel::new(context));
        // Allocate the box first: a value that is created inside the box need not be copied into it.
        Ok(Box::write(
            Box::new_uninit(),
            Self {
                context: context.clone(),
                exchange,
                upstream,
                connection: CallConnection::new(caller.attribution(), dedicated, origin),
                caller,
                client: WaitingClient::new(cancelled, masked),
                retries: Retries::new(unchecked, resend),
                over: false,
                place,
                turn,
                entry,
                record,
                rules,
                side_channel,
            },
        ))
    }

    /// Notes the call's stage for operators.
    pub(super) fn at_stage(&self, stage: CallStage) {
        if let Some(entry) = &self.entry {
            entry.set(stage);
        }
    }

    /// Returns true if the call goes to a server embedded in the binary.
    pub(crate) fn is_embedded(&self) -> bool {
        self.upstream.server.is_native()
    }

    /// Returns the name of the server to which the call goes.
    pub(crate) fn server_name(&self) -> &Arc<str> {
        self.upstream.name()
    }

    /// Returns the error to send, on the client's own stream, if a long answer is interrupted.
    pub(crate) fn broken(&self) -> ExchangeAnswer {
        let name = self.upstream.name();
        let message = format!("server {name:?} sent an answer that was incomplete or too long");
        ExchangeAnswer::fault(200, Fault::upstream(name, false, message), self.exchange.id())
    }

    /// Returns the deadline for the next message.
    pub(crate) fn deadline(&self) -> Instant {
        self.exchange.deadline()
    }

    /// Lets a notification cancel a stateless request. This is for requests without their own stream: the client
    /// cannot cancel such a request by closing the stream.
    pub(crate) fn cancel_by(&mut self, cancelled: oneshot::Receiver<Option<Frame>>) {
        self.client.cancelled = Some(cancelled);
    }

    /// Allows the answer to be passed on while it is still arriving. The call's waiter must poll the call again at
    /// `silent` if nothing has arrived by then.
    pub(crate) fn attend_until(&mut self, silent: Instant) {
        self.client.takes_long = true;
        self.client.attended_until = Some(silent);
    }

    /// Resumes the call with the answers that its client has sent.
    ///
    /// # Errors
    /// Returns the fault to answer with; the call then waits as before.
    pub(crate) fn resume(&mut self, retry: Frame) -> Result<(), Refused> {
        let place = in_flight::place(&self.context, &self.caller, &retry)?;
        let context = self.context.clone();
        let binding = context.binding(self.caller.owner(), self.upstream.name(), self.caller.era());
        if let Some(record) = &self.record {
            record.capture(Lane::FromClient, retry.text());
        }
        self.exchange.resume(retry, context.sealer(), binding, Instant::now())?;
        self.place = Some(place);
        self.turn = CallTurn::joined(&self.upstream);
        self.at_stage(CallStage::Runs);
        if let Some(rules) = &mut self.rules {
            rules.resume();
        }
        if let Some(record) = &mut self.record {
            record.resumes();
        }
        Ok(())
    }
}

/// Removes a refused request from its client's session.
/// Returns the facts about a call that begins.
fn in_progress(
    caller: &Caller,
    (method, tool): (Cow<'static, str>, Option<&ToolEntry>),
    upstream: &Upstream,
    turn: &CallTurn,
) -> CallInProgress {
    let identity = caller.identity();
    CallInProgress {
        since: Instant::now(),
        stage: if turn.is_waiting() { CallStage::Waits } else { CallStage::Runs },
        method,
        tool: tool.map(|tool| tool.name.clone()),
        server: upstream.name().clone(),
        principal: identity.principal.id.clone(),
        client: identity.client_label.clone(),
    }
}

fn refuse(caller: &Caller, id: Option<&Id>, refused: Refused) -> Refused {
    if let (Caller::Session(session), Some(id)) = (caller, id) {
        session.requests.end(id);
    }
    refused
}

/// Returns the policy for sending the request again if it fails in transit.
fn resend_policy(context: &CallContext, request: &Request<'_>, upstream: &Upstream) -> ResendPolicy {
    let calls = context.egress.snapshot().calls(&upstream.server.spec);
    let (rules, wait) = (calls.for_request(request.route.tool), calls.resend_wait);
    let mut policy = ResendPolicy::new(&request.route.method, request.route.tool, rules.resend, wait);
    if policy.is_repeatable() && request.frame.param("task").ok().flatten().is_some() {
        policy.only_unexecuted();
    }
    policy
}

/// Creates the exchange for a request.
fn exchange(
    context: &Arc<CallContext>,
    caller: &Caller,
    upstream: &Upstream,
    request: Request<'_>,
    (said, record): (&ClientIntroduction, Option<&Record>),
) -> Result<Exchange, Fault> {
    let era = caller.era();
    let calls = context.egress.snapshot().calls(&upstream.server.spec);
    let timeouts = calls.for_request(request.route.tool).timeouts;
    let trace = record.and_then(|record| record.trace_hop(upstream));
    let orphan = request.orphan;
    let start = Start {
        frame: request.frame,
        client: era,
        server: request.server,
        capabilities: &said.capabilities,
        capabilities_upstream: &said.upstream,
        level: said.level.as_deref(),
        client_info: said.info.as_deref().unwrap_or(CLIENT_INFO.as_bytes()),
        route: request.route,
        key: context.egress.next_key(),
        binding: context.binding(caller.owner(), &upstream.server.spec.name, era),
        sealer: context.sealer(),
        headers: request.headers,
        timeouts,
        server_info: request.server_info,
        trace: trace.as_ref(),
        now: Instant::now(),
    };
    match orphan {
        None => Exchange::begin(start),
        Some(orphan) => Exchange::adopt(start, orphan),
    }
}

impl Call {
    /// Begins the exchange again, because the server does not use the expected protocol version. Nothing has been
    /// sent yet.
    ///
    /// # Errors
    /// Returns the fault; the exchange is unchanged.
    pub(super) fn begin_anew(&mut self, request: Request<'_>) -> Result<(), Fault> {
        let introduction = self.introduction(&request);
        if self.connection.dedicated.is_none() {
            self.connection.dedicated =
                dedicated_link(&self.context.egress, &self.caller, &self.upstream, &request, &introduction)?;
        }
        self.exchange = exchange(
            &self.context,
            &self.caller,
            &self.upstream,
            request,
            (&introduction, self.record.as_deref()),
        )?;
        self.over = false;
        if let Some(rules) = &mut self.rules {
            rules.forget_slot();
        }
        if self.side_channel.is_none() && self.connection.dedicated.is_some() {
            self.side_channel = Some(SideChannel::new(&self.context));
        }
        Ok(())
    }

    fn introduction(&self, request: &Request<'_>) -> ClientIntroduction {
        if self.caller.era() == request.server {
            ClientIntroduction::default()
        } else {
            introduction(&self.caller, request)
        }
    }

    /// Restarts the exchange with the current form of `request`. Returns `false` if the headers would be the same as
    /// before: in this case, the headers cannot have caused the error, and the request may have been executed.
    ///
    /// # Errors
    /// Returns the fault; the exchange is unchanged.
    pub(crate) fn begin_again(&mut self, request: Request<'_>) -> Result<bool, Fault> {
        let said = self.introduction(&request);
        let exchange =
            exchange(&self.context, &self.caller, &self.upstream, request, (&said, self.record.as_deref()))?;
        if exchange.mirror() == self.exchange.mirror() {
            return Ok(false);
        }
        self.exchange = exchange;
        self.over = false;
        Ok(true)
    }
}
