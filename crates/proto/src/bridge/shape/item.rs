//! Listed tools, prompts, resources and templates. The eras differ in the schemas of tools, titles, icons and
//! annotations.

use bytes::Bytes;

use super::content;
use super::edit::{Draft, Element, each, elements, is, is_array, is_object};
use crate::era::{Era, Structured, Tasks};

/// The kinds of items that servers list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A resource template.
    Template,
}

impl Listed {
    /// The member of a list result that contains items of this kind.
    fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
        }
    }
}

/// Members of listed items, of every kind, that no strict era defines.
const NEWER: &[&str] = &["title", "icons", "_meta"];

/// Translates a listed item for `to`; `None` if the item cannot be shown there: it is not an object, or it is a tool whose
/// input can never be an object.
pub fn item(kind: Listed, item: &Bytes, from: &Era, to: &Era) -> Option<Bytes> {
    if from == to {
        return Some(item.clone());
    }
    let draft = described(kind, item, to)?;
    Some(draft.finish_or(item))
}

/// Rewrites the list of the items of this kind in a result, and drops items that cannot be shown.
pub(super) fn list(result: &mut Draft<'_>, kind: Listed, to: &Era) {
    let one = |_: usize, item: &[u8]| match described(kind, item, to) {
        Some(draft) => Element::from(draft.finish()),
        None => Element::Gone,
    };
    match result.get(kind.member()) {
        Some(items) if is_array(items) => result.rewrite(kind.member(), |items| each(items, one)),
        _ => result.set(kind.member(), "[]"),
    }
}

fn described<'a>(kind: Listed, item: &'a [u8], to: &Era) -> Option<Draft<'a>> {
    let mut draft = Draft::of(item)?;
    match kind {
        Listed::Tool => tool(&mut draft, to)?,
        Listed::Prompt => prompt(&mut draft, to),
        Listed::Resource | Listed::Template => resource(&mut draft, to),
    }
    if to.shapes.strict {
        draft.remove_all(NEWER);
    }
    Some(draft)
}

fn tool(tool: &mut Draft<'_>, to: &Era) -> Option<()> {
    input_schema(tool)?;
    if tool.get("outputSchema").is_some_and(|schema| !fits(schema, to.shapes.structured)) {
        tool.remove("outputSchema");
    }
    execution(tool, to);
    if to.shapes.strict {
        tool.remove("annotations");
    }
    Some(())
}

/// Removes `execution`, which describes how a tool runs as a task. Only the experimental form of tasks defines this member.
fn execution(tool: &mut Draft<'_>, to: &Era) {
    if to.shapes.tasks != Tasks::Experiment {
        tool.remove("execution");
    }
}

/// Completes an input schema: every version requires the type `object`, which servers sometimes omit.
fn input_schema(tool: &mut Draft<'_>) -> Option<()> {
    let Some(schema) = tool.get("inputSchema") else {
        tool.set("inputSchema", "{\"type\":\"object\"}");
        return Some(());
    };
    let mut draft = Draft::of(schema)?;
    let kind = draft.get("type");
    if is(kind, "object") {
        return Some(());
    }
    if kind.is_some_and(|kinds| !elements(kinds).any(|kind| is(Some(kind), "object"))) {
        return None;
    }
    draft.set("type", "\"object\"");
    tool.set("inputSchema", draft.finish()?);
    Some(())
}

/// Returns true if an era whose structured results are of this form accepts the output schema.
fn fits(schema: &[u8], structured: Structured) -> bool {
    match structured {
        Structured::None => false,
        Structured::Object => Draft::of(schema).is_some_and(|schema| is(schema.get("type"), "object")),
        Structured::Any => is_object(schema),
    }
}

fn prompt(prompt: &mut Draft<'_>, to: &Era) {
    if to.shapes.strict {
        prompt.rewrite("arguments", |arguments| {
            each(arguments, |_, argument| {
                let changed = Draft::of(argument).and_then(|mut argument| {
                    argument.remove("title");
                    argument.finish()
                });
                Element::from(changed)
            })
        });
    }
}

fn resource(resource: &mut Draft<'_>, to: &Era) {
    content::annotations(resource, to.shapes);
    if to.shapes.strict && !to.shapes.annotations {
        resource.remove("size");
    }
}
