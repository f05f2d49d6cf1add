//! A compiled schema. This module must not know what the arguments are for.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

use crate::arguments::{ArgumentValue, Borrowed};
use crate::cost::SchemaCost;

/// The maximum number of mismatches in one message.
const MAX_TOLD: usize = 5;

/// The maximum length of a mismatch's description, in bytes. The description quotes the argument, which can be long.
const MAX_WORDS: usize = 1000;

/// The maximum number of steps for a validation: about ten milliseconds.
const STEPS: u64 = 1 << 18;

/// The maximum number of steps for a validation that reports mismatches. In such a validation, each mismatch allocates
/// memory at each step.
const STEPS_TOLD: u64 = 1 << 12;

/// The maximum number of backtracking steps of a pattern on one text, and the maximum size of a compiled pattern in
/// bytes.
const PATTERN: (usize, usize) = (4000, 1 << 20);

/// A compiled schema.
#[derive(Debug)]
pub struct CompiledSchema {
    validator: jsonschema::Validator<Borrowed>,
    cost: SchemaCost,
}

impl CompiledSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Returns the reason why arguments cannot be checked with the schema.
    pub fn compile(schema: &Value) -> Result<Self, &'static str> {
        let cost =
            SchemaCost::of(schema).ok_or("the cost of validating with the schema is unknown or too high")?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(PATTERN.0)
            .size_limit(PATTERN.1)
            .dfa_size_limit(PATTERN.1);
        let options = jsonschema::options_for::<Borrowed>().with_pattern_options(patterns);
        let validator =
            options.build(schema).map_err(|_| "the schema is not a self-contained JSON Schema")?;
        Ok(Self { validator, cost })
    }

    /// Returns true if arguments, JSON text, match the schema, or if this cannot be decided here: numbers beyond the range of `f64` are
    /// valid JSON, but cannot be checked, and some checks would be too expensive.
    // Inlined, because each call reads its arguments here, and this crate is optimized for size.
    #[inline]
    pub fn accepts(&self, text: &[u8]) -> bool {
        let Some(value) = ArgumentValue::read(text) else { return true };
        !self.cost.is_within(STEPS, text, &value) || self.validator.is_valid(&value)
    }

    /// Describes the first few mismatches of arguments that are not accepted, with their positions. With `quotes`, the descriptions quote
    /// the values.
    pub fn mismatches(&self, text: &[u8], quotes: bool) -> String {
        let value = ArgumentValue::read(text).unwrap_or(ArgumentValue::Null);
        if !self.cost.is_within(STEPS_TOLD, text, &value) {
            return "validating them in detail would take too long".to_owned();
        }
        let told = self.validator.iter_errors(&value).take(MAX_TOLD).map(|e| {
            let path = e.instance_path().to_string();
            let place = if path.is_empty() { "/" } else { &path };
            let what = described(&e, quotes);
            let mut words = format!("at {place}: {what}");
            if words.len() > MAX_WORDS {
                words.truncate(words.floor_char_boundary(MAX_WORDS));
                words.push('…');
            }
            words
        });
        told.collect::<Vec<_>>().join("; ")
    }
}

/// The description of a mismatch. If a value is not among the permitted ones, the description lists all of these; the
/// library's own message lists two.
fn described(error: &ValidationError<'_>, quotes: bool) -> String {
    if let ValidationErrorKind::Enum { options } = error.kind() {
        let value = if quotes { error.instance().to_string() } else { "value".to_owned() };
        let options: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
        return format!("{value} is not one of {}", options.join(", "));
    }
    if quotes { error.to_string() } else { error.masked().to_string() }
}
