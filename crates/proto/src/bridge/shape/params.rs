//! The parameters of a client's request, apart from its envelope.

use bytes::Bytes;

use super::edit::Draft;
use super::notification::level;
use crate::era::Era;
use crate::mcp::Method;

/// Translates the params of a client's request, a JSON object, for a server of `to`.
pub fn params(method: &str, params: &Bytes, from: &Era, to: &Era) -> Bytes {
    if from == to {
        return params.clone();
    }
    let Some(mut draft) = Draft::of(params) else { return params.clone() };
    match Method::from_name(method) {
        Some(Method::Complete) if !to.shapes.completion_context => draft.remove("context"),
        Some(Method::SetLevel) => level(&mut draft, from, to),
        Some(Method::ToolsList | Method::PromptsList | Method::ResourcesList | Method::TemplatesList)
            if !to.shapes.pages =>
        {
            draft.remove("cursor");
        }
        _ => {}
    }
    draft.finish_or(params)
}
