//! Values for the arguments of the prompt and of the resource template (`completion/complete`).

use std::borrow::Cow;

use proto::json::{Members, quote};
use proto::rpc::Frame;

use super::{prompts, resources};
use crate::server::NativeRefusal;

const TOPICS: &[&str] =
    &["clients", "names", "profiles", "prompts", "protocol versions", "security", "servers", "tools"];
const PEOPLE: &[&str] = &["Ada", "Alan", "Barbara", "Edsger", "Grace", "Katherine", "Margaret"];

/// The members of the result of `completion/complete`.
///
/// # Errors
/// Fails if the params do not fit, or the prompt, the template or the argument does not exist.
pub(super) fn complete(request: &Frame) -> Result<String, NativeRefusal> {
    let reference = object(request, "ref")?;
    let argument = object(request, "argument")?;
    let (name, typed) = (member(request, &argument, "name")?, member(request, &argument, "value")?);
    let kind = member(request, &reference, "type")?;
    let (known, target) = match kind.as_ref() {
        "ref/prompt" => (prompts::NAME, member(request, &reference, "name")?),
        "ref/resource" => (resources::GREETING_TEMPLATE, member(request, &reference, "uri")?),
        _ => return Err(NativeRefusal::params("\"ref.type\" must be \"ref/prompt\" or \"ref/resource\"")),
    };
    if target != known {
        return Err(NativeRefusal::params(format!(
            "nothing can be completed for {target:?}, only for {known:?}"
        )));
    }
    let all = match (kind.as_ref(), name.as_ref()) {
        ("ref/prompt", "topic") => TOPICS,
        ("ref/resource", "name") => PEOPLE,
        _ => return Err(NativeRefusal::params(format!("{known} has no argument {name:?}"))),
    };
    let typed = typed.to_lowercase();
    let fitting: Vec<String> = all
        .iter()
        .filter(|value| value.to_lowercase().starts_with(&typed))
        .map(|value| quote(value))
        .collect();
    Ok(format!(
        "\"completion\":{{\"values\":[{}],\"total\":{},\"hasMore\":false}}",
        fitting.join(","),
        fitting.len()
    ))
}

fn object(request: &Frame, key: &'static str) -> Result<Members, NativeRefusal> {
    let span = request.param(key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    span.and_then(|span| Members::of_value(request.text(), span))
        .ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be an object")))
}

fn member<'a>(request: &'a Frame, of: &Members, key: &'static str) -> Result<Cow<'a, str>, NativeRefusal> {
    let span = of.unique(request.text(), key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    span.and_then(|span| request.string(span))
        .ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be a string")))
}
