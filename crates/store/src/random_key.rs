//! The hash of keys that end with random bytes, such as ids and numbers of sessions. This module must not know the keys.

use std::hash::{BuildHasherDefault, Hasher};

/// A hasher that uses the last bytes of a key, which are random and which clients cannot choose. The first bytes of an id
/// only identify the key with which it was sealed.
#[derive(Debug, Default)]
pub struct LastBytes(u64);

impl Hasher for LastBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.0 = u64::from_le_bytes(*last);
            return;
        }
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_usize(&mut self, _: usize) {
        // The length of an array, which all keys have in common.
    }

    fn finish(&self) -> u64 {
        // A table uses the lowest and the highest bits. Both halves of the product together depend on all bits of the key.
        let product = u128::from(self.0) * 0x9e37_79b9_7f4a_7c15;
        let [low, high] = [product, product >> 64].map(|half| half & u128::from(u64::MAX));
        u64::try_from(low ^ high).unwrap_or_default()
    }
}

/// Builds [`LastBytes`].
pub type RandomKeyHash = BuildHasherDefault<LastBytes>;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn keys_are_spread_over_a_table() {
        let hash = RandomKeyHash::default();
        let numbers =
            (0..4_096_u64).map(|number| hash.hash_one([[7; 8], number.to_be_bytes()].as_flattened()));
        let letters = (0..4_096_u64).map(|number| hash.hash_one(format!("key-1-AbCdE{number:06}")));
        let spread = |hashes: &mut dyn Iterator<Item = u64>| {
            hashes.map(|hash| hash % 4_096).collect::<HashSet<_>>().len()
        };
        // Of 4 096 random hashes, about 2 590 would differ in these bits. These keys are counted, so they are less random.
        for spread in [spread(&mut { numbers }), spread(&mut { letters })] {
            assert!(spread > 1_500, "{spread}");
        }
    }
}
