//! Results that ask for input: the upstream's state goes to the client only inside a sealed one of ours
//! (MCP 2026-07-28, multi round-trip requests).

use proto::era::Era;
use proto::json::{Members, quote, quote_into};
use proto::mcp::meta;
use proto::rpc::{Frame, code};
use serde_json::Value;

use crate::fault::Fault;
use crate::sealer::Sealer;

/// What a sealed state is bound to, besides the request itself.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// Who asked.
    pub principal: &'a str,
    /// Whom.
    pub server: &'a str,
    /// Milliseconds since 1970, now.
    pub now_ms: u64,
    /// Milliseconds for which a state may be used.
    pub lifetime_ms: u64,
}

/// The text that a state is bound to: principal, server, method, name and arguments, whatever their spelling.
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

/// Writes a value so that neither spelling nor the order of members matters.
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

/// What a client's state stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// The upstream's own, a JSON string as written.
    Upstream(String),
    /// A request that waits for answers.
    Parked(Ticket),
    /// The user was sent to pages that had to be visited first.
    Visited,
}

/// Which parked request a state belongs to, and which of its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The key under which the request first went to its upstream.
    pub key: u64,
    /// The round that is to be answered.
    pub round: u32,
}

const PARKED: u8 = b'p';
const VISITED: u8 = b'v';

/// The parked request that a client's retry belongs to; `None` for any other request.
///
/// # Errors
/// Invalid params for a state that is not ours, was altered, is too old, or belongs to somebody or something else, and for
/// answers that cannot be read.
pub fn parked(
    frame: &Frame,
    era: &Era,
    sealer: &dyn Sealer,
    binding: Binding<'_>,
) -> Result<Option<Ticket>, Fault> {
    Ok(match state_of(frame, era, sealer, binding)? {
        Some(State::Parked(ticket)) => {
            answers(frame)?;
            frame.meta(meta::PROGRESS_TOKEN)?;
            Some(ticket)
        }
        _ => None,
    })
}

/// The answers that a client's retry brings, the members of an object.
///
/// # Errors
/// Invalid params for anything else.
pub(super) fn answers(retry: &Frame) -> Result<Option<Members>, Fault> {
    let Some(span) = retry.param("inputResponses")? else { return Ok(None) };
    let invalid = || Fault::client(code::INVALID_PARAMS, "params.inputResponses must be an object");
    Members::of_value(retry.text(), span).map(Some).ok_or_else(invalid)
}

/// The refusal of a retry whose request waits no more.
pub fn no_longer_open() -> Fault {
    Fault::client(
        code::INVALID_PARAMS,
        "params.requestState belongs to a request that waits no more: it was answered already, took too long, or the \
         gateway was started again meanwhile; send the request without requestState and inputResponses",
    )
}

/// What the state of a client's retry stands for; `None` when the request carries none.
///
/// # Errors
/// Invalid params for a state that is not ours, was altered, is too old, or belongs to somebody or something else.
pub(super) fn state_of(
    frame: &Frame,
    era: &Era,
    sealer: &dyn Sealer,
    binding: Binding<'_>,
) -> Result<Option<State>, Fault> {
    if !may_ask(era, frame) {
        return Ok(None);
    }
    let Some(span) = frame.param("requestState")? else { return Ok(None) };
    let refuse = |why: &str| Fault::client(code::INVALID_PARAMS, format!("params.requestState {why}"));
    let given = frame.string(span).ok_or_else(|| refuse("must be a string"))?;
    let plain = sealer.open(&given, &bound(frame, binding)).ok_or_else(|| {
        refuse(
            "was not given for this request, was altered, or is from before the gateway was started again; send the \
             request without it",
        )
    })?;
    let (expiry, state) = plain.split_at_checked(8).ok_or_else(|| refuse("is too short"))?;
    let expiry = u64::from_be_bytes(expiry.try_into().unwrap_or_default());
    if binding.now_ms >= expiry {
        return Err(refuse("is too old; send the request without it"));
    }
    Ok(Some(match state {
        [VISITED] => State::Visited,
        [PARKED, ticket @ ..] => State::Parked(Ticket::read(ticket).ok_or_else(|| refuse("is too short"))?),
        _ => State::Upstream(String::from_utf8_lossy(state).into_owned()),
    }))
}

impl Ticket {
    fn read(text: &[u8]) -> Option<Self> {
        let (key, round) = text.split_at_checked(8)?;
        Some(Self {
            key: u64::from_be_bytes(key.try_into().ok()?),
            round: u32::from_be_bytes(round.try_into().ok()?),
        })
    }

    /// The state that this ticket is shown as to the client of `frame`.
    pub(super) fn seal(self, frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
        let mut state = vec![PARKED];
        state.extend_from_slice(&self.key.to_be_bytes());
        state.extend_from_slice(&self.round.to_be_bytes());
        sealed(&state, frame, sealer, binding)
    }
}

/// The state of a client that is sent to pages first.
pub(super) fn visited(frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    sealed(&[VISITED], frame, sealer, binding)
}

/// Wraps the upstream's state, a JSON string as written, for the client; the result is a JSON string too.
pub(super) fn wrap_state(state: &[u8], frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    quote(&sealed(state, frame, sealer, binding))
}

fn sealed(state: &[u8], frame: &Frame, sealer: &dyn Sealer, binding: Binding<'_>) -> String {
    let mut plain = binding.now_ms.saturating_add(binding.lifetime_ms).to_be_bytes().to_vec();
    plain.extend_from_slice(state);
    sealer.seal(&plain, &bound(frame, binding))
}

/// Returns true if requests of this method may be answered with a question.
pub(super) fn may_ask(era: &Era, frame: &Frame) -> bool {
    era.asks == proto::era::Asks::InputRequired
        && matches!(frame.method().as_ref(), "tools/call" | "prompts/get" | "resources/read")
}
