//! The questions that a client can be asked, according to the capabilities that it declared.

use crate::era::{Elicitation, Era};
use crate::json::{Members, Span};
use crate::mcp::Method;

/// The capabilities that let a server ask a question (`elicitation`, `sampling`, `roots`), as written; the others are
/// dropped. `{}` for a client that cannot be asked.
pub fn questions_of(capabilities: &[u8]) -> String {
    let Some(members) = object(capabilities) else { return "{}".to_owned() };
    let kept: Vec<String> = ["elicitation", "roots", "sampling"]
        .into_iter()
        .filter_map(|key| {
            let value = members.get(capabilities, key).filter(|value| is_object(capabilities, *value))?;
            let text = std::str::from_utf8(value.of(capabilities)).ok()?;
            Some(format!("\"{key}\":{text}"))
        })
        .collect();
    format!("{{{}}}", kept.join(","))
}

/// Returns true if a client of `era` with these capabilities, a JSON object, can be asked this question. `params`
/// are the question's params: a JSON object in the form of that era.
pub fn declares_question(era: &Era, capabilities: &[u8], method: Method, params: &[u8]) -> bool {
    let Some(members) = object(capabilities) else { return false };
    let own = |key: &str| members.get(capabilities, key).filter(|value| is_object(capabilities, *value));
    let flag = |span: Span, key: &str| {
        Members::of_value(capabilities, span).is_some_and(|m| m.get(capabilities, key).is_some())
    };
    match method {
        Method::RootsList => own("roots").is_some(),
        Method::CreateMessage => own("sampling").is_some_and(|span| {
            let wants_tools = member(params, "tools").is_some() || member(params, "toolChoice").is_some();
            !wants_tools || (era.shapes.sampling_tools && flag(span, "tools"))
        }),
        Method::Elicit => own("elicitation").is_some_and(|span| {
            if is_url(params) {
                return era.shapes.elicitation >= Elicitation::UrlWithId && flag(span, "url");
            }
            // A capability that names neither mode means forms.
            flag(span, "form") || !flag(span, "url")
        }),
        _ => false,
    }
}

fn is_url(params: &[u8]) -> bool {
    member(params, "mode").is_some_and(|span| span.of(params) == b"\"url\"")
}

fn is_object(text: &[u8], value: Span) -> bool {
    value.of(text).first() == Some(&b'{')
}

fn member(text: &[u8], key: &str) -> Option<Span> {
    object(text)?.get(text, key)
}

fn object(text: &[u8]) -> Option<Members> {
    Members::of_document(text, crate::json::MAX_DEPTH).ok()
}
