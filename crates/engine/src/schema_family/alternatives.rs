//! The alternatives of a value, each with one type, in the language with a fixed set of fields (`Language::Fields`). This
//! module must not know how alternatives are found.

use serde_json::{Map, Value, json};

use super::phrases::joined;

/// The maximum number of alternatives that are compared with each other.
const COMPARED: usize = 64;

/// The alternatives of one value.
#[derive(Debug, Default)]
pub(super) struct Alternatives {
    /// The alternatives, each with one `type`.
    pub(super) branches: Vec<Map<String, Value>>,
    /// True if the value can be null.
    pub(super) nullable: bool,
    /// True if the value can be anything.
    pub(super) is_free: bool,
    /// The description of a value that can be anything.
    pub(super) description: Option<String>,
}

impl Alternatives {
    /// Any value.
    pub(super) fn free(description: Option<String>) -> Self {
        Self { is_free: true, description, ..Self::default() }
    }

    /// A value of one type.
    pub(super) fn one(branch: Map<String, Value>) -> Self {
        Self { branches: vec![branch], ..Self::default() }
    }

    /// Returns true if no value is accepted.
    pub(super) fn is_nothing(&self) -> bool {
        self.branches.is_empty() && !self.nullable && !self.is_free
    }

    /// Adds the alternatives of another value.
    pub(super) fn join(&mut self, other: Self) {
        self.nullable |= other.nullable;
        self.is_free |= other.is_free;
        self.description = self.description.take().or(other.description);
        for branch in other.branches {
            let is_few = self.branches.len() < COMPARED;
            match self.branches.iter_mut().find(|known| is_few && is_alike(known, &branch)) {
                Some(known) => add_values(known, branch),
                None => self.branches.push(branch),
            }
        }
    }

    /// Puts the description of the whole value before the description of its first alternative. If there is only one
    /// alternative, replaces its description.
    pub(super) fn describe(&mut self, description: Option<String>) {
        let Some(description) = description else { return };
        if self.is_free {
            self.description = Some(description);
            return;
        }
        let is_only = self.branches.len() == 1;
        if let Some(first) = self.branches.first_mut() {
            let own = first.get("description").and_then(Value::as_str).filter(|_| !is_only);
            let text = joined(&description, own);
            first.insert("description".to_owned(), text.into());
        }
    }

    /// Keeps the alternatives whose type is among `kinds`.
    pub(super) fn restrict(&mut self, kinds: &[&str]) {
        let is_among = |kind: &str| {
            kinds.contains(&kind)
                || (kind == "integer" && kinds.contains(&"number"))
                || (kind == "number" && kinds.contains(&"integer"))
        };
        self.branches.retain(|branch| branch.get("type").and_then(Value::as_str).is_some_and(is_among));
        self.nullable &= kinds.contains(&"null");
    }

    /// The schema; `None` if no value is accepted.
    pub(super) fn written(mut self) -> Option<Value> {
        if self.is_free {
            return Some(free(self.description));
        }
        if self.branches.is_empty() && self.nullable {
            self.branches.push(Map::from_iter([("type".to_owned(), json!("string"))]));
        }
        for branch in self.branches.iter_mut().filter(|_| self.nullable) {
            branch.insert("nullable".to_owned(), true.into());
        }
        match self.branches.len() {
            0 => None,
            1 => self.branches.pop().map(Value::Object),
            _ => Some(json!({ "anyOf": self.branches })),
        }
    }
}

/// A schema for any value. Lists in lists, and null, cannot be expressed.
fn free(description: Option<String>) -> Value {
    let mut text = json!({ "type": "string" });
    if let Some(description) = description {
        text["description"] = description.into();
    }
    let list = json!({ "type": "array", "items": free_item() });
    json!({ "anyOf": [text, { "type": "number" }, { "type": "boolean" }, { "type": "object" }, list] })
}

/// A schema for any item of a list.
pub(super) fn free_item() -> Value {
    json!({ "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "boolean" }, { "type": "object" }] })
}

/// Returns true if two alternatives differ at most in the values that they list.
fn is_alike(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| match other.get(key) {
            Some(_) if key == "enum" => true,
            same => same == Some(value),
        })
}

fn add_values(known: &mut Map<String, Value>, other: Map<String, Value>) {
    let Some(Value::Array(values)) = known.get_mut("enum") else { return };
    let Some(Value::Array(others)) =
        other.into_iter().find(|(key, _)| key == "enum").map(|(_, values)| values)
    else {
        return;
    };
    for value in others {
        if values.len() >= COMPARED || !values.contains(&value) {
            values.push(value);
        }
    }
}
