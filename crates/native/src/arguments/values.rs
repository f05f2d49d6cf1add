//! The arguments of one call, checked, and the values that its steps have found so far.

use serde_json::{Map, Value};

/// Values by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values(pub(crate) Map<String, Value>);

impl Values {
    /// The value with this name; `None` if the value was omitted.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns true if there is a value with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets the value with this name.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The text with this name; empty if the text was omitted.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The whole number with this name; `None` if there is none.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// The number with this name; `None` if there is none.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// Returns true if the value with this name is `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }
}
