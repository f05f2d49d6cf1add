//! Durations in buckets that are at most 1.6 % wide, so that any number of calls takes the same memory.

use std::time::Duration;

/// The number of buckets per power of two.
const STEPS: u64 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Enough buckets for 2^40 ns (18 minutes); longer durations count as this maximum.
const BUCKETS: usize = 36 * 64;

/// The frequency of each duration.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    longest: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, longest: Duration::ZERO }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(nanos).min(BUCKETS - 1)] += 1;
        self.count += 1;
        self.longest = self.longest.max(duration);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }

    /// The number of durations added.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The longest duration added, exact.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }

    /// The percentile: `percent` percent of all durations are at most this long. Zero if there are no durations.
    pub(super) fn percentile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Duration::from_nanos(upper_end(at)).min(self.longest);
            }
        }
        Duration::ZERO
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < STEPS {
        return usize::try_from(nanos).unwrap_or(usize::MAX);
    }
    let power = nanos.ilog2() - STEP_BITS;
    let step = (nanos >> power) - STEPS;
    usize::try_from(u64::from(power + 1) * STEPS + step).unwrap_or(usize::MAX)
}

/// The largest number of nanoseconds in a bucket.
fn upper_end(bucket: usize) -> u64 {
    let (block, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    if block == 0 { step } else { ((STEPS + step + 1) << (block - 1)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Duration, Histogram, bucket, upper_end};

    #[test]
    fn every_duration_is_within_its_bucket() {
        for nanos in (0..10_000).chain([65_535, 65_536, 1_000_000_007, (1 << 41) - 1]) {
            let at = bucket(nanos);
            assert!(at < BUCKETS && nanos <= upper_end(at), "{nanos}");
            assert!(at == 0 || nanos > upper_end(at - 1), "{nanos}");
            assert!(upper_end(at) - nanos <= nanos / 60, "{nanos}");
        }
    }

    #[test]
    fn percentiles_are_those_of_all_that_was_merged() {
        let (mut one, mut two) = (Histogram::default(), Histogram::default());
        for micros in 1..=50 {
            one.add(Duration::from_micros(micros));
            two.add(Duration::from_micros(micros + 50));
        }
        one.merge(&two);
        assert_eq!((one.count(), one.longest()), (100, Duration::from_micros(100)));
        for (percent, micros) in [(50, 50), (99, 99), (100, 100)] {
            let wanted = Duration::from_micros(micros);
            let found = one.percentile(percent);
            assert!(found >= wanted && found < wanted.mul_f64(1.02), "{percent}: {found:?}");
        }
        one.add(Duration::from_secs(100_000));
        assert_eq!(one.percentile(100), Duration::from_nanos(upper_end(BUCKETS - 1)));
        assert_eq!(Histogram::default().percentile(50), Duration::ZERO);
    }
}
