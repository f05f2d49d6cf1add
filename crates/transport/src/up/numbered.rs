//! Tables whose keys are the gateway's own numbers. Only the gateway chooses these numbers, so they need no hash
//! that resists attacks; such a hash would take most of the time of a look-up. This module must not know what is
//! numbered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by number.
pub(super) type Numbered<V> = HashMap<u64, V, BuildHasherDefault<NumberHasher>>;

/// A hasher of single numbers.
#[derive(Debug, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The table uses the lowest and the highest bits, in which consecutive numbers must differ.
        self.0 = (self.0.rotate_left(8) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
