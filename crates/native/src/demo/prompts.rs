//! The prompt, which asks a model to introduce Dragoman.

use std::borrow::Cow;

use proto::json::{Members, quote};
use proto::rpc::Frame;

use super::required;
use crate::server::NativeRefusal;

/// The prompt's name.
pub(super) const NAME: &str = "introduce";

/// The members of the result of `prompts/list`.
pub(super) const LIST: &str = r#""prompts":[{"name":"introduce","title":"Introduce Dragoman","description":"Explains Dragoman, or one topic about it, to a newcomer.","arguments":[{"name":"topic","description":"Topic to explain, such as profiles or security. Default: an overview.","required":false}]}]"#;

/// The members of the result of `prompts/get`.
///
/// # Errors
/// Fails if the prompt is unknown, or the topic is not a text.
pub(super) fn get(request: &Frame) -> Result<String, NativeRefusal> {
    let name = required(request, "name")?;
    if name != NAME {
        return Err(NativeRefusal::params(format!("unknown prompt {name:?}; the only prompt is {NAME:?}")));
    }
    let question = match topic(request)?.as_deref().map(str::trim) {
        None | Some("") => "what Dragoman is and what it is good for".to_owned(),
        Some(topic) => format!("this topic of Dragoman, an MCP gateway: {topic}"),
    };
    let text =
        format!("Explain to a newcomer, in a few friendly sentences, {question}. Read demo://welcome first.");
    Ok(format!(
        "\"description\":\"An introduction to Dragoman\",\"messages\":[{{\"role\":\"user\",\"content\":\
         {{\"type\":\"text\",\"text\":{}}}}}]",
        quote(&text)
    ))
}

fn topic(request: &Frame) -> Result<Option<Cow<'_, str>>, NativeRefusal> {
    let Some(span) = request.param("arguments").map_err(|e| NativeRefusal::params(e.to_string()))? else {
        return Ok(None);
    };
    let text = request.text();
    let members = Members::of_value(text, span)
        .ok_or_else(|| NativeRefusal::params("the arguments of a prompt must be an object"))?;
    match members.unique(text, "topic").map_err(|e| NativeRefusal::params(e.to_string()))? {
        None => Ok(None),
        Some(span) => match request.string(span) {
            Some(topic) => Ok(Some(topic)),
            None => Err(NativeRefusal::params("the argument \"topic\" must be a string")),
        },
    }
}
