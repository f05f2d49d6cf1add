//! The call inside a call of `call_tool`. The inner call is extracted before any other code reads the request, so
//! rules, limits, records and errors apply to the tool that the client means. This module must not know which tools
//! exist.

use std::borrow::Cow;

use bytes::Bytes;
use proto::json::{MAX_DEPTH, Members, Span, Splice, unquote};
use proto::mcp::Method;
use proto::rpc::{Frame, FrameLimits};

use super::own_tools::CALL_TOOL;

/// The arguments of a call of `call_tool`.
struct InnerCall<'f> {
    params: &'f Members,
    /// The name of the tool, a JSON string.
    name: Span,
    /// The arguments for the tool.
    arguments: Option<Span>,
}

impl<'f> InnerCall<'f> {
    /// Finds the arguments in a request; `None` if the request is not a call of `call_tool`, or if its arguments are unusable.
    fn of(frame: &'f Frame) -> Option<Self> {
        if frame.method() != Method::ToolsCall.name()
            || frame.string(frame.param("name").ok()??)? != CALL_TOOL
        {
            return None;
        }
        let text = frame.text();
        let members = Members::of_value(text, frame.param("arguments").ok()??)?;
        let name = members.unique(text, "name").ok()??;
        frame.string(name)?;
        let arguments = members.unique(text, "arguments").ok()?;
        Some(Self { params: &frame.params()?.members, name, arguments })
    }
}

/// The call inside a call of `call_tool`, as if the client had sent it; `None` for any other request, and for one without a
/// usable name.
pub fn inner_call(frame: &Frame) -> Option<Frame> {
    let inner = InnerCall::of(frame)?;
    let text = frame.text();
    let unwrapped = inner.arguments.map(|span| arguments(text, span));
    let mut splice = Splice::new(text);
    splice.set(inner.params, b"name", inner.name.of(text));
    match &unwrapped {
        Some(arguments) => splice.set(inner.params, b"arguments", arguments),
        None => splice.remove(inner.params, b"arguments"),
    };
    Frame::parse(splice.finish(), FrameLimits::default()).ok()
}

/// The tool that a request calls; for a call of `call_tool`, the tool of the inner call.
pub fn inner_name(frame: &Frame) -> Option<Cow<'_, str>> {
    frame.string(InnerCall::of(frame)?.name)
}

/// The arguments for the tool. Many models write an object inside an object as a string, so a string that contains
/// an object is read as that object.
fn arguments(text: &Bytes, span: Span) -> Cow<'_, [u8]> {
    let written = span.of(text);
    let inside = written.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).and_then(unquote);
    match inside.filter(|inside| Members::of_document(inside.trim().as_bytes(), MAX_DEPTH).is_ok()) {
        Some(inside) => Cow::Owned(inside.trim().as_bytes().to_vec()),
        None => Cow::Borrowed(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(params: &str) -> Frame {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{params}}}"#);
        Frame::parse(text.into(), FrameLimits::default()).unwrap()
    }

    fn inner(params: &str) -> Option<String> {
        let inner = inner_call(&frame(params))?;
        let params = inner.params().unwrap().members.span().of(inner.text()).to_vec();
        Some(String::from_utf8(params).unwrap())
    }

    #[test]
    fn the_inner_call_replaces_the_outer_one_and_keeps_everything_else() {
        let outer = r#"{"_meta":{"progressToken":7},"name":"call_tool","task":{"ttl":1},"arguments":{"name":"a__b","arguments":{"x":1e2}}}"#;
        let wanted = r#"{"_meta":{"progressToken":7},"name":"a__b","task":{"ttl":1},"arguments":{"x":1e2}}"#;
        assert_eq!(inner(outer).as_deref(), Some(wanted));
        assert_eq!(inner_name(&frame(outer)).as_deref(), Some("a__b"));
    }

    #[test]
    fn arguments_may_be_missing_or_written_as_a_string() {
        let of = |arguments: &str| inner(&format!(r#"{{"name":"call_tool","arguments":{arguments}}}"#));
        assert_eq!(of(r#"{"name":"x"}"#).as_deref(), Some(r#"{"name":"x"}"#));
        let written = r#"{"name":"x","arguments":" {\"a\":[\"\\n\"]} "}"#;
        assert_eq!(of(written).as_deref(), Some(r#"{"name":"x","arguments":{"a":["\n"]}}"#));
        // All other values are left for the check of the tool's arguments.
        for odd in [r#""{""#, r#""text""#, "[]", "null", r#""{\"a\":1,}""#] {
            let kept = format!(r#"{{"name":"x","arguments":{odd}}}"#);
            assert_eq!(of(&kept), Some(kept), "{odd}");
        }
    }

    #[test]
    fn other_requests_and_calls_without_a_usable_name_have_no_inner_call() {
        for other in [
            r#"{"name":"find_tools","arguments":{"name":"x"}}"#,
            r#"{"name":"call_tool"}"#,
            r#"{"name":"call_tool","arguments":null}"#,
            r#"{"name":"call_tool","arguments":{}}"#,
            r#"{"name":"call_tool","arguments":{"name":7}}"#,
            r#"{"name":"call_tool","arguments":{"name":"x","name":"y"}}"#,
            r#"{"name":"call_tool","arguments":{"name":"x","arguments":{},"arguments":{"a":1}}}"#,
            r#"{"name":"call_tool","arguments":{"name":"\ud800"}}"#,
        ] {
            assert_eq!(inner(other), None, "{other}");
        }
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"call_tool","arguments":{"name":"x"}}}"#;
        let frame = Frame::parse(Bytes::from_static(text), FrameLimits::default()).unwrap();
        assert!(inner_call(&frame).is_none());
    }
}
