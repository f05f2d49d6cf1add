//! The state that is kept for a task after its call has been answered, and clients' requests about such tasks.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{ExchangeAnswer, TaskEffect};
use engine::tasks::{Renaming, TaskIds, TaskPlace, TaskRoute, WatchedTask};
use proto::bridge::tasks::{ModernToLegacy, Sides, Status, Task, TaskMethod, TaskStep, acknowledgement};
use proto::era::Era;
use proto::json::{Members, Span, Splice};
use proto::mcp::meta;
use proto::rpc::{Frame, RpcError, code, result_response};

use super::notices::notify_session;
use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::call::Call;
use crate::call::caller::Caller;
use crate::call::result_limit::ResultLimit;
use crate::call::task_home::Home;
use upstream::link::HeldLink;
use upstream::pool::dispatch::Binding;
use upstream::pool::dormant::DormantWork;

/// Keeps the state that the task of an answered call needs; returns the answer for the client.
pub(crate) fn keep(call: &mut Call, made: TaskEffect, answer: ExchangeAnswer) -> ExchangeAnswer {
    let context = call.context.clone();
    match made {
        TaskEffect::Task { id, home } => {
            if let Some(link) = call.connection.held.as_ref().map(HeldLink::again) {
                let dedicated = call.connection.dedicated.take();
                let own = dedicated.filter(|_| link.link().own).map(|(mut dedicated, _)| {
                    let dormant = dedicated.wait(DormantWork::Task);
                    (dormant, dedicated)
                });
                context.state.homes.keep(home, Home::new(call.upstream.clone(), link, id, own));
            }
            answer
        }
        TaskEffect::Known(task) => {
            if let Some(link) = call.link() {
                // Only the process or session that runs the task knows it.
                call.upstream.links.dedicated.bind(link, Binding::Task);
            }
            if let Caller::Session(session) = &call.caller {
                notify_session(
                    &call.context,
                    session,
                    WatchedTask { upstream: call.upstream.server.spec.id, task },
                );
            }
            answer
        }
        TaskEffect::Outcome(outcome) => {
            let (number, id) = (context.egress.next_key(), call.exchange.id());
            let ids = TaskIds::new(context.sealer(), call.caller.owner(), call.caller.era());
            let shown = ids.shown(TaskPlace { server: "", home: Some(number) }, "").unwrap_or_default();
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            let mut held = context.state.held.lock();
            held.keep(number, outcome, Instant::now(), unix_ms);
            if let Some(task) = held.task(number, &shown) {
                let body = result_response(id, format!("{{\"task\":{task}}}").as_bytes());
                ExchangeAnswer { body, ..answer }
            } else {
                let fault = Fault::gateway("the result is too large to keep; call again without params.task");
                ExchangeAnswer::fault(200, fault, id)
            }
        }
    }
}

/// Answers a request about an outcome that is kept here.
///
/// # Errors
/// Returns the fault to answer with.
pub(crate) fn held(
    context: &Arc<CallContext>,
    method: TaskMethod,
    route: &TaskRoute,
    shown: &str,
) -> Result<Bytes, Fault> {
    let fault = |why: &str| Fault::client(code::INVALID_PARAMS, format!("params.taskId {why}"));
    let held = context.state.held.lock();
    let number = route.home.filter(|_| route.upstream.is_none()).ok_or_else(|| fault(GONE))?;
    let found = match method {
        TaskMethod::Get => held.task(number, shown).map(Bytes::from),
        TaskMethod::Result => held.outcome(number, shown),
        _ => return Err(fault("names a task that has already ended")),
    };
    found.ok_or_else(|| fault(GONE))
}

const GONE: &str =
    "names a task that is no longer kept: it has expired, or the session in which it ran has ended";

/// A stateless client's request about a task.
pub(crate) struct TaskRequest<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) method: TaskMethod,
    pub(crate) route: TaskRoute,
    pub(crate) era: &'static Era,
    pub(crate) server_info: &'a str,
    pub(crate) identity: &'a Identity,
    /// The client's profile.
    pub(crate) profile: usize,
}

/// Answers a request about a task that needs its own link.
///
/// # Errors
/// Returns the fault to answer with.
pub(crate) async fn serve(context: &Arc<CallContext>, asked: TaskRequest<'_>) -> Result<(u16, Bytes), Fault> {
    let gone = || Fault::client(code::INVALID_PARAMS, format!("params.taskId {GONE}"));
    let id = asked.frame.id().ok_or_else(|| Fault::gateway("the request has no id"))?;
    let home = asked.route.home.and_then(|number| context.state.homes.find(number));
    let home = home.filter(|home| home.is_there()).ok_or_else(gone)?;
    if asked.method == TaskMethod::Update && answered(context, &home, &asked)? {
        return Ok((200, result_response(id, &acknowledgement(asked.era, asked.server_info))));
    }
    let capabilities = asked.frame.meta(meta::CLIENT_CAPABILITIES)?;
    let capabilities = capabilities.map_or(Bytes::from_static(b"{}"), |span| span.share(asked.frame.text()));
    let sides = Sides {
        client: asked.era,
        server: home.era(),
        capabilities: capabilities.clone(),
        server_info: asked.server_info.to_owned(),
    };
    let begun = ModernToLegacy::begin(sides, asked.method, home.task().clone());
    let (mut machine, mut next) = begun.ok_or_else(|| {
        Fault::unknown_method(
            asked.method.name(),
            "is not a request that clients can send in this protocol version",
        )
    })?;
    loop {
        let then = match next {
            TaskStep::Send(method, params) => {
                let answer = home.ask(&context.egress, method, &params).await;
                machine.answer(&answer.map_err(|e| {
                    let (name, told) = (home.server(), home.upstream().server.describe(&e));
                    Fault::upstream(name, e.not_executed(), format!("server {name:?} {told}"))
                })?)
            }
            TaskStep::Questions => {
                let open = home.questions(&context.egress, asked.era, &capabilities).await;
                machine.questions(&open)
            }
            TaskStep::Result(result) => {
                if ended(&result) {
                    home.end();
                }
                let answer = named(context, &asked, &home, &result_response(id, &result))?;
                return Ok((200, limited(context, &asked, &home, answer)));
            }
            TaskStep::Error(error) => {
                let read = RpcError::of_value(&error, Span::new(0, error.len()));
                let status = read.map_or(200, |read| asked.era.status(read.code));
                let head = [b"{\"jsonrpc\":\"2.0\",\"id\":", &id.json()[..], b",\"error\":"].concat();
                return Ok((status, [&head[..], &error[..], b"}"].concat().into()));
            }
            TaskStep::Wait(_) | TaskStep::Ask(_) => None,
        };
        next = then.ok_or_else(|| {
            Fault::gateway("the server's answer about this task does not allow the gateway to continue")
        })?;
    }
}

/// Returns an answer in which the task's outcome is within the limit of its server.
fn limited(context: &CallContext, asked: &TaskRequest<'_>, home: &Home, answer: Bytes) -> Bytes {
    let (Some(real), owner) = (home.name(), asked.identity.data_owner()) else { return answer };
    let task = (&**home.upstream(), &*real);
    match ResultLimit::of_task(context, task, (asked.method, asked.profile), owner) {
        Some(limit) => limit.apply(context, asked.identity, asked.era, answer),
        None => answer,
    }
}

/// Passes the client's answers to the task; returns `false` if they answer no open question.
fn answered(context: &Arc<CallContext>, home: &Arc<Home>, asked: &TaskRequest<'_>) -> Result<bool, Fault> {
    let fault =
        || Fault::client(code::INVALID_PARAMS, "params.inputResponses is required and must be an object");
    let span = asked.frame.param("inputResponses")?.ok_or_else(fault)?;
    let responses = Members::of_value(asked.frame.text(), span).ok_or_else(fault)?;
    Ok(home.answer(&context.egress, asked.frame.text(), &responses, asked.era))
}

/// Returns true if a task, in the client's form, has ended.
fn ended(result: &[u8]) -> bool {
    Task::read(result, Span::new(0, result.len())).is_some_and(|task| Status::has_ended(task.status))
}

/// Returns an answer in which the task has the client's id.
fn named(
    context: &Arc<CallContext>,
    asked: &TaskRequest<'_>,
    home: &Home,
    text: &Bytes,
) -> Result<Bytes, Fault> {
    let unreadable = |e| Fault::gateway(format!("the task's answer cannot be read: {e}"));
    let answer = Frame::parse(text.clone(), context.egress.frame_limits()).map_err(unreadable)?;
    let ids = TaskIds::new(context.sealer(), asked.identity.id(), asked.era);
    let place = TaskPlace { server: home.server(), home: asked.route.home };
    let renaming = Renaming::of_task(asked.method, asked.era, asked.route.task.clone());
    let edits = renaming.answer(&answer, ids, place)?;
    let mut splice = Splice::new(text);
    for (span, name) in &edits {
        splice.replace(*span, name);
    }
    Ok(splice.finish())
}
