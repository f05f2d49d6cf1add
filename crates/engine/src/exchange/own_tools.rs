//! Calls of the gateway's own tools, for profiles whose tools are found by searching. This module must not know how a search
//! works.

use bytes::Bytes;
use proto::bridge::shape::{GatewayIdentity, result};
use proto::era::newest_handshake;
use proto::json::quote;
use proto::mcp::Method;
use proto::rpc::Frame;

use super::invalid::invalid_arguments;
use crate::catalogue::View;
use crate::fault::Fault;
use crate::search::{CALL_TOOL, FIND_TOOLS, FindTools, inner_call};

/// The call inside a call of `call_tool`; `None` for any other request, or if the view's tools are all listed.
pub fn inner_request(frame: &Frame, view: &View) -> Option<Frame> {
    view.search().and_then(|_| inner_call(frame))
}

/// Returns true if a request searches the view's tools.
pub(super) fn searches(frame: &Frame, view: &View) -> bool {
    view.search().is_some()
        && frame.method() == Method::ToolsCall.name()
        && frame
            .param("name")
            .is_ok_and(|name| name.and_then(|span| frame.string(span)).is_some_and(|name| name == FIND_TOOLS))
}

/// The result of a call of the gateway's own tool `name`; `None` if there is no such tool.
pub(super) fn own_call(
    frame: &Frame,
    name: &str,
    view: &View,
    server_info: &str,
) -> Result<Option<Bytes>, Fault> {
    let Some(search) = view.search() else { return Ok(None) };
    let invalid = |what: &str| invalid_arguments(view.era(), server_info, what).map(Some);
    match name {
        FIND_TOOLS => {
            let arguments = frame.param("arguments")?.map(|span| span.of(frame.text()));
            let wanted = match FindTools::of(arguments.filter(|text| *text != b"null")) {
                Ok(wanted) => wanted,
                Err(why) => return invalid(&why),
            };
            let found = search.answer(&wanted);
            let found = found.ok_or_else(|| Fault::gateway("the tools are being indexed; search again"))?;
            found_result(&found, view, server_info).map(Some)
        }
        // A usable call was replaced by the call inside it.
        CALL_TOOL => invalid(&format!(
            "\"name\" must be the name of a tool that {FIND_TOOLS} returned, and \"arguments\" an object with the tool's \
             arguments"
        )),
        _ => Ok(None),
    }
}

/// A tool's result with this text, in the form of the clients' era.
fn found_result(text: &str, view: &View, server_info: &str) -> Result<Bytes, Fault> {
    let text = format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":false}}", quote(text));
    let own = GatewayIdentity { server_info };
    result(Method::ToolsCall.name(), &text.into(), newest_handshake(), view.era(), &own)
        .map_err(Fault::gateway)
}
