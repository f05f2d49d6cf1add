//! Values of the store, sealed under the key ring: an attacker who can write to the store can neither read nor forge a
//! value. Each value is bound to the name under which it is stored. This module must not know what a value means.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A digest that tells nothing about the name, except to members of the cluster.
pub type NameDigest = [u8; 12];

/// Seals and opens values with the current keys of the key ring.
pub trait ValueSealer: Send + Sync {
    /// Seals bytes for this context; `None` if the random number generator fails.
    fn seal(&self, plain: &[u8], context: &[u8]) -> Option<Vec<u8>>;

    /// Opens bytes that were sealed for the same context; `None` for anything else.
    fn open(&self, sealed: &[u8], context: &[u8]) -> Option<Vec<u8>>;

    /// Returns a digest of a name under the key ring. It is the same at all members until the key for names is rotated; `None` if there
    /// is no key.
    fn digest(&self, name: &[u8], context: &[u8]) -> Option<NameDigest>;

    /// Returns a text that changes whenever the ring seals with another key.
    fn generation(&self) -> String;
}

/// A value of the store, as this version of Dragoman reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredValue<T> {
    /// A value in a form that this version knows.
    Known(T),
    /// A value of a member of the cluster, in a form that this version does not know: a newer version has written it. Such a value
    /// must stay as it is.
    Newer,
    /// A value that no member of the cluster has written. It can be replaced.
    Foreign,
}

/// Writes and reads the values of one cluster.
#[derive(Clone)]
pub(crate) struct SealedValues(Arc<dyn ValueSealer>);

impl SealedValues {
    pub(crate) fn new(sealer: Arc<dyn ValueSealer>) -> Self {
        Self(sealer)
    }

    /// Seals a value that will be stored under `name`.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Option<Vec<u8>> {
        self.write_bytes(name, &serde_json::to_vec(value).ok()?)
    }

    /// Seals bytes that will be stored under `name`.
    pub(crate) fn write_bytes(&self, name: &str, plain: &[u8]) -> Option<Vec<u8>> {
        self.0.seal(plain, name.as_bytes())
    }

    /// Opens bytes that were stored under `name`; `None` if no member of the cluster has stored them there.
    pub(crate) fn read_bytes(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.0.open(sealed, name.as_bytes())
    }

    /// Opens a value that was stored under `name`; `None` if no member of the cluster has stored it there, or if a member has
    /// written it in a form that this version does not know.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str, sealed: &[u8]) -> Option<T> {
        match self.value(name, sealed) {
            StoredValue::Known(value) => Some(value),
            StoredValue::Newer | StoredValue::Foreign => None,
        }
    }

    /// Opens a value that was stored under `name`.
    pub(crate) fn value<T: DeserializeOwned>(&self, name: &str, sealed: &[u8]) -> StoredValue<T> {
        let Some(plain) = self.read_bytes(name, sealed) else { return StoredValue::Foreign };
        serde_json::from_slice(&plain).map_or(StoredValue::Newer, StoredValue::Known)
    }

    /// Returns a digest of a name under the key ring.
    pub(crate) fn digest(&self, name: &[u8], context: &[u8]) -> Option<NameDigest> {
        self.0.digest(name, context)
    }

    /// Returns a text that changes whenever the ring seals with another key.
    pub(crate) fn generation(&self) -> String {
        self.0.generation()
    }
}

#[cfg(test)]
mod tests {
    use super::StoredValue;
    use crate::testing::cluster;

    #[test]
    fn a_value_is_read_only_at_its_own_place_and_as_it_was_written() {
        let (_, values) = cluster();
        let sealed = values.write("a", &7_u32).unwrap();
        assert_eq!(values.read::<u32>("a", &sealed), Some(7));
        assert_eq!(values.read::<u32>("b", &sealed), None, "another place");
        assert_eq!(values.read::<u32>("a", &sealed[..sealed.len() - 1]), None, "truncated");
        assert_eq!(values.read::<bool>("a", &sealed), None, "another type");
        assert_eq!(values.read::<u32>("a", b"7"), None, "not sealed");
        assert_eq!(values.read::<u32>("a", b""), None);
        assert_eq!(values.value::<bool>("a", &sealed), StoredValue::Newer);
        assert_eq!(values.value::<bool>("b", &sealed), StoredValue::Foreign, "nobody can copy a newer value");
    }
}
