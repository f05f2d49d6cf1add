//! A request in the form that its upstream receives.

use std::borrow::Cow;

use bytes::Bytes;
use proto::codec::headers::encode_value;
use proto::era::Era;
use proto::json::Span;
use proto::mcp::Method;
use proto::rpc::{Frame, code};

use crate::catalogue::{MirroredParam, ToolEntry, UpstreamId};
use crate::fault::Fault;

use super::trace_hop::TraceParent;

/// A message for an upstream.
#[derive(Debug, Clone)]
pub struct Outbound {
    /// The upstream that the message goes to.
    pub upstream: UpstreamId,
    /// The era in whose form the message is written.
    pub era: &'static Era,
    /// The gateway's own id for the message, which is also its progress token: unique in the process.
    pub key: u64,
    /// The message as JSON text.
    pub body: Bytes,
    /// The data for the HTTP headers that mirror the message, in eras that have such headers.
    pub mirror: Option<Mirror>,
    /// The `traceparent` of a traced request, for transports with headers.
    pub traceparent: Option<TraceParent>,
}

/// The parts of a stateless HTTP request that its headers mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// The value of `Mcp-Method`.
    pub method: Cow<'static, str>,
    /// The value of `Mcp-Name`, encoded.
    pub name: Option<String>,
    /// `Mcp-Param-*` headers: names in lower case, values encoded.
    pub params: Vec<(String, String)>,
}

impl Mirror {
    /// The mirror of a message from the gateway itself; such a message has no name.
    pub fn of_method(method: Method) -> Self {
        Self { method: Cow::Borrowed(method.name()), name: None, params: Vec::new() }
    }

    /// The mirror of a client's request in the form that the upstream receives. `real_name` is a JSON string.
    pub(super) fn of_request(
        frame: &Frame,
        method: Cow<'static, str>,
        real_name: Option<&[u8]>,
        tool: Option<&ToolEntry>,
    ) -> Self {
        let text = frame.text();
        let key = match Method::from_name(&method) {
            Some(Method::ToolsCall | Method::PromptsGet) => Some("name"),
            Some(Method::ResourcesRead) => Some("uri"),
            Some(_) => None,
            None => Some("taskId"),
        };
        let named = key.and_then(|key| frame.param(key).ok().flatten());
        // A completion's reference is also renamed, but no header repeats it.
        let name = match real_name.filter(|_| key.is_some()) {
            Some(real) => {
                proto::json::unquote(&real[1..real.len() - 1]).map(|n| encode_value(&n).into_owned())
            }
            None => named.and_then(|span| frame.string(span)).map(|n| encode_value(&n).into_owned()),
        };
        let arguments = frame.param("arguments").ok().flatten();
        let value = |p: &MirroredParam| {
            let value = p.value(text, arguments?)?;
            Some((p.header.clone(), MirroredParam::encode(value.of(text))?))
        };
        let params = tool.map(|t| t.mirrored.iter().filter_map(value).collect()).unwrap_or_default();
        Self { method, name, params }
    }
}

/// The headers of a client's request.
pub trait Headers {
    /// The value of a header as received; the name is in lower case.
    fn get(&self, name: &str) -> Option<&[u8]>;
}

/// Checks the headers of a client's call that mirror arguments, if the client's era has such headers.
///
/// # Errors
/// Returns a header mismatch, as the specification requires (2026-07-28, Streamable HTTP: custom headers).
pub fn check_mirrored(
    frame: &Frame,
    tool: Option<&ToolEntry>,
    (client, headers): (&Era, Option<&dyn Headers>),
) -> Result<(), Fault> {
    match (tool, headers) {
        (Some(tool), Some(headers)) if client.mirrored_headers => {
            check_param_headers(frame, tool, frame.param("arguments")?, headers)
        }
        _ => Ok(()),
    }
}

/// Checks the `Mcp-Param-*` headers of a client's call.
fn check_param_headers(
    frame: &Frame,
    tool: &ToolEntry,
    arguments: Option<Span>,
    headers: &dyn Headers,
) -> Result<(), Fault> {
    for param in &tool.mirrored {
        let value = arguments.and_then(|span| param.value(frame.text(), span));
        let value = value.map(|span| span.of(frame.text()));
        param.agrees(headers.get(&param.header), value).map_err(|what| {
            Fault::client(code::HEADER_MISMATCH, format!("the {} header {what}", param.header))
                .with_status(400)
        })?;
    }
    Ok(())
}
