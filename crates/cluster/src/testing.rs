//! Helpers for tests: a sealer without keys, and commands as texts. This module must not know what is shared.

use std::sync::Arc;

use parking_lot::Mutex;

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

/// Returns a reply with this text.
pub(crate) fn text(text: impl AsRef<[u8]>) -> StoreReply {
    StoreReply::Bytes(text.as_ref().to_vec().into())
}
