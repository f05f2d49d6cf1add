//! Translates a client's request for a server of another era: the envelope that identifies the sender, and the few
//! parameters that only some eras have. This module must not know which server the request is for.

use bytes::Bytes;

use crate::era::{Era, Tasks};
use crate::json::{Splice, quote, unquote};
use crate::mcp::{Method, meta};
use crate::rpc::{Frame, Params};

/// The metadata about the client that each request carries in eras without sessions (MCP 2026-07-28, base
/// protocol: `_meta`).
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The client's capabilities, a JSON object in the form of the server's era.
    pub capabilities: &'a [u8],
    /// The client's name and version, a JSON object.
    pub client_info: &'a [u8],
    /// The lowest severity of log messages that the client asks for, a JSON string; `None` if it asks for no log
    /// messages.
    pub level: Option<&'a [u8]>,
}

/// The members of `_meta` that make up the envelope.
const ENVELOPE: [&str; 4] =
    [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO, meta::LOG_LEVEL];

/// The parameters with which a client continues its request after it was asked for input. They are dropped if the
/// eras ask for input in different ways, because then the gateway handles the rounds itself.
const ROUND: [&str; 2] = ["inputResponses", "requestState"];

/// Translates a client's request into the server's era. Ids, names and tokens stay unchanged, and so do all
/// members that neither era defines, including unknown members of `_meta`.
pub fn request(frame: &Frame, from: &Era, to: &Era, envelope: &Envelope<'_>) -> Bytes {
    if from == to {
        return frame.text().clone();
    }
    let version = quote(to.version);
    let given = (!to.has_sessions()).then(|| given(&version, envelope));
    let whole = given.as_ref().map(|members| object(members));
    let params = whole.as_ref().map(|own| [br#"{"_meta":"#.as_slice(), own, b"}"].concat());
    let mut splice = Splice::new(frame.text());
    match frame.params() {
        Some(found) => {
            drop_parameters(&mut splice, frame, found, from, to);
            match (&given, &whole, &found.meta) {
                (Some(members), _, Some(own)) => {
                    for key in ENVELOPE {
                        match members.iter().find(|(name, _)| *name == key) {
                            Some((_, value)) => splice.set(own, key.as_bytes(), value),
                            None => splice.remove(own, key.as_bytes()),
                        };
                    }
                }
                (Some(_), Some(all), None) => {
                    splice.set(&found.members, b"_meta", all);
                }
                _ if !from.has_sessions() => strip(&mut splice, frame, found),
                _ => {}
            }
        }
        None => {
            if let Some(params) = &params {
                splice.set(frame.members(), b"params", params);
            }
        }
    }
    splice.finish()
}

/// Returns true if [`request`] would change nothing. This is so if the eras are the same, or if both have sessions,
/// ask for input in the same way, and no parameter must be dropped.
pub fn is_alike(frame: &Frame, from: &Era, to: &Era) -> bool {
    if from == to {
        return true;
    }
    let has = |key| !matches!(frame.param(key), Ok(None));
    from.has_sessions()
        && to.has_sessions()
        && from.asks == to.asks
        && match Method::from_name(&frame.method()) {
            Some(Method::ToolsCall) => !has("task"),
            Some(Method::Complete) => !has("context"),
            _ => true,
        }
}

/// The members of an envelope for a stateless server.
fn given<'a>(version: &'a str, envelope: &Envelope<'a>) -> Vec<(&'static str, &'a [u8])> {
    let mut members = vec![
        (meta::PROTOCOL_VERSION, version.as_bytes()),
        (meta::CLIENT_CAPABILITIES, envelope.capabilities),
        (meta::CLIENT_INFO, envelope.client_info),
    ];
    members.extend(envelope.level.map(|level| (meta::LOG_LEVEL, level)));
    members
}

fn object(members: &[(&str, &[u8])]) -> Vec<u8> {
    let each: Vec<Vec<u8>> =
        members.iter().map(|(key, value)| [b"\"", key.as_bytes(), b"\":", value].concat()).collect();
    [b"{".as_slice(), &each.join(&b','), b"}"].concat()
}

/// Drops parameters that the era `to` does not define, or to which it gives another meaning.
fn drop_parameters(splice: &mut Splice<'_>, frame: &Frame, params: &Params, from: &Era, to: &Era) {
    match Method::from_name(&frame.method()) {
        Some(Method::ToolsCall) => {
            if from.shapes.tasks != Tasks::Experiment || to.shapes.tasks != Tasks::Experiment {
                splice.remove(&params.members, b"task");
            }
        }
        Some(Method::PromptsGet | Method::ResourcesRead) => {}
        Some(Method::Complete) => {
            if !to.shapes.completion_context {
                splice.remove(&params.members, b"context");
            }
            return;
        }
        _ => return,
    }
    if from.asks != to.asks {
        for key in ROUND {
            splice.remove(&params.members, key.as_bytes());
        }
    }
}

/// Removes the envelope, and also `_meta` if nothing else is in it.
fn strip(splice: &mut Splice<'_>, frame: &Frame, params: &Params) {
    let Some(own) = &params.meta else { return };
    let belongs = |key: &[u8]| unquote(key).is_some_and(|key| ENVELOPE.contains(&key.as_ref()));
    if own.iter().all(|member| belongs(member.key.of(frame.text()))) {
        splice.remove(&params.members, b"_meta");
        return;
    }
    for key in ENVELOPE {
        splice.remove(own, key.as_bytes());
    }
}
