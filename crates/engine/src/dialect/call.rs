//! Prepares calls before they are forwarded: finds the tool and its arguments. Does the same for resources and prompts.
//! This module must not know how a call is carried out.

use std::borrow::Cow;

use bytes::Bytes;
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::ArgumentsMissing;
use proto::json::{Span, Splice};
use proto::rpc::{Frame, FrameLimits};

use super::ask::DialectRequest;
use super::dialect_fault::DialectFault;
use super::facts::{Facts, Stop};
use super::list::schema_of;
use super::repair::{has_repairs, repair};
use crate::catalogue::View;
use crate::fault::{Condition, consent_message, no_resource};

/// The call to forward to the gateway, or the reason not to forward it.
pub(super) fn call(row: &Dialect, ask: &DialectRequest, facts: Facts<'_>) -> Result<Frame, Stop> {
    let name = ask.text_param("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| {
        DialectFault::new(Condition::MissingToolName, "params.name is required and must be a string")
    })?;
    let arguments = arguments(row, ask)?;
    let view = facts.view()?;
    let Some(tool) = view.tool(&name) else {
        // The gateway itself answers calls of its own tools.
        if view.has_tool(&name) {
            return Ok(ask.frame().clone());
        }
        return Err(absent(facts, view, Condition::UnknownTool, &name).into());
    };
    let text = ask.frame().text();
    let written: Cow<'_, [u8]> = arguments.map_or(Cow::Borrowed(b"{}"), |span| Cow::Borrowed(span.of(text)));
    let repaired =
        if has_repairs(row) { repair(row, &written, schema_of(view, &name).as_deref()) } else { None };
    let sent = repaired.as_deref().unwrap_or(&written);
    // The values that the profile fixes are added later.
    let fixed = tool.fixed().and_then(|fixed| fixed.apply(Some(sent)).ok());
    if row.calls.check_arguments
        && let Err(misfit) = tool.check(Some(fixed.as_deref().unwrap_or(sent)))
    {
        let missing = schema_of(view, &name).and_then(|schema| missing(&schema, sent));
        let why =
            missing.map_or_else(|| misfit.to_string(), |key| format!("Missing required parameter: {key}"));
        return Err(DialectFault::new(Condition::InvalidArguments, why).about(name).into());
    }
    let absent = arguments.is_none() && row.calls.arguments_missing == ArgumentsMissing::Empty;
    if absent || repaired.is_some() {
        return with_arguments(ask, sent);
    }
    Ok(ask.frame().clone())
}

/// The span of the arguments; `None` if there are none and the row accepts that.
fn arguments(row: &Dialect, ask: &DialectRequest) -> Result<Option<Span>, Stop> {
    let text = ask.frame().text();
    let policy = row.calls.arguments_missing;
    let found =
        ask.param("arguments").filter(|span| span.of(text) != b"null" || policy == ArgumentsMissing::Refuse);
    let refused = |condition| {
        Stop::from(DialectFault::new(condition, "params.arguments is required and must be an object"))
    };
    match (found, policy) {
        (None, ArgumentsMissing::Refuse) => Err(refused(Condition::InvalidParams)),
        (None, _) => Ok(None),
        (Some(span), _) if span.of(text)[0] == b'{' => Ok(Some(span)),
        // Systems that have no separate type for empty objects write an empty object as a list.
        (Some(span), ArgumentsMissing::Empty) if is_empty_list(span.of(text)) => Ok(None),
        (Some(_), ArgumentsMissing::Empty) => Err(refused(Condition::InvalidArguments)),
        (Some(_), _) => Err(refused(Condition::InvalidParams)),
    }
}

fn is_empty_list(written: &[u8]) -> bool {
    let inner = written.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    inner.is_some_and(|inner| inner.trim_ascii().is_empty())
}

/// The first required argument that is missing.
fn missing(schema: &[u8], arguments: &[u8]) -> Option<String> {
    let schema: serde_json::Value = serde_json::from_slice(schema).ok()?;
    let given: serde_json::Value = serde_json::from_slice(arguments).ok()?;
    let required = schema.get("required")?.as_array()?.iter().filter_map(|name| name.as_str());
    required
        .into_iter()
        .find(|name| given.get(name).is_none_or(serde_json::Value::is_null))
        .map(str::to_owned)
}

/// The request with these arguments.
fn with_arguments(ask: &DialectRequest, arguments: &[u8]) -> Result<Frame, Stop> {
    let text = ask.frame().text();
    let mut splice = Splice::new(text);
    if let Some(params) = ask.params() {
        splice.set(params, b"arguments", arguments);
    }
    parsed(splice.finish())
}

fn parsed(text: Bytes) -> Result<Frame, Stop> {
    Frame::parse(text, FrameLimits::default())
        .map_err(|error| DialectFault::new(Condition::InvalidParams, error.to_string()).into())
}

/// The reason why an item is missing: no server has it, or the server that has it is unavailable.
fn absent(facts: Facts<'_>, view: &View, condition: Condition, name: &str) -> DialectFault {
    match view.absence_behind(name) {
        None => DialectFault::new(condition, format!("no server of this profile has {name:?}")).about(name),
        Some((server, absence)) => {
            let consent = facts.consents.iter().find(|(wanting, _)| wanting == server);
            let consent = consent.map(|(_, page)| page.clone());
            let why = match &consent {
                Some(page) => consent_message(server, page),
                None => format!("server {server:?} {}", absence.reason),
            };
            DialectFault { consent, ..DialectFault::new(Condition::UpstreamDown, why).about(name).of(server) }
        }
    }
}

/// The request to forward for reading a resource.
pub(super) fn read_resource(ask: &DialectRequest, facts: Facts<'_>) -> Result<Frame, Stop> {
    let uri = required(ask, "uri")?;
    if facts.view()?.resource(&uri).is_some() {
        return Ok(ask.frame().clone());
    }
    Err(DialectFault::new(Condition::UnknownResource, no_resource(&uri)).about(uri).into())
}

/// The request to forward for getting a prompt.
pub(super) fn get_prompt(ask: &DialectRequest, facts: Facts<'_>) -> Result<Frame, Stop> {
    let name = required(ask, "name")?;
    let view = facts.view()?;
    if view.prompt(&name).is_some() {
        return Ok(ask.frame().clone());
    }
    Err(absent(facts, view, Condition::UnknownPrompt, &name).into())
}

fn required<'a>(ask: &'a DialectRequest, key: &str) -> Result<Cow<'a, str>, Stop> {
    let found = ask.text_param(key);
    found.ok_or_else(|| {
        DialectFault::new(Condition::InvalidParams, format!("params.{key} is required and must be a string"))
            .into()
    })
}
