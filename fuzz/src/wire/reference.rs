//! `serde_json` as a second parser of JSON text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in the order of the text, including those with repeated keys. Keys are decoded, values are
/// kept as written.
#[derive(Debug)]
pub struct Object<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'a> Object<'a> {
    /// Reads an object; returns `None` if the text is not an object, or has keys that a `String` cannot contain.
    pub fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Returns all values of this key, as written.
    pub fn all(&self, key: &str) -> Vec<&'a str> {
        self.0.iter().filter(|(own, _)| own == key).map(|(_, value)| value.get()).collect()
    }
}

/// Returns the text of a JSON value without the white space around it; `None` if it is not JSON.
pub fn value(text: &[u8]) -> Option<&str> {
    serde_json::from_slice::<&RawValue>(text).ok().map(RawValue::get)
}

/// Returns the maximum nesting of arrays and objects in valid JSON text.
pub fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    deepest
}
