//! Decides who serves a request: the gateway from its view, or an upstream.

use std::borrow::Cow;

use bytes::Bytes;
use proto::bridge::tasks::TaskMethod;
use proto::era::{CacheableResult, Era, complete};
use proto::json::Span;
use proto::mcp::Method;
use proto::rpc::{Frame, code};

use super::by_uri::{completion, resource};
use super::own_tools::{own_call, searches};
use crate::catalogue::{ListKind, ServerUris, ToolEntry, UpstreamId, View};
use crate::fault::{Condition, Fault, no_resource};
use crate::result_cap::rest_id;
use crate::tasks::{self, KnownTask, TaskIds, TaskRoute};

/// The next step for a request.
#[derive(Debug)]
pub enum Dispatch<'v> {
    /// Answer with this result, a JSON object.
    Local(Bytes),
    /// Answer with this list or introduction, and with the time for which it may be cached.
    Listed(&'v CacheableResult),
    /// Answer a call of the gateway's own tool with this result, a JSON object.
    Own(Bytes),
    /// Set the session's log level to this JSON string.
    SetLevel(Bytes),
    /// Open a stream of notifications.
    Listen,
    /// Forward the request to an upstream.
    Forward(Route<'v>),
    /// Answer from the gateway's own state of a task.
    Kept(TaskMethod, TaskRoute),
}

/// The destination of a request, and the changes to make before it is sent.
#[derive(Debug)]
pub struct Route<'v> {
    /// The upstream that the request goes to.
    pub upstream: UpstreamId,
    /// The span of a public name or URI, and the text that replaces it for the upstream, a JSON string.
    pub rename: Option<(Span, Bytes)>,
    /// The called tool, if the request is a call.
    pub tool: Option<&'v ToolEntry>,
    /// The arguments for the upstream, JSON text, if they differ from those that the client sent.
    pub arguments: Option<Bytes>,
    /// The request's method.
    pub method: Cow<'static, str>,
    /// The tasks that the messages of the exchange may name.
    pub names: TaskNames,
    /// The upstream's URIs as clients know them; `None` if all URIs stay unchanged.
    pub uris: Option<Box<ServerUris>>,
    /// True if only the upstream checks the arguments.
    pub unchecked: bool,
    /// True if a task's state can be kept after the end of the exchange; set by the loop that runs the exchange.
    pub keeps_tasks: bool,
    /// The fault to report if the request fails, whatever the upstream answers: a denied item must be
    /// indistinguishable from a missing one.
    pub masked: Option<Box<Fault>>,
}

/// The tasks that the messages of an exchange may name, if their ids are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskNames {
    /// No tasks, or tasks under the upstream's own ids.
    None,
    /// The task that the call will become.
    New,
    /// The task that the request is about.
    Known(TaskMethod, KnownTask),
}

impl Route<'_> {
    /// A route to this upstream, without changes.
    pub(super) fn to(upstream: UpstreamId, method: Cow<'static, str>) -> Self {
        Self {
            upstream,
            rename: None,
            tool: None,
            arguments: None,
            method,
            names: TaskNames::None,
            uris: None,
            unchecked: false,
            keeps_tasks: false,
            masked: None,
        }
    }
}

/// Decides the next step for a request. `server_info` is the gateway's own name and version, a JSON object; `ids`
/// converts the ids of the client's tasks.
///
/// # Errors
/// Returns the fault to answer with.
pub fn dispatch<'v>(
    frame: &Frame,
    view: &'v View,
    server_info: &str,
    ids: TaskIds<'_>,
) -> Result<Dispatch<'v>, Fault> {
    let mut next = decide(frame, view, server_info, ids)?;
    if let Dispatch::Forward(route) = &mut next
        && route.uris.is_none()
    {
        route.uris = view.uris_of(route.upstream);
    }
    Ok(next)
}

fn decide<'v>(
    frame: &Frame,
    view: &'v View,
    server_info: &str,
    ids: TaskIds<'_>,
) -> Result<Dispatch<'v>, Fault> {
    let era = view.era();
    let name = frame.method();
    let Some(method) = Method::from_name(&name) else {
        return match TaskMethod::from_name(&name).filter(|_| tasks::renames(view)) {
            Some(method) => task(frame, view, method, ids),
            None => extension(&name, view).map(Dispatch::Forward),
        };
    };
    if !era.knows(method) {
        return Err(unknown(method, era));
    }
    if let Some(capability) = needed(method, era)
        && !view.declares(capability, None)
    {
        return Err(undeclared(method, capability, view));
    }
    if let Some(kind) = ListKind::of_method(method) {
        return list(frame, view, kind).map(Dispatch::Listed);
    }
    match method {
        Method::Ping => Ok(Dispatch::Local(complete(era, b"", None, server_info))),
        Method::Discover => Ok(Dispatch::Listed(view.discover())),
        Method::Listen => Ok(Dispatch::Listen),
        Method::SetLevel => set_level(frame).map(Dispatch::SetLevel),
        Method::ToolsCall => tool_call(frame, view, server_info),
        Method::PromptsGet => prompt(frame, view).map(Dispatch::Forward),
        Method::ResourcesRead | Method::Subscribe | Method::Unsubscribe => {
            resource(frame, view, method).map(Dispatch::Forward)
        }
        Method::Complete => completion(frame, view).map(Dispatch::Forward),
        _ => Err(unknown(method, era)),
    }
}

/// Returns true if the answer may change when more servers become available: the request asks for a list, or for an
/// item that no available server has.
pub fn may_gain(frame: &Frame, view: &View) -> bool {
    let Some(method) = Method::from_name(&frame.method()) else { return false };
    let lacks =
        |key: &'static str, has: &dyn Fn(&str) -> bool| text(frame, key).is_ok_and(|(_, name)| !has(&name));
    match method {
        _ if wants_list(frame, view) => true,
        Method::ToolsCall => lacks("name", &|name| view.has_tool(name)),
        Method::PromptsGet => lacks("name", &|name| view.prompt(name).is_some()),
        Method::ResourcesRead | Method::Subscribe => {
            lacks("uri", &|uri| rest_id(uri).is_some() || view.resource_owner(uri).is_some())
        }
        _ => false,
    }
}

/// Returns true if a server whose catalogue is still unknown may have the requested item.
pub fn may_own(frame: &Frame, view: &View, server: &str) -> bool {
    match Method::from_name(&frame.method()) {
        Some(Method::ToolsCall | Method::PromptsGet) => {
            text(frame, "name").is_ok_and(|(_, name)| view.may_be_of(&name, server))
        }
        _ => true,
    }
}

/// Returns true if a request is answered from the available servers and need not wait for others.
pub fn wants_list(frame: &Frame, view: &View) -> bool {
    let method = Method::from_name(&frame.method());
    method.is_some_and(|method| method == Method::Discover || ListKind::of_method(method).is_some())
        || searches(frame, view)
}

fn unknown(method: Method, era: &Era) -> Fault {
    Fault::unknown_method(
        method.name(),
        &format!("is not a request that clients can send in protocol version {era}"),
    )
}

/// The capability that a server must declare for a method. If the era has no capability for completion, completion is attempted
/// anyway.
fn needed(method: Method, era: &Era) -> Option<&'static str> {
    match method {
        Method::ToolsList | Method::ToolsCall => Some("tools"),
        Method::PromptsList | Method::PromptsGet => Some("prompts"),
        Method::ResourcesList
        | Method::TemplatesList
        | Method::ResourcesRead
        | Method::Subscribe
        | Method::Unsubscribe => Some("resources"),
        Method::Complete => era.shapes.completions_declared.then_some("completions"),
        Method::SetLevel => Some("logging"),
        _ => None,
    }
}

fn undeclared(method: Method, capability: &str, view: &View) -> Fault {
    let absent: Vec<String> = view
        .upstreams()
        .iter()
        .filter_map(|u| Some(format!("{} ({})", u.name, u.catalogue.as_ref().err()?.reason)))
        .collect();
    let mut why = format!("is not served here: this profile has no {capability} that this caller may use");
    if !absent.is_empty() {
        why = format!("{why}; currently unavailable: {}", absent.join(", "));
    }
    Fault::unknown_method(method.name(), &why)
}

fn list<'v>(frame: &Frame, view: &'v View, kind: ListKind) -> Result<&'v CacheableResult, Fault> {
    let cursor = frame.param("cursor")?;
    let cursor = match cursor {
        Some(span) => Some(frame.string(span).ok_or_else(|| param_fault("cursor", "must be a string"))?),
        None => None,
    };
    view.pages(kind).page(cursor.as_deref()).map_err(|why| param_fault("cursor", &why.to_string()))
}

pub(super) fn param_fault(member: &str, what: &str) -> Fault {
    Fault::client(code::INVALID_PARAMS, format!("params.{member} {what}"))
}

/// A string member of `params`: its span and its value.
pub(super) fn text<'f>(frame: &'f Frame, key: &'static str) -> Result<(Span, Cow<'f, str>), Fault> {
    let span = frame.param(key)?.ok_or_else(|| param_fault(key, "is required"))?;
    let text = frame.string(span).ok_or_else(|| param_fault(key, "must be a string"))?;
    Ok((span, text))
}

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn set_level(frame: &Frame) -> Result<Bytes, Fault> {
    let (span, level) = text(frame, "level")?;
    if !LEVELS.contains(&level.as_ref()) {
        return Err(param_fault("level", &format!("must be one of {}", LEVELS.join(", "))));
    }
    Ok(Bytes::copy_from_slice(span.of(frame.text())))
}

fn tool_call<'v>(frame: &Frame, view: &'v View, server_info: &str) -> Result<Dispatch<'v>, Fault> {
    let (span, name) = text(frame, "name")?;
    let Some(tool) = view.tool(&name) else {
        let own = own_call(frame, &name, view, server_info)?;
        return own.map(Dispatch::Own).ok_or_else(|| missing("tool", &name, view));
    };
    let arguments = frame.param("arguments")?.map(|span| span.of(frame.text()));
    let fixed = tool.fixed().map(|fixed| fixed.apply(arguments)).transpose();
    let fixed = fixed.map_err(|argument| fixed_argument(&name, argument))?;
    // The rules see the arguments that the server gets.
    let arguments = fixed.as_deref().or(arguments);
    let admits = |arguments: Option<&[u8]>| view.admits_call(tool, arguments);
    // The tool is listed, so some arguments are allowed. The rules also apply to the arguments as the server
    // interprets them.
    if !admits(arguments)
        || view.readings(tool, arguments).iter().any(|reading| !admits(Some(reading.as_bytes())))
    {
        return Err(denied_arguments(&name).of_server(view.server(tool.upstream)));
    }
    Ok(Dispatch::Forward(Route {
        rename: tool.renaming(&name).map(|real| (span, real)),
        tool: Some(tool),
        arguments: fixed,
        names: if tasks::renames(view) { TaskNames::New } else { TaskNames::None },
        ..Route::to(tool.upstream, Cow::Borrowed(Method::ToolsCall.name()))
    }))
}

fn fixed_argument(tool: &str, argument: &str) -> Fault {
    let message = format!(
        "the argument {argument:?} of tool {tool:?} is set by this gateway and cannot be changed; leave it out"
    );
    Fault::client(code::INVALID_PARAMS, message).about(Condition::InvalidArguments, tool)
}

fn denied_arguments(tool: &str) -> Fault {
    let message = format!(
        "tool {tool:?} cannot be called with these arguments: an access rule of this gateway rejects them; change the arguments, or ask the gateway's operator for access"
    );
    Fault::client(code::INVALID_PARAMS, message).about(Condition::DeniedArguments, tool)
}

fn prompt<'v>(frame: &Frame, view: &'v View) -> Result<Route<'v>, Fault> {
    let (span, name) = text(frame, "name")?;
    let prompt = view.prompt(&name).ok_or_else(|| missing("prompt", &name, view))?;
    let arguments = frame.param("arguments")?.map(|span| span.of(frame.text()));
    if !view.admits_prompt(prompt, arguments) {
        return Err(missing("prompt", &name, view));
    }
    let rename = prompt.renaming(&name).map(|real| (span, real));
    Ok(Route { rename, ..Route::to(prompt.upstream, Cow::Borrowed(Method::PromptsGet.name())) })
}

/// The fault for a resource that does not exist for the caller; `written` is its URI as a JSON string.
pub fn unknown_resource(era: &Era, written: &[u8], uri: &str) -> Fault {
    let data = format!("{{\"uri\":{}}}", String::from_utf8_lossy(written));
    Fault::client(era.resource_not_found, no_resource(uri))
        .with_data(data)
        .about(Condition::UnknownResource, uri)
}

pub(super) fn missing(what: &str, name: &str, view: &View) -> Fault {
    let (condition, kind) = match what {
        "tool" => (Condition::UnknownTool, ListKind::Tools),
        _ => (Condition::UnknownPrompt, ListKind::Prompts),
    };
    if let Some(server) = view.held_by(name).filter(|_| kind == ListKind::Tools) {
        return held(name, server);
    }
    let Some((server, absence)) = view.absence_behind(name) else {
        let list = if kind == ListKind::Tools && view.is_searched() {
            "find_tools"
        } else {
            &format!("{what}s/list")
        };
        let message = format!("unknown {what} {name:?}; {list} shows the valid names");
        let fault = Fault::client(code::INVALID_PARAMS, message).about(condition, name);
        return fault.hiding(view.withheld_by(kind, name));
    };
    let help = if absence.retry { "; the gateway keeps trying, so retry in a few seconds" } else { "" };
    let message = format!("{what} {name:?} cannot be reached: server {server:?} {}{help}", absence.reason);
    Fault::not_sent(server, absence.retry, message)
}

fn held(tool: &str, server: &str) -> Fault {
    let message = format!(
        "tool {tool:?} is held: server {server:?} added it or changed its definition, and nobody has approved that yet; the operator of this gateway can review it with: dragoman definitions {server}"
    );
    Fault::client(code::INVALID_PARAMS, message).about(Condition::HeldTool, tool).of_server(server)
}

/// Sends a request about a task to the server that runs it, unless the gateway itself keeps the task.
fn task<'v>(
    frame: &Frame,
    view: &'v View,
    method: TaskMethod,
    ids: TaskIds<'_>,
) -> Result<Dispatch<'v>, Fault> {
    let found = tasks::route(frame, view, method, ids)?;
    let Some(upstream) = found.upstream.filter(|_| found.home.is_none()) else {
        return Ok(Dispatch::Kept(method, found));
    };
    Ok(Dispatch::Forward(Route {
        rename: Some(found.rename),
        names: TaskNames::Known(method, found.task),
        ..Route::to(upstream, Cow::Borrowed(method.name()))
    }))
}

/// Forwards a method outside the core protocol, if only one upstream can own it.
fn extension<'v>(name: &str, view: &'v View) -> Result<Route<'v>, Fault> {
    let owners = view.extension_owners(name);
    match owners.as_slice() {
        [(upstream, _)] => Ok(Route::to(*upstream, Cow::Owned(name.to_owned()))),
        [] => Err(Fault::unknown_method(
            name,
            "is not part of the protocol, and no server here declares an extension for it",
        )),
        many => {
            let names: Vec<&str> = many.iter().map(|(_, name)| *name).collect();
            let why = format!(
                "could belong to any of the servers {}; use a profile with only one",
                names.join(", ")
            );
            Err(Fault::unknown_method(name, &why))
        }
    }
}
