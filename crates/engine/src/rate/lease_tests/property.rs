//! The property of shared limits that must hold whatever happens: no more than the limit and one lease for each process.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::rate::lease_cell::LeaseTerms;

/// Something that happens in a cluster.
#[derive(Debug, Clone)]
enum Event {
    /// Time passes, in milliseconds.
    Passes(u64),
    /// This many calls arrive at a process.
    Calls(usize, u8),
    /// The store handles the oldest request to it, and the answer arrives after some milliseconds, or never.
    Answer(Option<u64>),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (0_u64..400).prop_map(Event::Passes),
        6 => (0_usize..3, 1_u8..40).prop_map(|(process, count)| Event::Calls(process, count)),
        5 => prop_oneof![9 => (0_u64..40).prop_map(Some), 1 => Just(None)].prop_map(Event::Answer),
    ];
    proptest::collection::vec(event, 1..120)
}

proptest! {
    /// The processes together never allow more than the limit and one lease for each of them, in any period.
    #[test]
    fn the_sum_never_exceeds_the_limit_and_the_leases(
        events in events(),
        burst in 1_u32..600,
        interval_ms in 1_u64..200,
    ) {
        let limits = [limit(1, interval_ms_of(interval_ms), burst)];
        let most = LeaseTerms::new(Quota::new(1, interval_ms_of(interval_ms), burst), false).most();
        let processes = [1, 2, 3].map(|seed| Process::new(&limits, seed));
        let (mut store, mut now) = (TestStore::default(), 1000 * SECOND);
        let mut waiting: VecDeque<(usize, CountRequest)> = VecDeque::new();
        let mut arriving: Vec<(Duration, usize, CountRequest, Option<CountAnswer>)> = Vec::new();
        let mut allowed: Vec<Duration> = Vec::new();
        for event in events {
            match event {
                Event::Passes(ms) => now += MS * u32::try_from(ms).unwrap(),
                Event::Answer(delay) => if let Some((process, request)) = waiting.pop_front() {
                    let answer = store.count(std::slice::from_ref(&request), now)[0];
                    let at = now + MS * u32::try_from(delay.unwrap_or(50)).unwrap();
                    arriving.push((at, process, request, delay.map(|_| answer)));
                },
                Event::Calls(process, count) => for _ in 0..count {
                    let is_allowed = one_call(&processes[process], &mut store, now, |ask| waiting.push_back((process, ask)));
                    allowed.extend(is_allowed.then_some(now));
                },
            }
            arriving.retain(|(at, process, request, answer)| {
                let is_there = *at <= now;
                if is_there {
                    processes[*process].limiter.leased(request, *answer, now);
                }
                !is_there
            });
        }
        for (first, from) in allowed.iter().enumerate() {
            for (last, to) in allowed.iter().enumerate().skip(first) {
                let refilled = to.saturating_sub(*from).as_nanos() / u128::from(interval_ms * 1_000_000);
                let bound = u128::from(burst) + refilled + 3 * u128::from(most);
                prop_assert!((last - first + 1) as u128 <= bound, "{} of {bound} from {from:?} to {to:?}", last - first + 1);
            }
        }
    }
}

fn interval_ms_of(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A call that does not wait for a lease; true if it is allowed.
fn one_call(
    process: &Process,
    store: &mut TestStore,
    now: Duration,
    mut ask: impl FnMut(CountRequest),
) -> bool {
    let request = call("a");
    let mut takes = match process.limiter.check(&request, now, &mut ask) {
        Ok(verdict) => return verdict.unwrap().allowed,
        Err(takes) => takes,
    };
    match process.limiter.take_all(&mut takes, now, &mut ask).unwrap() {
        SharedStep::Decided(verdict) => verdict.allowed,
        SharedStep::Waits(_) => false,
        SharedStep::Store(requests) => {
            let answers = store.count(&requests, now);
            process.limiter.settle(&mut takes, &answers, now).unwrap().allowed
        }
    }
}
