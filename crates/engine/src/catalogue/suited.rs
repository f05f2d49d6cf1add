//! A tool as the clients of a family see it: its input schema in the family's form, everything else as its server wrote it. This
//! module must not know how a form is written.

use proto::era::Era;
use proto::json::{Members, Span, Splice};

use super::{Item, ListKind};
use crate::schema_family::{FamilySchema, SchemaFamily, suit};

/// A tool with its input schema in the form of a family; the tool unchanged if the family accepts its schema.
pub(super) fn suited(
    tool: Item,
    family: &'static SchemaFamily,
    (era, server): (&Era, &str),
    notes: &mut Vec<String>,
) -> Item {
    let Some(schema) = tool.member("inputSchema") else { return tool };
    let form = suit(family, &schema, era.mirrored_headers);
    if matches!(form, FamilySchema::Widened(_)) {
        notes.push(format!(
            "tools: clients see {:?} of {server} without its arguments: its input schema is too large or too deeply nested for \
             `schemas: {}`",
            tool.key, family.name
        ));
    }
    let Some(schema) = form.schema() else { return tool };
    let Some(members) = Members::of_value(&tool.text, Span::new(0, tool.text.len())) else { return tool };
    let mut splice = Splice::new(&tool.text);
    splice.set(&members, b"inputSchema", schema.as_bytes());
    Item::read(ListKind::Tools, splice.finish()).unwrap_or(tool)
}
