//! Validates a tool's arguments against its input schema, which is compiled on first use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use proto::json::{Members, Splice};
use schema::CompiledSchema;

use super::upstream_catalogue::ReadsArguments;

/// A tool's input schema, compiled on first use.
#[derive(Debug)]
pub(super) struct LazyValidator {
    schema: Option<Bytes>,
    too_long: bool,
    /// The compiled schema, or the reason why there is none. The value is boxed, because most tools of a long list are never
    /// called.
    compiled: OnceLock<Box<Result<CompiledSchema, &'static str>>>,
    told: AtomicBool,
    names: Option<Box<KnownNames>>,
}

/// The server's own check for unknown arguments.
#[derive(Debug)]
pub(super) struct KnownNames {
    pub(super) reader: Arc<dyn ReadsArguments>,
    pub(super) tool: Box<str>,
}

/// The arguments that do not match, described for the model or person that made the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

impl LazyValidator {
    /// Creates a validator for a schema as its server wrote it. A schema larger than `max_bytes` is not compiled; the
    /// server then checks the arguments itself. With `names`, the server decides which arguments exist, regardless of
    /// the schema.
    pub(super) fn new(schema: Option<Bytes>, max_bytes: usize, names: Option<KnownNames>) -> Self {
        let too_long = schema.as_ref().is_some_and(|schema| schema.len() > max_bytes);
        Self {
            schema: schema.filter(|_| !too_long),
            too_long,
            compiled: OnceLock::new(),
            told: AtomicBool::new(false),
            names: names.map(Box::new),
        }
    }

    /// Returns true if another validator performs the same check, with the same bytes of the same schema.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let place = |schema: &Option<Bytes>| schema.as_ref().map(|schema| (schema.as_ptr(), schema.len()));
        let same_names = match (&self.names, &other.names) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(&own.reader, &others.reader) && own.tool == others.tool,
            _ => false,
        };
        same_names && self.too_long == other.too_long && place(&self.schema) == place(&other.schema)
    }

    /// Returns the reason why the gateway cannot check arguments; `None` if it can, or if no arguments have been
    /// checked yet. The reason is returned only once.
    pub(super) fn unchecked(&self) -> Option<&'static str> {
        let why = self
            .compiled
            .get()?
            .as_ref()
            .as_ref()
            .err()
            .filter(|_| self.schema.is_some() || self.too_long)?;
        (!self.told.swap(true, Ordering::Relaxed)).then_some(why)
    }

    fn compiled(&self) -> Result<CompiledSchema, &'static str> {
        match self.schema.as_deref() {
            Some(schema) => compile(schema, self.names.is_none()),
            None if self.too_long => Err("the schema is longer than `limits.schemaBytes` allows"),
            None => Err("the schema is missing"),
        }
    }

    /// Validates arguments, JSON text; no arguments count as an empty object. In some cases the check is left to the
    /// server that wrote the schema: if the schema cannot be compiled (it refers to the network, or is not a schema),
    /// if its cost is unknown, or if the validation of these arguments would be too expensive.
    ///
    /// With `quotes`, the mismatches quote the values; without, they name only the positions.
    ///
    /// # Errors
    /// Returns [`Invalid`] with the first few mismatches and their positions.
    pub(super) fn check(&self, arguments: Option<&[u8]>, quotes: bool) -> Result<(), Invalid> {
        let text = arguments.unwrap_or(b"{}");
        let misfits = self.misfits(text, quotes);
        let unknown = self.names.as_ref().and_then(|names| names.reader.unknown_arguments(&names.tool, text));
        let faults: Vec<String> = misfits.into_iter().chain(unknown).collect();
        if faults.is_empty() { Ok(()) } else { Err(Invalid(faults.join("; "))) }
    }

    fn misfits(&self, text: &[u8], quotes: bool) -> Option<String> {
        let compiled = self.compiled.get_or_init(|| Box::new(self.compiled()));
        let compiled = Result::as_ref(compiled).ok()?;
        if compiled.accepts(text) {
            return None;
        }
        // Some clients send null for optional arguments that they omit.
        if without_nulls(text).is_some_and(|text| compiled.accepts(&text)) {
            return None;
        }
        let told = compiled.mismatches(text, quotes);
        Some(format!("the arguments do not fit the tool's input schema: {told}"))
    }
}

/// An object without its null members; `None` if it has no such members.
fn without_nulls(text: &[u8]) -> Option<Bytes> {
    let members = Members::of_document(text, proto::json::MAX_DEPTH).ok()?;
    let mut splice = Splice::new(text);
    for member in members.iter().filter(|member| member.value.of(text) == b"null") {
        splice.remove(&members, member.key.of(text));
    }
    (!splice.is_empty()).then(|| splice.finish())
}

/// Removes `additionalProperties: false` from a schema. This applies to the arguments themselves, and to objects
/// and lists of objects inside them.
fn open_names(schema: &mut serde_json::Value) {
    let open = |schema: &mut serde_json::Value| {
        let object = schema.as_object_mut();
        if let Some(object) =
            object.filter(|object| object.get("additionalProperties") == Some(&false.into()))
        {
            object.remove("additionalProperties");
        }
    };
    open(schema);
    let properties = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut);
    for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        open(property);
        property.get_mut("items").map(open);
    }
}

fn compile(schema: &[u8], checks_names: bool) -> Result<CompiledSchema, &'static str> {
    let mut schema: serde_json::Value =
        serde_json::from_slice(schema).map_err(|_| "the schema is nested too deeply, or is not JSON")?;
    if !checks_names {
        open_names(&mut schema);
    }
    CompiledSchema::compile(&schema)
}

#[cfg(test)]
mod tests;
