//! Patterns for names, and names that are defined elsewhere in the file.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Spelling;
use super::lists::{List, Values};
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::syntax::parse::Entry;
use crate::values::check::Flaw;
use crate::values::glob::Glob;

/// A pattern. If the field is set, a pattern without `*` and `?` must be a known name of that kind.
pub(crate) struct Pattern(Option<ReferenceKind>);

impl Spelling<Glob> for Pattern {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Glob>) -> Option<Glob> {
        let text = reader.text(&entry.value, "a pattern as a string")?;
        if let Some(known) = self.0.filter(|_| !text.expose().contains(['*', '?'])) {
            reader.refuse_unknown(&entry.value, &text, known);
        }
        let help = "write a name with `*` for any characters and `?` for one; put the names \
                    to hide under `deny`";
        reader.sound(&entry.value.at, Glob::parse(text.expose()).map_err(|reason| Flaw::new(reason, help)))
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Glob>()
    }

    fn shown(&self, glob: &Glob) -> Value {
        json!(glob.as_str())
    }
}

/// A list of patterns.
pub(crate) fn globs() -> List<Pattern> {
    List { what: "a list of patterns", item: Pattern(None), or_one: true }
}

/// A non-empty list of patterns. If `known` is set, patterns without `*` and `?` must be known names of that kind.
pub(crate) fn some_globs(known: Option<ReferenceKind>) -> Values<Pattern> {
    Values { what: "a list of patterns", item: Pattern(known), some: true }
}

/// A name that must be defined elsewhere.
pub(crate) struct KnownName(pub(crate) ReferenceKind);

impl Spelling<String> for KnownName {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&String>) -> Option<String> {
        let text = reader.text(&entry.value, &format!("a {}'s name", self.0.word()))?;
        reader.refuse_unknown(&entry.value, &text, self.0);
        Some(text.expose().to_owned())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn written(&self, name: &String) -> Value {
        json!(name)
    }
}
