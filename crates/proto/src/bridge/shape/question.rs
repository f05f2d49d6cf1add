//! Questions from a server to a client, and the client's answers.

use bytes::Bytes;

use super::edit::{Draft, Element, each};
use super::{elicitation, sampling};
use crate::era::{Asks, Era, Tasks};
use crate::mcp::{Method, meta};

/// The reason why a client's era cannot express a question: a sentence for the server's operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnaskableQuestion(pub String);

/// Translates the params of a server's question, a JSON object, for a client of `to`. If `to` requires an id for a visit
/// to a URL and the server gave none, `mint` supplies one.
///
/// # Errors
/// [`UnaskableQuestion`] if that era cannot express the question.
pub fn question(
    method: &str,
    params: &Bytes,
    from: &Era,
    to: &Era,
    mint: &mut dyn FnMut() -> String,
) -> Result<Bytes, UnaskableQuestion> {
    if from == to {
        return Ok(params.clone());
    }
    let Some(mut draft) = Draft::of(params) else {
        return Err(UnaskableQuestion("the params of the question are not a JSON object".to_owned()));
    };
    match Method::from_name(method) {
        Some(Method::Elicit) => elicitation::question(&mut draft, to, mint)?,
        Some(Method::CreateMessage) => sampling::question(&mut draft, to)?,
        Some(Method::RootsList) if !to.shapes.roots => {
            return Err(UnaskableQuestion(format!("protocol version {to} has no roots")));
        }
        _ => {}
    }
    if to.shapes.tasks != Tasks::Experiment {
        draft.remove("task");
    }
    if to.asks == Asks::InputRequired {
        // A client that is asked through results reports no progress of its answer.
        draft.remove_within("_meta", &[meta::PROGRESS_TOKEN]);
    }
    Ok(draft.finish_or(params))
}

/// Translates the client's answer to a question for the server: `from` is the client's era, `to` the server's.
pub fn answer(method: &str, result: &Bytes, from: &Era, to: &Era) -> Bytes {
    if from == to {
        return result.clone();
    }
    let Some(mut draft) = Draft::of(result) else { return result.clone() };
    if from.typed_results && !to.typed_results {
        draft.remove("resultType");
        draft.remove_within("_meta", &[meta::CLIENT_INFO, meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES]);
    }
    match Method::from_name(method) {
        Some(Method::CreateMessage) => sampling::answer(&mut draft, to),
        Some(Method::RootsList) if to.shapes.strict => draft.rewrite("roots", |roots| {
            each(roots, |_, root| {
                let changed = Draft::of(root).and_then(|mut root| {
                    root.remove("_meta");
                    root.finish()
                });
                Element::from(changed)
            })
        }),
        _ => {}
    }
    draft.finish_or(result)
}
