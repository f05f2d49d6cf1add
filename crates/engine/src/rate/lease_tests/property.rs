//! The property of shared limits that must hold whatever happens: no more than the limit and one lease for each process.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::rate::lease_cell::{LeaseTerms, RENEWED};

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
        let processes = three(&limits);
        let most = in_advance(burst);
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

/// Three processes that know of each other.
fn three(limits: &[RateLimit]) -> [Process; 3] {
    [1, 2, 3].map(|seed| {
        let process = Process::new(limits, seed);
        process.limiter.shared_by(3);
        process
    })
}

/// The number of requests in a lease of one of three processes.
fn size(burst: u32) -> u32 {
    LeaseTerms::new(Quota::new(1, SECOND, burst), false).size(3)
}

/// The maximum number of requests that each of three processes has counted in advance.
fn in_advance(burst: u32) -> u32 {
    size(burst) + size(burst) / RENEWED
}

#[test]
fn leases_are_as_large_as_the_documentation_says() {
    let sizes = |burst: u32| {
        let terms = LeaseTerms::new(Quota::new(1, SECOND, burst), false);
        [1, 2, 3, 4, 100].map(|processes| terms.size(processes))
    };
    assert_eq!(sizes(39), [0; 5]);
    assert_eq!(sizes(40), [25, 10, 6, 5, 2]);
    assert_eq!(sizes(75), [25, 25, 25, 9, 2]);
    assert_eq!(sizes(100), [25, 25, 25, 25, 2]);
    assert_eq!(sizes(500), [25, 25, 25, 25, 2]);
    assert_eq!(sizes(1000), [50, 50, 50, 50, 5]);
    for burst in 40..3000 {
        for processes in 1..200 {
            let size = LeaseTerms::new(Quota::new(1, SECOND, burst), false).size(processes);
            let fits = size * processes <= burst || size == 2;
            assert!(fits && (size >= 25 || processes * 25 > burst), "{size} of {burst} for {processes}");
        }
    }
}

proptest! {
    /// Until a limit is exhausted, each process asks the store once for its first request, and then once for 20 requests at most; for
    /// bursts that are too small for this, once for four fifths of a lease.
    #[test]
    fn a_request_to_the_store_serves_many_calls(
        arrivals in proptest::collection::vec((0_usize..3, 1_u32..40, any::<bool>()), 1..80),
        burst in 40_u32..2000,
    ) {
        let limits = [limit(1, 10 * MINUTE, burst)];
        let (processes, mut store, now) = (three(&limits), TestStore::default(), 1000 * SECOND);
        let mut waiting: Vec<(usize, CountRequest)> = Vec::new();
        let (mut calls, mut allowed) = (0, 0);
        let serves = if burst < 75 { size(burst) - size(burst) / RENEWED } else { 20 };
        for (process, count, is_answered) in arrivals {
            for _ in 0..count {
                calls += 1;
                allowed += u32::from(one_call(&processes[process], &mut store, now, |ask| waiting.push((process, ask))));
                let asked = store.commands + waiting.len();
                prop_assert!(asked <= usize::try_from(calls / serves + 3).unwrap(), "{asked} for {calls}");
                prop_assert!(allowed <= burst);
            }
            if is_answered {
                for (process, request) in waiting.drain(..) {
                    let answer = store.count(std::slice::from_ref(&request), now)[0];
                    processes[process].limiter.leased(&request, Some(answer), now);
                }
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
