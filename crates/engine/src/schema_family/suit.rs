//! Converts an input schema to the form of a family: bytes in, bytes out. This module must not know how a form is
//! written.

use serde_json::{Value, json};

use super::SchemaFamily;
use super::document::{MAX_BYTES, SchemaDocument};
use super::family::{Language, References};
use super::fields::FieldsWriter;
use super::lint::suits;
use super::schemas::SchemaWriter;

/// The factor by which a form may be longer than the schema. Without this limit, a schema with many references to
/// the same position would become long, and models read the whole form.
const GROWTH: usize = 3;
/// The length that every form may have, in bytes.
const SMALL: usize = 16 * 1024;

/// An input schema in the form of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FamilySchema {
    /// The family accepts the schema unchanged.
    AsReceived,
    /// The schema in the form of the family, JSON text.
    Rewritten(String),
    /// A schema that accepts any object, because the tool's own schema is too large, too deeply nested, or not JSON.
    Widened(String),
}

impl FamilySchema {
    /// The schema to show instead of the tool's own.
    pub fn schema(&self) -> Option<&str> {
        match self {
            Self::AsReceived => None,
            Self::Rewritten(schema) | Self::Widened(schema) => Some(schema),
        }
    }
}

/// Brings an input schema (JSON text) into the form of a family. With `mirrors`, annotations for mirrored headers stay: the
/// protocol demands them, and clients remove them before they call an API.
pub fn suit(family: &'static SchemaFamily, schema: &[u8], mirrors: bool) -> FamilySchema {
    let any = || FamilySchema::Widened(json!({ "type": "object", "properties": {} }).to_string());
    if schema.len() > MAX_BYTES {
        return any();
    }
    let length = schema.len();
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return any() };
    if suits(family, &schema, mirrors) {
        return FamilySchema::AsReceived;
    }
    let document = SchemaDocument::new(&schema);
    if document.is_too_large() {
        return any();
    }
    let most = MAX_BYTES.min((GROWTH * length).max(SMALL));
    for levels in attempts(family) {
        let written = match (family.language, levels) {
            (Language::Fields, levels) => {
                FieldsWriter::new(family, &document, mirrors, levels.unwrap_or_default()).root()
            }
            (Language::JsonSchema, levels) => SchemaWriter::new(family, &document, levels).root(),
        };
        let text = written.to_string();
        if text.len() <= most && suits(family, &written, mirrors) {
            return FamilySchema::Rewritten(text);
        }
    }
    any()
}

/// The depths up to which nested references are followed, from the best form to the shortest; `None` keeps references.
fn attempts(family: &SchemaFamily) -> impl Iterator<Item = Option<usize>> {
    let keeps = family.language == Language::JsonSchema
        && family.references != References::None
        && !family.excludes_combinators();
    // If combinators are refused, a reference may lead to a place that the form has changed.
    let kept = keeps.then_some(None);
    kept.into_iter().chain([usize::MAX, 6, 4, 3, 2, 1, 0].map(Some))
}
