//! `serde_json` as the other opinion on JSON text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in the order of the text, doubled keys included; keys by meaning, values as written.
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
    /// The object that `text` is; `None` when it is none, or has keys that no `String` can hold.
    pub fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// The values of this key, as written.
    pub fn all(&self, key: &str) -> Vec<&'a str> {
        self.0.iter().filter(|(own, _)| own == key).map(|(_, value)| value.get()).collect()
    }
}

/// The text as one value, white space around it removed; `None` when it is not JSON.
pub fn value(text: &[u8]) -> Option<&str> {
    serde_json::from_slice::<&RawValue>(text).ok().map(RawValue::get)
}

/// How many arrays and objects are nested in valid JSON text at most.
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
