//! Addresses that are refused for a while, because they presented wrong passwords or invalid links. This module must not know
//! what was presented.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use config::address_block;

/// The number of failures after which an address is locked out.
const FAILURES: u32 = 5;

/// The time after which a failure no longer counts, and the length of a lock-out.
const WHILE: Duration = Duration::from_mins(15);

/// The number of leading bits of an IPv6 address that identify a host; a host usually has a whole network of this
/// size.
const IPV6_BITS: u8 = 64;

/// The maximum number of addresses that are remembered; above it, the ones with the oldest failures are forgotten.
const MOST: usize = 10_000;

/// The failures by address.
#[derive(Debug, Default)]
pub struct Lockout(HashMap<IpAddr, Failures>);

#[derive(Debug, Clone, Copy)]
struct Failures {
    number: u32,
    last: Instant,
}

impl Lockout {
    /// Returns the time for which an address is still locked out.
    pub fn locked_for(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.0.get(&address_block(address, IPV6_BITS))?;
        let passed = now.saturating_duration_since(failures.last);
        (failures.number >= FAILURES && passed < WHILE).then(|| WHILE.saturating_sub(passed))
    }

    /// Counts a failure; returns true if it locks the address out.
    pub fn failed(&mut self, address: IpAddr, now: Instant) -> bool {
        if self.0.len() >= MOST {
            self.make_room(now);
        }
        let failures =
            self.0.entry(address_block(address, IPV6_BITS)).or_insert(Failures { number: 0, last: now });
        if now.saturating_duration_since(failures.last) >= WHILE {
            failures.number = 0;
        }
        (failures.number, failures.last) = (failures.number.saturating_add(1), now);
        failures.number == FAILURES
    }

    /// Forgets the failures of an address, because it presented a valid password or link.
    pub fn succeeded(&mut self, address: IpAddr) {
        self.0.remove(&address_block(address, IPV6_BITS));
    }

    fn make_room(&mut self, now: Instant) {
        self.0.retain(|_, failures| now.saturating_duration_since(failures.last) < WHILE);
        if self.0.len() >= MOST {
            let mut times: Vec<Instant> = self.0.values().map(|failures| failures.last).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.0.retain(|_, failures| failures.last > middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn five_failures_lock_one_address_out_for_a_while() {
        let (mut lockout, now, own) = (Lockout::default(), Instant::now(), address("203.0.113.1"));
        for number in 1..=5 {
            assert_eq!(lockout.locked_for(own, now), None, "{number}");
            assert_eq!(lockout.failed(own, now), number == 5);
        }
        assert_eq!(lockout.locked_for(own, now), Some(WHILE));
        assert_eq!(lockout.locked_for(address("203.0.113.2"), now), None, "another address");
        assert_eq!(lockout.locked_for(own, now + WHILE), None, "it is over");
        assert!(!lockout.failed(own, now + WHILE), "and counted anew");
    }

    #[test]
    fn a_success_clears_the_count_and_a_network_of_ipv6_is_one_address() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        let (one, other) = (address("2001:db8::1"), address("2001:db8::ffff"));
        for _ in 0..4 {
            lockout.failed(one, now);
        }
        lockout.succeeded(other);
        assert!(!lockout.failed(one, now));
        for _ in 0..4 {
            lockout.failed(other, now);
        }
        assert!(lockout.locked_for(one, now).is_some());
    }

    #[test]
    fn many_addresses_do_not_fill_the_memory() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        for number in 0..3 * MOST {
            let [_, a, b, c] = u32::try_from(number).unwrap().to_be_bytes();
            lockout.failed([10, a, b, c].into(), now + Duration::from_millis(number as u64));
            assert!(lockout.0.len() <= MOST);
        }
    }
}
