//! Arguments of a call in the form that the schema validator reads: strings are borrowed from the message, so a check
//! allocates only once per object or array. This module must not know the schema.

use std::borrow::Cow;
use std::fmt;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The initial capacity for members or elements.
const ROOM: usize = 8;

/// A JSON value that borrows its strings from the text, unless they contain escapes.
#[derive(Debug, Clone)]
pub enum ArgumentValue<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'t, str>),
    /// An array.
    Array(Vec<Self>),
    /// Members sorted by key, each key once.
    Object(Vec<(Cow<'t, str>, Self)>),
}

impl ArgumentValue<'_> {
    /// Reads JSON text; `None` for text that a [`Value`] cannot represent either, such as a number outside the range
    /// of `f64`.
    #[inline]
    pub fn read(text: &[u8]) -> Option<ArgumentValue<'_>> {
        serde_json::from_slice(text).ok()
    }

    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(n) => Value::Number(n.clone()),
            Self::String(s) => Value::String(s.to_string()),
            Self::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Object(members) => Value::Object(
                members.iter().map(|(key, v)| (key.to_string(), v.value())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// A key being read: borrowed if it has no escapes.
struct ArgumentKey<'t>(Cow<'t, str>);

impl<'t> Deserialize<'t> for ArgumentKey<'t> {
    fn deserialize<D: Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
        match ArgumentValue::deserialize(from)? {
            ArgumentValue::String(key) => Ok(Self(key)),
            _ => Err(D::Error::custom("a key must be a string")),
        }
    }
}

impl<'t> Deserialize<'t> for ArgumentValue<'t> {
    fn deserialize<D: Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ArgumentReader)
    }
}

struct ArgumentReader;

impl<'t> Visitor<'t> for ArgumentReader {
    type Value = ArgumentValue<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ArgumentValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(ArgumentValue::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(ArgumentValue::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(ArgumentValue::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Number::from_f64(value).map(ArgumentValue::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'t str) -> Result<Self::Value, E> {
        Ok(ArgumentValue::String(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(ArgumentValue::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            if items.is_empty() {
                items.reserve(ROOM);
            }
            items.push(item);
        }
        Ok(ArgumentValue::Array(items))
    }

    fn visit_map<A: MapAccess<'t>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'t, str>, ArgumentValue<'t>)> = Vec::new();
        while let Some((ArgumentKey(key), value)) = from.next_entry()? {
            if members.is_empty() {
                members.reserve(ROOM);
            }
            members.push((key, value));
        }
        // If a key occurs twice, the last one counts, as in most parsers. After the list is reversed, the last
        // occurrence comes first and is kept.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.dedup_by(|(later, _), (first, _)| later == first);
        Ok(ArgumentValue::Object(members))
    }
}

/// The marker type of this representation for the validator.
#[derive(Debug)]
pub(super) struct Borrowed;

impl Json for Borrowed {
    type Node<'a> = &'a ArgumentValue<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Self::Node<'_>) -> T) -> T {
        f(&ArgumentValue::String(Cow::Borrowed(string)))
    }
}

impl<'a> Node<'a, Borrowed> for &'a ArgumentValue<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        if let ArgumentValue::Object(members) = *self { Some(Members(members)) } else { None }
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        if let ArgumentValue::Array(items) = *self { Some(Elements(items)) } else { None }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        if let ArgumentValue::String(text) = *self { Some(Cow::Borrowed(text)) } else { None }
    }

    fn as_number(&self) -> Option<&'a Number> {
        if let ArgumentValue::Number(number) = *self { Some(number) } else { None }
    }

    fn as_boolean(&self) -> Option<bool> {
        if let ArgumentValue::Bool(b) = self { Some(*b) } else { None }
    }

    fn is_null(&self) -> bool {
        matches!(self, ArgumentValue::Null)
    }

    fn json_type(&self) -> JsonType {
        match self {
            ArgumentValue::Null => JsonType::Null,
            ArgumentValue::Bool(_) => JsonType::Boolean,
            ArgumentValue::Number(_) => JsonType::Number,
            ArgumentValue::String(_) => JsonType::String,
            ArgumentValue::Array(_) => JsonType::Array,
            ArgumentValue::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        // Nothing is copied, so the cost depends on the length of the expected value, not on that of the argument.
        match (self, expected) {
            (ArgumentValue::String(text), Value::String(expected)) => text == expected,
            (ArgumentValue::Null, Value::Null) => true,
            (ArgumentValue::Bool(b), Value::Bool(expected)) => b == expected,
            (ArgumentValue::Number(number), Value::Number(expected)) => cmp::equal_numbers(number, expected),
            (ArgumentValue::Array(items), Value::Array(expected)) => {
                items.len() == expected.len()
                    && items.iter().zip(expected).all(|(item, expected)| (&item).equals_value(expected))
            }
            (ArgumentValue::Object(members), Value::Object(expected)) => {
                let same = |(name, value): &(Cow<'_, str>, ArgumentValue<'_>)| {
                    expected.get(name.as_ref()).is_some_and(|expected| (&value).equals_value(expected))
                };
                members.len() == expected.len() && members.iter().all(same)
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(self.value())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<ArgumentValue<'a>>(self).addr()))
    }
}

/// The members of an object.
pub(super) struct Members<'a>(&'a [(Cow<'a, str>, ArgumentValue<'a>)]);

impl<'a> Object<'a, Borrowed> for Members<'a> {
    type Node = &'a ArgumentValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MemberIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<&'a ArgumentValue<'a>> {
        let at = self.0.binary_search_by(|(name, _)| name.as_ref().cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    fn members(&self) -> MemberIter<'a> {
        MemberIter(self.0.iter())
    }
}

/// An iterator over the members of an object.
pub(super) struct MemberIter<'a>(std::slice::Iter<'a, (Cow<'a, str>, ArgumentValue<'a>)>);

impl<'a> Iterator for MemberIter<'a> {
    type Item = (&'a str, &'a ArgumentValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name.as_ref(), value))
    }
}

/// The elements of an array.
pub(super) struct Elements<'a>(&'a [ArgumentValue<'a>]);

impl<'a> Array<'a, Borrowed> for Elements<'a> {
    type Node = &'a ArgumentValue<'a>;
    type ElementsIter = std::slice::Iter<'a, ArgumentValue<'a>>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonschema::json::conformance::{assert_conformance, document};

    #[test]
    fn the_validators_contract_is_kept() {
        let text = document().to_string();
        assert_conformance::<Borrowed>(&&ArgumentValue::read(text.as_bytes()).unwrap());
    }

    #[test]
    fn it_means_what_serde_json_means() {
        for text in [
            r#"{"a":1,"b":{"z":[],"a":[null,true,-1,1.5,"\n\u00e9"]},"\u0061":2}"#,
            r#"{"many":[1,2,3,4,5,6,7,8,9,10],"a":1,"a":2,"a":3}"#,
            "18446744073709551615",
            "\"x\"",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(ArgumentValue::read(text.as_bytes()).unwrap().value(), value, "{text}");
        }
        for text in ["1e999", r#""\ud800""#, "{", ""] {
            assert!(
                serde_json::from_str::<Value>(text).is_err()
                    && ArgumentValue::read(text.as_bytes()).is_none()
            );
        }
    }
}
