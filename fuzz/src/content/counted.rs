//! A value that counts how often a validator looks at it, so that the cost of a check is measured as a number, not as a
//! time.

use std::borrow::Cow;
use std::cell::Cell;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::{Map, Number, Value};

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// Returns the result of `work`, and the number of looks at values while it runs.
pub fn looks<T>(work: impl FnOnce() -> T) -> (T, u64) {
    LOOKS.set(0);
    let done = work();
    (done, LOOKS.get())
}

fn look(more: u64) {
    LOOKS.set(LOOKS.get().saturating_add(more));
}

/// Returns the number of looks that a text costs: one, and one more for every 256 bytes.
fn text(text: &str) -> u64 {
    1 + text.len() as u64 / 256
}

/// Returns the number of looks that a copy of a value costs.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<u64>() + 1,
        Value::Object(members) => {
            members.iter().map(|(name, value)| text(name) + size(value)).sum::<u64>() + 1
        }
        Value::String(string) => text(string),
        _ => 1,
    }
}

/// A value that counts the looks at it.
#[derive(Clone, Copy)]
pub struct Counted<'a>(pub &'a Value);

/// The name of this representation for the validator.
#[derive(Debug)]
pub struct Counting;

impl Json for Counting {
    type Node<'a> = Counted<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Counted<'_>) -> T) -> T {
        look(text(string));
        f(Counted(&Value::from(string)))
    }
}

impl<'a> Node<'a, Counting> for Counted<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        look(1);
        self.0.as_object().map(Members)
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        look(1);
        self.0.as_array().map(|items| Elements(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let string = self.0.as_str();
        look(string.map_or(1, text));
        string.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        look(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        look(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        look(1);
        self.0.is_null()
    }

    fn string_length(&self) -> Option<u64> {
        self.as_string().map(|string| string.chars().count() as u64)
    }

    fn json_type(&self) -> JsonType {
        look(1);
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        // The gateway's own values also read no further than the length of the expected value.
        look(size(expected));
        self.0 == expected
    }

    fn to_value(&self) -> Cow<'a, Value> {
        look(size(self.0));
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

/// The members of an object.
pub struct Members<'a>(&'a Map<String, Value>);

impl<'a> Object<'a, Counting> for Members<'a> {
    type Node = Counted<'a>;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, Counted<'a>)> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Counted<'a>> {
        look(1);
        self.0.get(key).map(Counted)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.0.iter().map(|(name, value)| {
            look(text(name));
            (name.as_str(), Counted(value))
        }))
    }
}

/// The elements of an array.
pub struct Elements<'a>(&'a [Value]);

impl<'a> Array<'a, Counting> for Elements<'a> {
    type Node = Counted<'a>;
    type ElementsIter = Box<dyn Iterator<Item = Counted<'a>> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        Box::new(self.0.iter().map(|item| {
            look(1);
            Counted(item)
        }))
    }
}
