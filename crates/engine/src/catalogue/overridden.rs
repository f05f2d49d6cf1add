//! A tool or prompt as a profile changes it: the title, description, icons, hints and arguments. Everything else stays as the
//! server wrote it. This module must not know which tools there are.

use bytes::Bytes;
use config::{AnnotationHint, ArgumentSetting, Icon, ToolSetting};
use indexmap::IndexMap;
use proto::json::{Elements, Members, Span, Splice, quote, unquote};

use super::{Item, ListKind};

/// A tool or prompt as the clients of a profile see it; `None` if they do not see it. `icons` is false if the clients' version
/// has no icons.
pub(super) fn overridden(
    kind: ListKind,
    tool: Item,
    setting: Option<&ToolSetting>,
    icons: bool,
) -> Option<Item> {
    let Some(setting) = setting else { return Some(tool) };
    if setting.disabled {
        return None;
    }
    let Some(members) = members(&tool.text) else { return Some(tool) };
    let written = |key: &str| members.get(&tool.text, key).map(|span| span.of(&tool.text));
    let title = setting.title.as_deref().map(quote);
    let description = setting.description.as_deref().map(quote);
    let icons = (icons && !setting.icons.is_empty()).then(|| Icon::list(&setting.icons));
    let hints = (!setting.annotations.is_empty())
        .then(|| hinted(written("annotations").unwrap_or(b"{}"), &setting.annotations));
    let schema = match &setting.input_schema {
        Some(schema) => Some(schema.clone()),
        None if setting.arguments.is_empty() => None,
        None => written("inputSchema").map(Bytes::copy_from_slice),
    };
    let schema = schema.map(|schema| with_arguments(&schema, &setting.arguments).unwrap_or(schema));
    let mut splice = Splice::new(&tool.text);
    if let Some(title) = &title {
        splice.set(&members, b"title", title.as_bytes());
    }
    if let Some(description) = &description {
        splice.set(&members, b"description", description.as_bytes());
    }
    if let Some(icons) = &icons {
        splice.set(&members, b"icons", icons.as_bytes());
    }
    if let Some(hints) = &hints {
        splice.set(&members, b"annotations", hints);
    }
    if let Some(schema) = &schema {
        splice.set(&members, b"inputSchema", schema);
    }
    Item::read(kind, splice.finish())
}

fn members(text: &[u8]) -> Option<Members> {
    Members::of_value(text, Span::new(0, text.len()))
}

/// The annotations with these hints set.
fn hinted(annotations: &[u8], hints: &[(AnnotationHint, bool)]) -> Bytes {
    let written = if members(annotations).is_some() { annotations } else { b"{}" };
    let Some(members) = members(written) else { return Bytes::copy_from_slice(annotations) };
    let mut splice = Splice::new(written);
    for (hint, value) in hints {
        let value: &[u8] = if *value { b"true" } else { b"false" };
        splice.set(&members, hint.name().as_bytes(), value);
    }
    splice.finish()
}

/// An input schema without the hidden arguments, and with other descriptions for some arguments; `None` if the schema has none
/// of these arguments.
fn with_arguments(schema: &[u8], settings: &IndexMap<String, ArgumentSetting>) -> Option<Bytes> {
    let whole = members(schema)?;
    let properties = whole.get(schema, "properties")?.of(schema);
    let listed = members(properties)?;
    let described: Vec<(&str, Bytes)> = settings
        .iter()
        .filter_map(|(name, own)| Some((name.as_str(), described(properties, name, own)?)))
        .collect();
    let mut shown = Splice::new(properties);
    for (name, property) in &described {
        shown.set(&listed, name.as_bytes(), property);
    }
    for (name, _) in settings.iter().filter(|(_, own)| own.hidden) {
        shown.remove(&listed, name.as_bytes());
    }
    let properties = shown.finish();
    let required = whole.get(schema, "required").and_then(|span| required(span.of(schema), settings));
    let mut splice = Splice::new(schema);
    splice.set(&whole, b"properties", &properties);
    if let Some(required) = &required {
        splice.set(&whole, b"required", required);
    }
    Some(splice.finish())
}

/// The schema of an argument, with the description from the argument's setting.
fn described(properties: &[u8], name: &str, own: &ArgumentSetting) -> Option<Bytes> {
    let description = quote(own.description.as_deref().filter(|_| !own.hidden)?);
    let property = members(properties)?.get(properties, name)?.of(properties);
    let of_property = members(property)?;
    let mut splice = Splice::new(property);
    splice.set(&of_property, b"description", description.as_bytes());
    Some(splice.finish())
}

/// The required arguments without the hidden ones.
fn required(written: &[u8], settings: &IndexMap<String, ArgumentSetting>) -> Option<Bytes> {
    let elements = Elements::of_value(written, Span::new(0, written.len()))?;
    let is_shown = |element: &&[u8]| {
        let name = element.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).and_then(unquote);
        !name.is_some_and(|name| settings.get(&*name).is_some_and(|own| own.hidden))
    };
    let shown: Vec<&[u8]> = elements.iter().map(|span| span.of(written)).filter(is_shown).collect();
    Some([b"[".as_slice(), &shown.join(&b","[..]), b"]"].concat().into())
}
