//! Random numbers for traces and spans. They are unlikely to repeat, but they are not secrets. This module must not know
//! what they identify.

use std::cell::Cell;

/// The states of two independent sequences. The ids of two threads differ even if the threads' numbers coincide in
/// one sequence.
type Seeds = [u64; 2];

thread_local! {
    static SEEDS: Cell<Seeds> = Cell::new(fresh());
}

fn fresh() -> Seeds {
    let random = || getrandom::u64().unwrap_or_else(|_| std::process::id().into());
    [random(), random()]
}

/// Returns the next number of a sequence (wyrand).
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0xa076_1d64_78bd_642f);
    let product = u128::from(*seed) * u128::from(*seed ^ 0xe703_7ed1_a0b4_28db);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1
}

/// Returns a number of each sequence.
#[inline]
fn pair() -> [u64; 2] {
    let [mut one, mut other] = SEEDS.get();
    let pair = [next(&mut one), next(&mut other)];
    SEEDS.set([one, other]);
    pair
}

/// Returns an id for a trace.
pub(super) fn trace() -> [u8; 16] {
    let [one, other] = pair();
    // Zero is not an id.
    (u128::from(one) << 64 | u128::from(other)).max(1).to_be_bytes()
}

/// Returns ids for the two spans of a request. Each of them depends on both sequences.
pub(super) fn spans() -> [[u8; 8]; 2] {
    let [one, other] = pair();
    let (served, sent) = (one ^ other.rotate_left(32), one.wrapping_add(other));
    [served.max(1).to_be_bytes(), sent.max(1).to_be_bytes()]
}
