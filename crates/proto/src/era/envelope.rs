//! The envelope of a stateless request, and the HTTP headers that mirror it (MCP 2026-07-28, base protocol and
//! Streamable HTTP transport).

use super::row::SYSLOG_LEVELS;
use super::{Era, EraFault, Lifecycle, by_version};
use crate::codec::headers::{decode_value, trim};
use crate::json::Span;
use crate::mcp::{Method, meta};
use crate::rpc::Frame;

/// The metadata of a stateless request.
#[derive(Debug, Clone, Copy)]
pub struct Envelope {
    /// The era of the request.
    pub era: &'static Era,
    /// The span of the client's capabilities, a JSON object.
    pub capabilities: Span,
}

/// The headers of an HTTP request that mirror the body. Their values are as received.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mirrored<'a> {
    /// The value of `MCP-Protocol-Version`, if the request has this header.
    pub version: Option<&'a [u8]>,
    /// The value of `Mcp-Method`, if the request has this header.
    pub method: Option<&'a [u8]>,
    /// The value of `Mcp-Name`, if the request has this header.
    pub name: Option<&'a [u8]>,
}

/// Reads and checks the envelope; `headers` is `None` for transports other than HTTP.
///
/// The checks run in the order that the specification's error cases imply: envelope, headers, version.
///
/// # Errors
/// [`EraFault`] for the first check that fails.
pub fn read_envelope(frame: &Frame, headers: Option<Mirrored<'_>>) -> Result<Envelope, EraFault> {
    let version = required(frame, meta::PROTOCOL_VERSION)?;
    let version =
        frame.string(version).ok_or(EraFault::Envelope(meta::PROTOCOL_VERSION, "must be a string"))?;
    let capabilities = required(frame, meta::CLIENT_CAPABILITIES)?;
    object(frame, capabilities, meta::CLIENT_CAPABILITIES)?;
    if let Some(info) = frame.meta(meta::CLIENT_INFO)? {
        object(frame, info, meta::CLIENT_INFO)?;
    }
    if let Some(level) = frame.meta(meta::LOG_LEVEL)?
        && !frame.string(level).is_some_and(|level| SYSLOG_LEVELS.contains(&level.as_ref()))
    {
        return Err(EraFault::Envelope(meta::LOG_LEVEL, "must be one of the eight syslog levels"));
    }
    if let Some(headers) = headers {
        check_headers(frame, &version, headers)?;
    }
    match by_version(&version) {
        Some(era) if era.lifecycle == Lifecycle::Stateless => Ok(Envelope { era, capabilities }),
        _ => Err(EraFault::unsupported(&version)),
    }
}

/// Checks the mirrored headers that a notification over HTTP has: header and body must agree.
///
/// # Errors
/// [`EraFault::Header`] for a header that differs from the body, [`EraFault::Envelope`] for a version that is not a
/// string, and [`EraFault::Duplicate`].
pub fn check_notification(frame: &Frame, headers: Mirrored<'_>) -> Result<(), EraFault> {
    if headers.version.is_some()
        && let Some(version) = frame.meta(meta::PROTOCOL_VERSION)?
    {
        let version =
            frame.string(version).ok_or(EraFault::Envelope(meta::PROTOCOL_VERSION, "must be a string"))?;
        mirrors("MCP-Protocol-Version", headers.version, &version, false)?;
    }
    if headers.method.is_some() {
        mirrors("Mcp-Method", headers.method, &frame.method(), false)?;
    }
    Ok(())
}

fn required(frame: &Frame, key: &'static str) -> Result<Span, EraFault> {
    frame.meta(key)?.ok_or(EraFault::Envelope(key, "is required in every request of this protocol version"))
}

fn object(frame: &Frame, span: Span, key: &'static str) -> Result<(), EraFault> {
    if span.of(frame.text())[0] == b'{' { Ok(()) } else { Err(EraFault::Envelope(key, "must be an object")) }
}

fn check_headers(frame: &Frame, version: &str, headers: Mirrored<'_>) -> Result<(), EraFault> {
    mirrors("MCP-Protocol-Version", headers.version, version, false)?;
    mirrors("Mcp-Method", headers.method, &frame.method(), false)?;
    if let Some(key) = mirrored_param(&frame.method()) {
        match frame.param(key)? {
            None if headers.name.is_some() => {
                let what = format!("is present, but the body has no params.{key}");
                return Err(EraFault::Header("Mcp-Name".to_owned(), what));
            }
            // If both are missing, the request is rejected for its params, not for its header. The same is true if
            // the parameter is not a string.
            None => {}
            Some(span) => {
                if let Some(value) = frame.string(span) {
                    mirrors("Mcp-Name", headers.name, &value, true)?;
                }
            }
        }
    }
    Ok(())
}

/// The member of `params` that `Mcp-Name` mirrors for this method; includes the methods of the tasks
/// extension.
pub(super) fn mirrored_param(method: &str) -> Option<&'static str> {
    match Method::from_name(method) {
        Some(Method::ToolsCall | Method::PromptsGet) => Some("name"),
        Some(Method::ResourcesRead) => Some("uri"),
        _ if matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel") => Some("taskId"),
        _ => None,
    }
}

fn mirrors(name: &str, header: Option<&[u8]>, body: &str, encoded: bool) -> Result<(), EraFault> {
    let fault = |what: String| Err(EraFault::Header(name.to_owned(), what));
    let Some(header) = header else {
        return fault(format!("is missing; the body says {body:?}"));
    };
    let value = if encoded {
        match decode_value(header) {
            Ok(value) => value,
            Err(e) => return fault(format!("cannot be read: {e}")),
        }
    } else {
        match std::str::from_utf8(trim(header)) {
            Ok(value) => value.into(),
            Err(_) => return fault("is not readable text".to_owned()),
        }
    };
    if value == body { Ok(()) } else { fault(format!("says {value:?}, but the body says {body:?}")) }
}
