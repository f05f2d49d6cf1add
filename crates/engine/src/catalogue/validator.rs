//! Checking a tool's arguments against its input schema, compiled once when it is first needed.

use std::sync::OnceLock;

use bytes::Bytes;
use proto::json::{Members, Splice};

use super::arguments::{Argument, Borrowed};

/// A tool's input schema, compiled at its first use.
#[derive(Debug)]
pub(super) struct LazyValidator {
    schema: Option<Bytes>,
    compiled: OnceLock<Option<jsonschema::Validator<Borrowed>>>,
}

/// What does not fit, in words for the model or person that called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments do not fit the tool's input schema: {0}")]
pub struct Invalid(String);

/// How many misfits are told at once.
const MAX_TOLD: usize = 5;

impl LazyValidator {
    /// A validator for a schema as its server wrote it. A schema above `max_bytes` is not compiled, and arguments are
    /// then left to the server to check.
    pub(super) fn new(schema: Option<Bytes>, max_bytes: usize) -> Self {
        Self { schema: schema.filter(|s| s.len() <= max_bytes), compiled: OnceLock::new() }
    }

    /// Checks arguments, JSON text; none count as an empty object. A schema that cannot be compiled (it refers to the
    /// network, or is no schema) checks nothing: the server that wrote it still does.
    ///
    /// # Errors
    /// [`Invalid`] with the first few misfits and where they are.
    pub(super) fn check(&self, arguments: Option<&[u8]>) -> Result<(), Invalid> {
        let Some(validator) = self.compiled.get_or_init(|| compile(self.schema.as_deref()?)) else {
            return Ok(());
        };
        // Numbers that no f64 holds are valid JSON, but not checkable: the server decides.
        let text = arguments.unwrap_or(b"{}");
        let Some(value) = Argument::read(text) else { return Ok(()) };
        if validator.is_valid(&value) {
            return Ok(());
        }
        // Clients write null for optional arguments that they leave out.
        if let Some(text) = without_nulls(text)
            && Argument::read(&text).is_some_and(|value| validator.is_valid(&value))
        {
            return Ok(());
        }
        let told: Vec<String> = validator
            .iter_errors(&value)
            .take(MAX_TOLD)
            .map(|e| {
                let path = e.instance_path().to_string();
                let place = if path.is_empty() { "/" } else { &path };
                format!("at {place}: {e}")
            })
            .collect();
        Err(Invalid(told.join("; ")))
    }
}

/// An object without those of its members that are null; `None` when there are none.
fn without_nulls(text: &[u8]) -> Option<Bytes> {
    let members = Members::of_document(text, proto::json::MAX_DEPTH).ok()?;
    let mut splice = Splice::new(text);
    for member in members.iter().filter(|member| member.value.of(text) == b"null") {
        splice.remove(&members, member.key.of(text));
    }
    (!splice.is_empty()).then(|| splice.finish())
}

fn compile(schema: &[u8]) -> Option<jsonschema::Validator<Borrowed>> {
    let schema: serde_json::Value = serde_json::from_slice(schema).ok()?;
    jsonschema::options_for::<Borrowed>().build(&schema).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, arguments: Option<&str>) -> Result<(), Invalid> {
        LazyValidator::new(Some(Bytes::copy_from_slice(schema.as_bytes())), 4096)
            .check(arguments.map(str::as_bytes))
    }

    #[test]
    fn tells_what_does_not_fit_and_where() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
        assert_eq!(check(schema, Some(r#"{"a":1}"#)), Ok(()));
        let wrong = check(schema, Some(r#"{"a":"x"}"#)).unwrap_err().to_string();
        assert!(wrong.contains("at /a"), "{wrong}");
        assert!(check(schema, None).is_err());
    }

    #[test]
    fn null_counts_as_left_out_where_a_schema_wants_something_else() {
        let optional = r#"{"type":"object","properties":{"a":{"type":"boolean"}}}"#;
        assert_eq!(check(optional, Some(r#"{"a":null}"#)), Ok(()));
        assert!(check(optional, Some(r#"{"a":[null]}"#)).is_err());
    }

    #[test]
    fn remote_references_are_never_fetched() {
        assert_eq!(check(r#"{"$ref":"http://127.0.0.1:9/x"}"#, Some("{}")), Ok(()));
        assert_eq!(check(r#"{"$ref":"file:///etc/passwd"}"#, Some("{}")), Ok(()));
    }

    #[test]
    fn a_schema_that_is_too_large_is_not_compiled() {
        let large = LazyValidator::new(Some(Bytes::from_static(b"{\"type\":\"string\"}")), 4);
        assert_eq!(large.check(Some(b"{}")), Ok(()));
    }
}
