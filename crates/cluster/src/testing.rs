//! Helpers for tests: a sealer without keys, and commands as texts. This module must not know what is shared.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::families::StoreKeys;
use crate::resp::{Decoder, StoreCommand, StoreReply};
use crate::sealed::{NameDigest, SealedValues, ValueSealer};

/// A sealer that only binds values to their contexts.
#[derive(Default)]
pub(crate) struct OpenSealer {
    /// The text that [`ValueSealer::generation`] returns.
    pub(crate) generation: Mutex<String>,
}

const SEAL: &[u8] = b"sealed|";

impl ValueSealer for OpenSealer {
    fn seal(&self, plain: &[u8], context: &[u8]) -> Option<Vec<u8>> {
        Some([SEAL, context, b"|", plain, b"|"].concat())
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Option<Vec<u8>> {
        let rest = sealed.strip_prefix(SEAL)?.strip_prefix(context)?.strip_prefix(b"|")?;
        rest.strip_suffix(b"|").map(<[u8]>::to_vec)
    }

    fn digest(&self, name: &[u8], context: &[u8]) -> Option<NameDigest> {
        let mut digest = [0_u8; 12];
        for (place, byte) in context.iter().chain(name).enumerate() {
            digest[place % 12] = digest[place % 12].wrapping_mul(31).wrapping_add(*byte);
        }
        Some(digest)
    }

    fn generation(&self) -> String {
        self.generation.lock().clone()
    }
}

/// Returns the names and the values of a cluster.
pub(crate) fn cluster() -> (StoreKeys, SealedValues) {
    (StoreKeys::new("test"), SealedValues::new(Arc::new(OpenSealer::default())))
}

/// Returns the parts of a command.
pub(crate) fn parts(command: &StoreCommand) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut bytes = Vec::new();
    command.write(&mut bytes);
    decoder.buffer().extend_from_slice(&bytes);
    let reply = decoder.next().unwrap().unwrap();
    reply.list().iter().map(|part| String::from_utf8_lossy(part.bytes().unwrap()).into_owned()).collect()
}

/// Checks that a value which a released version has written stays readable, that it is still written in the same way, and that
/// members which a later version adds are ignored.
pub(crate) fn stays_readable<T: Serialize + DeserializeOwned>(recorded: &str) {
    let written = |value: &T| serde_json::to_string(value).unwrap();
    assert_eq!(written(&serde_json::from_str(recorded).expect(recorded)), recorded);
    let mut later: Value = serde_json::from_str(recorded).unwrap();
    add_members(&mut later);
    assert_eq!(written(&serde_json::from_value(later).expect(recorded)), recorded);
}

/// Adds an unknown member to each object with more than one member. An object with one member may be a variant.
fn add_members(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(add_members);
            if members.len() > 1 {
                members.insert("later".to_owned(), Value::Bool(true));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(add_members),
        _ => {}
    }
}

/// Returns a reply with this text.
pub(crate) fn text(text: impl AsRef<[u8]>) -> StoreReply {
    StoreReply::Bytes(text.as_ref().to_vec().into())
}
