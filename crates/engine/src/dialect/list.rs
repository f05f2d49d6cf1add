//! Lists in the row's form, built from the ready pages of a view. This module must not know who may see which item: the
//! view decides that.

use std::borrow::Cow;

use bytes::Bytes;
use config::dialect_rows::row::{Dialect, Lists};
use config::dialect_rows::words::{RequiredStyle, SchemaPart, ToolOrder};
use proto::json::{Elements, MAX_DEPTH, Members, Span, Splice, unquote};

use super::ask::DialectRequest;
use super::dialect_fault::{DialectFault, string_at};
use super::facts::{Facts, Stop};
use crate::catalogue::{ListKind, View};
use crate::fault::Condition;

/// The input schema that is listed for a tool without one.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// The result of a request for a list.
pub(super) fn listed(
    row: &Dialect,
    ask: &DialectRequest,
    facts: Facts<'_>,
    kind: ListKind,
) -> Result<Bytes, Stop> {
    if !row.lists.pages {
        return match (kind, facts.tools) {
            (ListKind::Tools, Some(ready)) => Ok(ready.clone()),
            (ListKind::Tools, None) => Ok(tools(row, facts.view()?)),
            (kind, _) => Ok(whole(kind, &items(facts.view()?, kind))),
        };
    }
    let cursor = ask.text_param("cursor");
    let page = facts.view()?.pages(kind).page(cursor.as_deref());
    let page =
        page.map_err(|why| DialectFault::new(Condition::InvalidParams, format!("params.cursor {why}")))?;
    let page = page.text();
    if kind != ListKind::Tools {
        return Ok(page.clone());
    }
    let Ok(members) = Members::of_document(page, MAX_DEPTH) else { return Ok(page.clone()) };
    let Some(span) = members.get(page, kind.member()) else { return Ok(page.clone()) };
    let shaped = shaped(&row.lists, items_of(page, kind));
    let list = array(&shaped);
    let mut splice = Splice::new(page);
    splice.replace(span, &list);
    Ok(splice.finish())
}

/// The complete list of a view's tools in the row's form: the result of `tools/list`. The list stays the same throughout the
/// lifetime of the view.
pub fn tools(row: &Dialect, view: &View) -> Bytes {
    whole(ListKind::Tools, &shaped(&row.lists, items(view, ListKind::Tools)))
}

/// A tool's input schema as listed.
pub(super) fn schema_of(view: &View, name: &str) -> Option<Bytes> {
    let is_it = |item: &Bytes| name_of(item).as_deref() == Some(name);
    let listed = items(view, ListKind::Tools).into_iter().find(is_it);
    let found = listed.or_else(|| view.search()?.text_of(name))?;
    let members = Members::of_document(&found, MAX_DEPTH).ok()?;
    members.get(&found, "inputSchema").map(|span| span.share(&found))
}

fn whole(kind: ListKind, items: &[Bytes]) -> Bytes {
    let mut out = format!("{{\"{}\":", kind.member()).into_bytes();
    out.extend_from_slice(&array(items));
    out.push(b'}');
    Bytes::from(out)
}

fn array(items: &[Bytes]) -> Vec<u8> {
    let mut out = Vec::with_capacity(items.iter().map(|item| item.len() + 1).sum::<usize>() + 2);
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.push(b']');
    out
}

/// All items of a view's list, page by page.
fn items(view: &View, kind: ListKind) -> Vec<Bytes> {
    view.pages(kind).all().flat_map(|page| items_of(page.text(), kind)).collect()
}

fn items_of(page: &Bytes, kind: ListKind) -> Vec<Bytes> {
    let members = Members::of_document(page, MAX_DEPTH).ok();
    list_at(page, members.and_then(|members| members.get(page, kind.member())))
}

fn list_at(page: &Bytes, span: Option<Span>) -> Vec<Bytes> {
    let elements = span.and_then(|span| Elements::of_value(page, span));
    elements.map(|list| list.iter().map(|span| span.share(page)).collect()).unwrap_or_default()
}

fn shaped(lists: &Lists, items: Vec<Bytes>) -> Vec<Bytes> {
    let mut items: Vec<Bytes> = items.into_iter().map(|item| tool(lists, item)).collect();
    if lists.tool_order == ToolOrder::Name {
        items.sort_by_cached_key(name_of);
    }
    items
}

fn name_of(item: &Bytes) -> Option<String> {
    let members = Members::of_document(item, MAX_DEPTH).ok()?;
    string_at(members.get(item, "name")?.of(item)).map(Cow::into_owned)
}

/// One tool in the row's form.
fn tool(lists: &Lists, item: Bytes) -> Bytes {
    let Ok(members) = Members::of_document(&item, MAX_DEPTH) else { return item };
    let written = members.get(&item, "inputSchema").map(|span| span.of(&item));
    let schema = schema(lists, written.unwrap_or(ANY_OBJECT.as_bytes()));
    let dropped: Vec<Cow<'_, str>> = members
        .iter()
        .filter_map(|member| unquote(member.key.of(&item)))
        .filter(|key| lists.tool_members.as_ref().is_some_and(|kept| !kept.iter().any(|k| k == key)))
        .collect();
    let mut splice = Splice::new(&item);
    for key in &dropped {
        splice.remove(&members, key.as_bytes());
    }
    if lists.description_always && members.get(&item, "description").is_none() {
        splice.set(&members, b"description", b"\"\"");
    }
    if written != Some(&schema) {
        splice.set(&members, b"inputSchema", &schema);
    }
    if splice.is_empty() { item.clone() } else { splice.finish() }
}

/// An input schema in the row's form.
fn schema(lists: &Lists, schema: &[u8]) -> Vec<u8> {
    let Ok(members) = Members::of_document(schema, MAX_DEPTH) else { return schema.to_vec() };
    let edited = properties(lists, schema, &members);
    let mut splice = Splice::new(schema);
    for (key, empty) in lists.schema_always.iter().copied().map(part) {
        if members.get(schema, key).is_none() {
            splice.set(&members, key.as_bytes(), empty);
        }
    }
    if let Some((properties, with)) = &edited {
        splice.replace(*properties, with);
    }
    let is_empty = |key: &str, empty: &[u8]| {
        let written = members.get(schema, key).map(|span| span.of(schema).iter());
        written.is_some_and(|written| written.filter(|b| !b.is_ascii_whitespace()).eq(empty))
    };
    let mut left_out: Vec<&str> = lists
        .schema_unless_empty
        .iter()
        .copied()
        .map(part)
        .filter(|(key, empty)| is_empty(key, empty))
        .map(|(key, _)| key)
        .collect();
    if lists.required_style == RequiredStyle::Boolean && !left_out.contains(&"required") {
        left_out.push("required");
    }
    for key in left_out {
        splice.remove(&members, key.as_bytes());
    }
    splice.finish().to_vec()
}

/// The key of a part of a schema, and its text if it is empty.
fn part(part: SchemaPart) -> (&'static str, &'static [u8]) {
    match part {
        SchemaPart::Properties => ("properties", b"{}"),
        SchemaPart::Required => ("required", b"[]"),
    }
}

/// The properties in the row's form: without the members that the row drops, and with `required: true` in each if
/// the row demands this.
fn properties(lists: &Lists, schema: &[u8], members: &Members) -> Option<(Span, Bytes)> {
    let list = members.get(schema, "required").filter(|_| lists.required_style == RequiredStyle::Boolean);
    let list = list.and_then(|list| Elements::of_value(schema, list));
    let names: Vec<Cow<'_, str>> =
        list.iter().flat_map(Elements::iter).filter_map(|span| string_at(span.of(schema))).collect();
    if names.is_empty() && lists.property_drops.is_empty() {
        return None;
    }
    let span = members.get(schema, "properties")?;
    let properties = span.of(schema);
    let each = Members::of_document(properties, MAX_DEPTH).ok()?;
    let mut edited = Vec::new();
    for member in each.iter() {
        let Some(key) = unquote(member.key.of(properties)) else { continue };
        let value = member.value.of(properties);
        let Ok(own) = Members::of_document(value, MAX_DEPTH) else { continue };
        let mut splice = Splice::new(value);
        for dropped in lists.property_drops.iter().filter(|key| own.get(value, key).is_some()) {
            splice.remove(&own, dropped.as_bytes());
        }
        if names.contains(&key) {
            splice.set(&own, b"required", b"true");
        }
        if !splice.is_empty() {
            edited.push((member.value, splice.finish()));
        }
    }
    if edited.is_empty() {
        return None;
    }
    let mut splice = Splice::new(properties);
    for (span, with) in &edited {
        splice.replace(*span, with);
    }
    Some((span, splice.finish()))
}
