//! Questions to the user through a form or a URL, and the schemas of forms.

use bytes::Bytes;

use super::UnaskableQuestion;
use super::edit::{Draft, elements, inner, is, is_array, string};
use crate::era::{Elicitation, Era};
use crate::json::quote;

/// Rewrites the params of `elicitation/create` for a client of `to`.
pub(super) fn question(
    params: &mut Draft<'_>,
    to: &Era,
    mint: &mut dyn FnMut() -> String,
) -> Result<(), UnaskableQuestion> {
    let kind = to.shapes.elicitation;
    if kind == Elicitation::None {
        return Err(UnaskableQuestion(format!("protocol version {to} has no way to ask the user")));
    }
    let mode = params.get("mode");
    if is(mode, "url") {
        return url(params, to, mint);
    }
    if kind != Elicitation::PlainForm {
        return Ok(());
    }
    if mode.is_some_and(|mode| !is(Some(mode), "form")) {
        return Err(UnaskableQuestion(format!("protocol version {to} can ask the user only with forms")));
    }
    params.remove("mode");
    let Some(mut schema) = params.get("requestedSchema").and_then(Draft::of) else { return Ok(()) };
    let Some(mut fields) = schema.get("properties").and_then(Draft::of) else { return Ok(()) };
    for (name, field, place) in fields.entries().collect::<Vec<_>>() {
        if let Some(plain) = plain_field(name, field, to)? {
            fields.replace(place, plain);
        }
    }
    if let Some(fields) = fields.finish() {
        schema.set("properties", fields);
    }
    if let Some(schema) = schema.finish() {
        params.set("requestedSchema", schema);
    }
    Ok(())
}

/// Rewrites a URL question. Only one era gives a visit to a URL an id.
fn url(params: &mut Draft<'_>, to: &Era, mint: &mut dyn FnMut() -> String) -> Result<(), UnaskableQuestion> {
    match to.shapes.elicitation {
        Elicitation::None | Elicitation::PlainForm => {
            return Err(UnaskableQuestion(format!(
                "protocol version {to} cannot ask the user to visit a URL"
            )));
        }
        Elicitation::UrlWithId if params.get("elicitationId").is_none() => {
            params.set("elicitationId", quote(&mint()));
        }
        Elicitation::UrlWithId => {}
        Elicitation::Url => params.remove("elicitationId"),
    }
    Ok(())
}

/// Rewrites a form field for 2025-06-18; `None` if nothing changes.
fn plain_field(name: &[u8], field: &[u8], to: &Era) -> Result<Option<Bytes>, UnaskableQuestion> {
    let Some(mut draft) = Draft::of(field) else { return Ok(None) };
    let kind = draft.get("type");
    if is(kind, "array") {
        let name = String::from_utf8_lossy(name);
        let why = format!("\"{name}\" is a multiple-choice field, which protocol version {to} does not have");
        return Err(UnaskableQuestion(why));
    }
    if !is(kind, "boolean") {
        draft.remove("default");
    }
    for key in ["oneOf", "anyOf"] {
        if let Some((values, titles)) = draft.get(key).and_then(titled_choices) {
            draft.remove(key);
            draft.set("enum", values);
            draft.set("enumNames", titles);
            break;
        }
    }
    Ok(draft.finish())
}

/// The values and the titles of choices, each as a JSON array; `None` if an element has another form.
fn titled_choices(choices: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut arrays = (b"[".to_vec(), b"[".to_vec());
    for choice in elements(choices) {
        let choice = Draft::of(choice)?;
        let value = choice.get("const").filter(|value| inner(value).is_some())?;
        let title = choice.get("title").filter(|title| string(title).is_some()).unwrap_or(value);
        for (array, one) in [(&mut arrays.0, value), (&mut arrays.1, title)] {
            if array.len() > 1 {
                array.push(b',');
            }
            array.extend_from_slice(one);
        }
    }
    arrays.0.push(b']');
    arrays.1.push(b']');
    (is_array(choices) && arrays.0.len() > 2).then_some(arrays)
}
