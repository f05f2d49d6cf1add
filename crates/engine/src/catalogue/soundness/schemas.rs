//! The schemas of a tool: as much of their form as SDKs check when they read a list.

use proto::era::Structured;
use proto::json::{Members, Span, Splice};

use super::Repair;
use super::forms::{elements, is_empty_array};

/// An empty schema, for a tool without one: it accepts any arguments.
const ANY_OBJECT: &[u8] = b"{\"type\":\"object\"}";

/// Checks a tool's schemas. The input schema must exist and describe an object. The output schema must describe an object if
/// results are objects.
pub(super) fn schemas<'a>(
    text: &'a [u8],
    tool: &Members,
    structured: Structured,
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    match tool.get(text, "inputSchema") {
        None => {
            repair.splice.set(tool, b"inputSchema", ANY_OBJECT);
            repair.note("inputSchema was missing");
        }
        Some(span) if span.of(text) == b"null" => {
            repair.splice.replace(span, ANY_OBJECT);
            repair.note("inputSchema was null");
        }
        Some(span) => object_schema(text, span, "inputSchema", repair)?,
    }
    let Some(span) = tool.get(text, "outputSchema") else { return Ok(()) };
    let fits = match structured {
        Structured::Any => matches!(span.of(text).first(), Some(b'{' | b't' | b'f')),
        Structured::Object | Structured::None => {
            // What an invalid schema would need is tried on a copy.
            let mut trial = Repair { splice: Splice::new(text), what: None };
            object_schema(text, span, "outputSchema", &mut trial).is_ok()
                && object_schema(text, span, "outputSchema", repair).is_ok()
        }
    };
    if !fits {
        repair.splice.remove(tool, b"outputSchema");
        repair.note("outputSchema is not valid in this protocol version and was left out");
    }
    Ok(())
}

fn object_schema<'a>(
    text: &'a [u8],
    span: Span,
    key: &'static str,
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    let Some(schema) = Members::of_value(text, span) else { return Err(format!("{key} is not an object")) };
    match schema.get(text, "type").map(|found| found.of(text)) {
        Some(b"\"object\"") => {}
        None => {
            repair.splice.set(&schema, b"type", b"\"object\"");
            repair.note("a schema lacked \"type\": \"object\"");
        }
        Some(found) => {
            let found = String::from_utf8_lossy(&found[..found.len().min(40)]);
            return Err(format!("{key} has the type {found} where the protocol requires \"object\""));
        }
    }
    if schema.get(text, "$schema").is_some_and(|span| !span.of(text).starts_with(b"\"")) {
        repair.splice.remove(&schema, b"$schema");
        repair.note("`$schema` was not a string and was left out");
    }
    if let Some(span) = schema.get(text, "required")
        && !elements(text, span).is_some_and(|all| all.iter().all(|one| one.of(text).starts_with(b"\"")))
    {
        repair.splice.remove(&schema, b"required");
        repair.note("`required` was not an array of strings and was left out");
    }
    properties(text, &schema, repair).map_err(|why| format!("{key}: {why}"))
}

/// Checks the properties of a schema: SDKs require objects, although JSON Schema also allows true and false.
fn properties<'a>(text: &'a [u8], schema: &Members, repair: &mut Repair<'a>) -> Result<(), String> {
    let Some(span) = schema.get(text, "properties") else { return Ok(()) };
    // PHP writes an empty object as an empty array.
    if span.of(text) == b"null" || is_empty_array(text, span) {
        repair.splice.replace(span, b"{}");
        repair.note("`properties` was not an object");
        return Ok(());
    }
    let all = Members::of_value(text, span).ok_or("`properties` is not an object")?;
    for property in all.iter() {
        let schema: &[u8] = match property.value.of(text) {
            value if value.starts_with(b"{") => continue,
            b"true" | b"null" | b"[]" => b"{}",
            b"false" => b"{\"not\":{}}",
            _ => {
                let name = String::from_utf8_lossy(property.key.of(text));
                return Err(format!("the property {name} is not a schema"));
            }
        };
        repair.splice.replace(property.value, schema);
        repair.note("a property had no object as its schema");
    }
    Ok(())
}
