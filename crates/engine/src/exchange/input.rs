//! Results that ask for input: the client receives the upstream's state only inside a sealed state of the gateway
//! (MCP 2026-07-28, multi round-trip requests).

use proto::era::Era;
use proto::json::{Members, quote, quote_into};
use proto::mcp::meta;
use proto::rpc::{Frame, code};
use serde_json::Value;

use super::position::ResumableRequest;
use crate::fault::Fault;
use crate::sealer::Sealer;

/// The context that a sealed state is bound to, in addition to the request itself.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The principal that made the request.
    pub principal: &'a str,
    /// The server that the request was sent to.
    pub server: &'a str,
    /// The current time, in milliseconds since 1970.
    pub now_ms: u64,
    /// The validity of a state, in milliseconds.
    pub lifetime_ms: u64,
}

/// The text that a state is bound to: principal, server, method, name and arguments, regardless of their spelling.
fn bound(frame: &Frame, binding: Binding<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    for part in [binding.principal, binding.server, &frame.method()] {
        out.extend_from_slice(part.as_bytes());
        out.push(0);
    }
    for key in ["name", "uri", "arguments"] {
        let value = frame.param(key).ok().flatten().map(|span| span.of(frame.text()));
        let value = value.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or(Value::Null);
        canonical(&value, &mut out);
        out.push(0);
    }
    out
}

/// Writes a value regardless of its spelling and of the order of its members.
fn canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            out.push(b'{');
            for key in keys {
                quote_into(out, key);
                out.push(b':');
                canonical(&members[key], out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                canonical(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

/// The decoded content of a client's sealed state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RetryState {
    /// The upstream's own state, a JSON string as written.
    Upstream(String),
    /// A request that waits for answers.
    Parked(ParkedRequest),
    /// The client's user was asked to visit pages before the client retries.
    Visited,
}

/// The process in which a parked request waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParkedRequest {
    /// This process.
    Here(Ticket),
    /// Another process.
    Elsewhere(ParkedElsewhere),
}

/// A request that waits in another process, whose ticket this process cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedElsewhere {
    /// The [`Sealer::epoch`] of the process.
    pub process: u64,
    /// The ticket there.
    pub ticket: Ticket,
    /// The request, if another process can continue it.
    pub resumable: Option<Box<ResumableRequest>>,
}

/// A parked request and one of its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The key under which the request was first sent to its upstream.
    pub key: u64,
    /// The round to be answered.
    pub round: u32,
}

const PARKED: u8 = b'p';
const VISITED: u8 = b'v';

/// The parked request that a client's retry continues; `None` for any other request.
///
/// # Errors
/// Returns invalid params for a state that is not ours, was altered, has expired, or belongs to another principal or
/// request, and for answers that cannot be read.
pub fn parked(
    frame: &Frame,
    era: &Era,
    sealer: &dyn Sealer,
    binding: Binding<'_>,
) -> Result<Option<ParkedRequest>, Fault> {
    Ok(match state_of(frame, era, sealer, binding)? {
        Some(RetryState::Parked(parked)) => {
            answers(frame)?;
            frame.meta(meta::PROGRESS_TOKEN)?;
            Some(parked)
        }
        _ => None,
    })
}

/// The answers in a client's retry, the members of an object.
///
/// # Errors
/// Returns invalid params for anything else.
pub(super) fn answers(retry: &Frame) -> Result<Option<Members>, Fault> {
    let Some(span) = retry.param("inputResponses")? else { return Ok(None) };
    let invalid = || Fault::client(code::INVALID_PARAMS, "params.inputResponses must be an object");
    Members::of_value(retry.text(), span).map(Some).ok_or_else(invalid)
}

/// The fault for a retry whose request is no longer waiting.
pub fn no_longer_open() -> Fault {
    Fault::client(
        code::INVALID_PARAMS,
        "params.requestState belongs to a request that is no longer waiting: it was already answered, has expired, or the gateway was restarted; send the request again without requestState and inputResponses",
    )
}

/// Decodes the state in a client's retry; `None` if the request has no state.
///
/// # Errors
/// Returns invalid params for a state that is not ours, was altered, has expired, or belongs to another principal or
/// request.
pub(super) fn state_of(
    frame: &Frame,
    era: &Era,
    sealer: &dyn Sealer,
    binding: Binding<'_>,
) -> Result<Option<RetryState>, Fault> {
    if !may_ask(era, frame) {
        return Ok(None);
    }
    let Some(span) = frame.param("requestState")? else { return Ok(None) };
    let refuse = |why: &str| Fault::client(code::INVALID_PARAMS, format!("params.requestState {why}"));
    let given = frame.string(span).ok_or_else(|| refuse("must be a string"))?;
    let plain = sealer.open(&given, &bound(frame, binding)).ok_or_else(|| {
        refuse(
            "was issued for another request, was altered, or was sealed under a key that is no longer kept; send the request again without it",
        )
    })?;
    let (expiry, state) = plain.split_at_checked(8).ok_or_else(|| refuse("is too short"))?;
    let expiry = u64::from_be_bytes(expiry.try_into().unwrap_or_default());
    if binding.now_ms >= expiry {
        return Err(refuse("has expired; send the request again without it"));
    }
    Ok(Some(match state {
        [VISITED] => RetryState::Visited,
        [PARKED, ticket @ ..] => {
            let (process, ticket, rest) = Ticket::read(ticket).ok_or_else(|| refuse("is too short"))?;
            let is_here = process == sealer.epoch();
            RetryState::Parked(if is_here {
                ParkedRequest::Here(ticket)
            } else {
                let resumable = ResumableRequest::read(rest, ticket.round).map(Box::new);
                ParkedRequest::Elsewhere(ParkedElsewhere { process, ticket, resumable })
            })
        }
        _ => RetryState::Upstream(String::from_utf8_lossy(state).into_owned()),
    }))
}

impl Ticket {
    /// Reads a ticket, and the process in which its request waits. The last value is the rest of the text.
    fn read(text: &[u8]) -> Option<(u64, Self, &[u8])> {
        let (epoch, text) = text.split_first_chunk()?;
        let (key, text) = text.split_first_chunk()?;
        let (round, text) = text.split_first_chunk()?;
        let ticket = Self { key: u64::from_be_bytes(*key), round: u32::from_be_bytes(*round) };
        Some((u64::from_be_bytes(*epoch), ticket, text))
    }

    /// Seals this ticket as a state for the client of `frame`.
    pub(super) fn seal(
        self,
        (frame, resumable): (&Frame, Option<&ResumableRequest>),
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> String {
        let mut state = vec![PARKED];
        state.extend_from_slice(&sealer.epoch().to_be_bytes());
        state.extend_from_slice(&self.key.to_be_bytes());
        state.extend_from_slice(&self.round.to_be_bytes());
        if let Some(resumable) = resumable {
            resumable.write(&mut state);
        }
        sealed(&state, frame, sealer, binding)
    }
}

/// The state for a client whose user is asked to visit pages before the client retries.
pub(super) fn visited(frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    sealed(&[VISITED], frame, sealer, binding)
}

/// Wraps the upstream's state (a JSON string as written) for the client; the result is also a JSON string.
pub(super) fn wrap_state(state: &[u8], frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    quote(&sealed(state, frame, sealer, binding))
}

fn sealed(state: &[u8], frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    let mut plain = binding.now_ms.saturating_add(binding.lifetime_ms).to_be_bytes().to_vec();
    plain.extend_from_slice(state);
    sealer.seal(&plain, &bound(frame, binding))
}

/// Returns true if requests with this method may be answered with a question.
pub(super) fn may_ask(era: &Era, frame: &Frame) -> bool {
    era.asks == proto::era::Asks::InputRequired
        && matches!(frame.method().as_ref(), "tools/call" | "prompts/get" | "resources/read")
}
