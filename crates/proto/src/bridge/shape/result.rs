//! Results of a client's requests: the data of each method, and the members that an era requires in every result.

use bytes::Bytes;

use super::edit::{Draft, Element, each, is, is_array};
use super::{Listed, content, item, tool_result};
use crate::era::Era;
use crate::json::{Span, Splice};
use crate::mcp::{Method, meta};

/// The gateway's identity, for results in which an upstream gave none.
#[derive(Debug, Clone, Copy)]
pub struct GatewayIdentity<'a> {
    /// The gateway's name and version: a JSON object.
    pub server_info: &'a str,
}

/// The changes that convert a result from one era to another.
#[derive(Debug)]
pub struct ResultChanges<'a>(Draft<'a>);

impl<'a> ResultChanges<'a> {
    /// Reads the result of `method` at `place` of a message, and determines the changes for `to`. For
    /// `resources/templates/list` from an era that lists templates among the resources, pass the result of
    /// `resources/list`.
    ///
    /// Results that ask for input and results of tasks are not translated here.
    ///
    /// # Errors
    /// Returns the reason as text, if the result is not an object or has an undeclared type.
    pub fn of(
        method: &str,
        (text, place): (&'a [u8], Span),
        from: &Era,
        to: &Era,
        own: &GatewayIdentity<'_>,
    ) -> Result<Self, String> {
        if is_plain_for(method, place.of(text), from, to) {
            return Ok(Self(Draft::unread(text)));
        }
        let draft = Draft::within(text, place.start()).ok_or("the result is not a JSON object")?;
        decided(draft, method, from, to, own).map(Self)
    }

    /// Makes the changes in `splice`, which edits the message's text.
    pub fn apply<'s>(&'s self, splice: &mut Splice<'s>) {
        self.0.apply(splice);
    }
}

/// Translates the result of `method` for `to`, as [`ResultChanges`] does in a message.
///
/// # Errors
/// Returns the reason as text, if `result` is not an object or has an undeclared type.
pub fn result(
    method: &str,
    result: &Bytes,
    from: &Era,
    to: &Era,
    own: &GatewayIdentity<'_>,
) -> Result<Bytes, String> {
    if from == to {
        return Ok(result.clone());
    }
    let draft = Draft::of(result).ok_or("the result is not a JSON object")?;
    Ok(decided(draft, method, from, to, own)?.finish_or(result))
}

/// Returns true if the bytes of a result alone show that nothing in it changes. This is the case for the usual
/// result of a tool between two versions with a handshake.
fn is_plain_for(method: &str, result: &[u8], from: &Era, to: &Era) -> bool {
    !from.typed_results
        && !to.typed_results
        && method == Method::ToolsCall.name()
        && tool_result::is_plain_for(result, to)
}

fn decided<'a>(
    mut draft: Draft<'a>,
    method: &str,
    from: &Era,
    to: &Era,
    own: &GatewayIdentity<'_>,
) -> Result<Draft<'a>, String> {
    let known = Method::from_name(method);
    if from.typed_results {
        untype(&mut draft, known, to)?;
    }
    match known {
        Some(Method::ToolsCall) => tool_result::rewrite(&mut draft, to),
        Some(Method::PromptsGet) => prompt(&mut draft, to),
        Some(Method::ResourcesRead) => read(&mut draft, to),
        Some(Method::ToolsList) => list(&mut draft, Listed::Tool, from, to),
        Some(Method::PromptsList) => list(&mut draft, Listed::Prompt, from, to),
        Some(Method::ResourcesList) => list(&mut draft, Listed::Resource, from, to),
        Some(Method::TemplatesList) => list(&mut draft, Listed::Template, from, to),
        _ => {}
    }
    if to.typed_results && !from.typed_results {
        dress(&mut draft, known, own);
    }
    Ok(draft)
}

/// Returns true if results of this request state how long they may be cached (MCP 2026-07-28, caching).
fn is_cacheable(method: Option<Method>) -> bool {
    matches!(
        method,
        Some(
            Method::Discover
                | Method::ToolsList
                | Method::PromptsList
                | Method::ResourcesList
                | Method::TemplatesList
                | Method::ResourcesRead
        )
    )
}

/// Removes members that only typed results have.
fn untype(result: &mut Draft<'_>, method: Option<Method>, to: &Era) -> Result<(), String> {
    if let Some(kind) = result.get("resultType")
        && !is(Some(kind), "complete")
    {
        let kind = String::from_utf8_lossy(kind);
        return Err(format!("a result of type {kind} is unknown in protocol version {to}"));
    }
    if !to.typed_results {
        result.remove("resultType");
        if is_cacheable(method) {
            result.remove_all(&["ttlMs", "cacheScope"]);
        }
        result.remove_within("_meta", &[meta::SERVER_INFO]);
    }
    Ok(())
}

/// Adds members that typed results must have. The added cache hint allows no caching.
fn dress(result: &mut Draft<'_>, method: Option<Method>, own: &GatewayIdentity<'_>) {
    result.set("resultType", "\"complete\"");
    if is_cacheable(method) {
        result.set("ttlMs", "0");
        result.set("cacheScope", "\"private\"");
    }
    let info = || Bytes::copy_from_slice(own.server_info.as_bytes());
    match result.get("_meta").and_then(Draft::of) {
        Some(found) if found.get(meta::SERVER_INFO).is_some() => {}
        Some(mut found) => {
            found.set(meta::SERVER_INFO, info());
            if let Some(found) = found.finish() {
                result.set("_meta", found);
            }
        }
        None => result.set("_meta", format!("{{\"{}\":{}}}", meta::SERVER_INFO, own.server_info)),
    }
}

fn prompt(result: &mut Draft<'_>, to: &Era) {
    let (known, shapes) = (to.shapes.prompt_content, to.shapes);
    if content::passes(known, shapes) {
        return;
    }
    result.rewrite("messages", |messages| {
        each(messages, |index, message| {
            let Some(mut message) = Draft::of(message) else { return Element::Same };
            message.rewrite("content", |block| content::block(index, block, known, shapes));
            Element::from(message.finish())
        })
    });
}

fn read(result: &mut Draft<'_>, to: &Era) {
    if to.shapes.strict {
        result.rewrite("contents", |contents| each(contents, |_, one| Element::from(content::contents(one))));
    }
}

/// Rewrites a list and the members beside it: templates among resources, and the cursor of the next page.
fn list(result: &mut Draft<'_>, kind: Listed, from: &Era, to: &Era) {
    item::list(result, kind, to);
    match kind {
        Listed::Template if from.shapes.templates_in_resources => result.remove("resources"),
        Listed::Resource if !to.shapes.templates_in_resources => result.remove("resourceTemplates"),
        Listed::Resource if result.get("resourceTemplates").is_some_and(is_array) => {
            item::list(result, Listed::Template, to);
        }
        _ => {}
    }
    if !to.shapes.pages {
        result.remove("nextCursor");
    }
}
