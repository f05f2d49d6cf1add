//! Tests of limits that several processes share, with a store in memory and the time as an argument.

use std::time::Duration;

use config::{RateLimit, RateMethods, RatePer, RequestRate, WithoutStore};

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const MS: Duration = Duration::from_millis(1);

mod property;

fn limit(count: u32, period: Duration, burst: u32) -> RateLimit {
    RateLimit {
        rate: RequestRate { count, period },
        burst,
        per: vec![RatePer::Principal],
        ..RateLimit::default()
    }
}

fn call(principal: &str) -> RatedRequest<'_> {
    RatedRequest {
        principal,
        address: None,
        connection: None,
        profile: "default",
        is_call: true,
        tool: Some("t"),
        identity: Some("t"),
    }
}

/// The counts of a store, by the names of the counters: the time until everything is paid back, and the time of the last change.
#[derive(Default)]
struct TestStore {
    counts: std::collections::HashMap<Vec<u8>, (u64, u64)>,
    commands: usize,
}

impl TestStore {
    /// Counts all requests or none, like the script for real stores.
    fn count(&mut self, requests: &[CountRequest], now: Duration) -> Vec<CountAnswer> {
        let now = u64::try_from(now.as_nanos()).unwrap();
        self.commands += 1;
        let owed = |request: &CountRequest| {
            let stored =
                self.counts.get(&request.subject).map_or(0, |(owed, at)| owed.saturating_sub(now - at));
            stored.max(request.owed).min(request.interval * u64::from(request.burst))
        };
        let room = |request: &CountRequest| {
            u32::try_from((request.interval * u64::from(request.burst) - owed(request)) / request.interval)
                .unwrap()
        };
        let fits = requests.iter().all(|request| room(request) >= request.least);
        let answer = |request: &CountRequest| {
            let granted = if fits { room(request).min(request.most) } else { 0 };
            CountAnswer { granted, owed: owed(request) + u64::from(granted) * request.interval }
        };
        let answers: Vec<CountAnswer> = requests.iter().map(answer).collect();
        for (request, answer) in requests.iter().zip(&answers) {
            self.counts.insert(request.subject.clone(), (answer.owed, now));
        }
        answers
    }
}

/// A process that asks the store without a delay.
struct Process {
    limiter: SharedLimiter,
}

impl Process {
    fn new(limits: &[RateLimit], seed: u64) -> Self {
        Self { limiter: SharedLimiter::new(limits, 1000, seed) }
    }

    fn call(&self, store: &mut TestStore, request: &RatedRequest<'_>, now: Duration) -> Verdict {
        self.call_many(store, &[*request], now)
    }

    fn call_many(&self, store: &mut TestStore, requests: &[RatedRequest<'_>], now: Duration) -> Verdict {
        let mut asks = Vec::new();
        if let [request] = requests
            && let Ok(verdict) = self.limiter.check(request, now, |ask| asks.push(ask))
        {
            self.lease(store, &mut asks, now);
            return verdict.unwrap();
        }
        let mut takes = self.limiter.takes(requests);
        for _ in 0..10 {
            let step = self.limiter.take_all(&mut takes, now, |ask| asks.push(ask));
            self.lease(store, &mut asks, now);
            match step.unwrap() {
                SharedStep::Decided(verdict) => return verdict,
                SharedStep::Waits(_) => {}
                SharedStep::Store(requests) => {
                    let answers = store.count(&requests, now);
                    return self.limiter.settle(&mut takes, &answers, now).unwrap();
                }
            }
        }
        panic!("still not decided");
    }

    fn lease(&self, store: &mut TestStore, asks: &mut Vec<CountRequest>, now: Duration) {
        for ask in asks.drain(..) {
            let answer = store.count(std::slice::from_ref(&ask), now)[0];
            self.limiter.leased(&ask, Some(answer), now);
        }
    }

    fn alone(&self, request: &RatedRequest<'_>, processes: u32, now: Duration) -> Verdict {
        let mut takes = self.limiter.takes(&[*request]);
        self.limiter.decide_alone(&mut takes, processes, now).unwrap()
    }
}

#[test]
fn a_small_limit_is_exact_although_any_process_may_be_asked() {
    let limits = [limit(1, MINUTE, 1)];
    let (mut store, processes) = (TestStore::default(), [1, 2, 3].map(|seed| Process::new(&limits, seed)));
    let allowed = |store: &mut TestStore, number: usize, at: Duration| {
        processes[number].call(store, &call("a"), at).allowed
    };
    let start = 1000 * SECOND;
    assert!(allowed(&mut store, 0, start));
    for number in [0, 1, 2, 1] {
        assert!(!allowed(&mut store, number, start + 59 * SECOND), "{number}");
    }
    assert!(processes[0].call(&mut store, &call("b"), start).allowed, "another caller has another count");
    assert!(allowed(&mut store, 2, start + MINUTE));
    assert!(!allowed(&mut store, 0, start + MINUTE));
}

#[test]
fn an_exhausted_limit_is_not_asked_for_again_until_it_can_allow_a_request() {
    let (mut store, process) = (TestStore::default(), Process::new(&[limit(6, MINUTE, 2)], 1));
    let mut at = |at: Duration| (process.call(&mut store, &call("a"), at), store.commands);
    assert!(at(SECOND).0.allowed && at(SECOND).0.allowed);
    let (refused, commands) = at(SECOND);
    assert_eq!((refused.allowed, refused.retry_after, refused.limit), (false, 10 * SECOND, 2));
    for ms in 0..1000 {
        assert_eq!(at(SECOND + ms * MS).1, commands);
    }
    assert_eq!(at(6 * SECOND).0.retry_after, 5 * SECOND);
    assert!(at(11 * SECOND).0.allowed);
}

#[test]
fn a_lease_serves_many_calls_with_one_command() {
    let (mut store, process) = (TestStore::default(), Process::new(&[limit(400, MINUTE, 400)], 1));
    let mut lowest = 400;
    for number in 0..400 {
        let verdict = process.call(&mut store, &call("a"), SECOND);
        assert!(verdict.allowed, "{number}");
        lowest = lowest.min(verdict.remaining);
    }
    assert_eq!((store.commands, lowest), (16, 0), "leases of 25, and none in vain");
    let refused = process.call(&mut store, &call("a"), SECOND);
    assert_eq!((refused.allowed, refused.remaining), (false, 0));
    assert!(refused.retry_after >= 150 * MS && refused.retry_after <= SECOND, "{refused:?}");
}

#[test]
fn a_request_that_one_limit_refuses_counts_against_none() {
    let all = RateLimit { per: Vec::new(), ..limit(60, MINUTE, 3) };
    let many = RateLimit { per: Vec::new(), ..limit(6000, MINUTE, 1000) };
    let limits = [limit(1, MINUTE, 1), all, many];
    let (mut store, process) = (TestStore::default(), Process::new(&limits, 1));
    assert!(process.call(&mut store, &call("a"), SECOND).allowed);
    for _ in 0..50 {
        assert!(!process.call(&mut store, &call("a"), SECOND).allowed);
    }
    let others = ["b", "c", "d"].map(|name| process.call(&mut store, &call(name), SECOND).allowed);
    assert_eq!(others, [true, true, false], "three in all");
}

#[test]
fn requests_that_arrive_together_count_all_or_not_at_all() {
    let (mut store, process) = (TestStore::default(), Process::new(&[limit(60, MINUTE, 60)], 1));
    let batch = |count: usize| vec![call("a"); count];
    assert!(process.call_many(&mut store, &batch(40), SECOND).allowed);
    let refused = process.call_many(&mut store, &batch(30), SECOND);
    assert_eq!((refused.allowed, refused.retry_after), (false, 10 * SECOND));
    assert!(process.call_many(&mut store, &batch(20), SECOND).allowed);
    let never = process.call_many(&mut store, &batch(61), SECOND + MINUTE);
    assert_eq!((never.allowed, never.retry_after), (false, Duration::ZERO));
}

#[test]
fn equal_limits_count_separately_and_have_names_of_their_own() {
    let limits = [
        limit(2, MINUTE, 2),
        limit(2, MINUTE, 2),
        RateLimit { per: vec![RatePer::Tool], ..limit(2, MINUTE, 2) },
    ];
    let process = Process::new(&limits, 1);
    let names: Vec<_> = process.limiter.takes(&[call("a")]).into_iter().map(|take| take.subject).collect();
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    let other = Process::new(&[limits[2].clone(), limits[0].clone()], 2);
    let same: Vec<_> = other.limiter.takes(&[call("a")]).into_iter().map(|take| take.subject).collect();
    assert_eq!([&same[1], &same[0]], [&names[0], &names[2]], "the order of the limits has no influence");
    let mut store = TestStore::default();
    let allowed = [(); 3].map(|()| process.call(&mut store, &call("a"), SECOND).allowed);
    assert_eq!(allowed, [true, true, false]);
}

#[test]
fn without_the_store_each_process_applies_its_share() {
    let limits = [limit(60, MINUTE, 60)];
    let processes = [1, 2, 3].map(|seed| Process::new(&limits, seed));
    let at = |at: Duration| -> usize {
        let count = |process: &Process| (0..100).filter(|_| process.alone(&call("a"), 3, at).allowed).count();
        processes.iter().map(count).sum()
    };
    assert_eq!([at(SECOND), at(SECOND), at(4 * SECOND), at(64 * SECOND)], [60, 0, 3, 60]);
    let refuse = RateLimit { without_store: WithoutStore::Refuse, ..limit(60, MINUTE, 60) };
    let refused = Process::new(&[refuse], 1).alone(&call("a"), 3, SECOND);
    assert_eq!((refused.allowed, refused.retry_after, refused.remaining), (false, SECOND, 0));
}

#[test]
fn what_was_counted_before_and_during_an_outage_stays_counted() {
    let (mut store, process) = (TestStore::default(), Process::new(&[limit(60, MINUTE, 30)], 1));
    for _ in 0..29 {
        assert!(process.call(&mut store, &call("a"), SECOND).allowed);
    }
    // The share of one of three allows ten, but 29 of 30 are used up.
    assert!(!process.alone(&call("a"), 3, SECOND).allowed);
    assert!(process.alone(&call("a"), 3, 5 * SECOND).allowed);
    store.counts.clear();
    assert!(
        !(0..30).all(|_| process.call(&mut store, &call("a"), 6 * SECOND).allowed),
        "the store lost its data"
    );
    let refused = RateLimit { without_store: WithoutStore::Refuse, ..limit(60, MINUTE, 30) };
    let process = Process::new(&[limit(60, MINUTE, 60), refused], 1);
    for _ in 0..30 {
        assert!(!process.alone(&call("a"), 1, SECOND).allowed);
    }
    let (mut store, first) = (TestStore::default(), process.limiter.takes(&[call("a")]).remove(0));
    process.call(&mut store, &call("a"), SECOND);
    assert_eq!(store.counts[&first.subject].0, 25 * 1_000_000_000, "only the lease is counted");
}

/// Counts a caller that is about to authenticate; true if the caller may try.
fn enter(process: &Process, store: &mut TestStore, now: Duration) -> bool {
    let mut asks = Vec::new();
    let entered = process.limiter.enter(&entering(), now, |ask| asks.push(ask));
    process.lease(store, &mut asks, now);
    let mut takes = match entered {
        Ok(verdict) => return verdict.unwrap().allowed,
        Err(takes) => takes,
    };
    loop {
        let step = process.limiter.take_all(&mut takes, now, |ask| asks.push(ask)).unwrap();
        process.lease(store, &mut asks, now);
        match step {
            SharedStep::Decided(verdict) => return verdict.allowed,
            SharedStep::Waits(_) => {}
            SharedStep::Store(requests) => {
                let answers = store.count(&requests, now);
                return process.limiter.settle(&mut takes, &answers, now).unwrap().allowed;
            }
        }
    }
}

/// Takes back the count of a caller that has authenticated.
fn let_in(process: &Process, store: &mut TestStore, now: Duration) {
    for (subject, interval) in process.limiter.let_in(&entering(), now) {
        let (owed, _) = store.counts.get_mut(&subject).unwrap();
        *owed = owed.saturating_sub(interval);
    }
}

fn entering() -> UnknownCaller<'static> {
    let address = "192.0.2.1".parse().ok();
    UnknownCaller { nobody: "anyone", address, connection: None, profile: "default" }
}

fn at_door(burst: u32) -> [RateLimit; 1] {
    [RateLimit { per: vec![RatePer::Ip], methods: RateMethods::All, ..limit(60, MINUTE, burst) }]
}

#[test]
fn callers_who_are_let_in_do_not_use_up_the_limit_of_their_address() {
    for burst in [3, 100] {
        let (mut store, process) = (TestStore::default(), Process::new(&at_door(burst), 1));
        for _ in 0..200 {
            assert!(enter(&process, &mut store, SECOND), "{burst}");
            let_in(&process, &mut store, SECOND);
        }
        for number in 0..burst {
            assert!(enter(&process, &mut store, SECOND), "{number} of {burst}");
        }
        assert!(!enter(&process, &mut store, SECOND));
    }
}

#[test]
fn callers_who_are_let_in_by_several_processes_at_once_do_not_either() {
    let (mut store, limits) = (TestStore::default(), at_door(3));
    let processes = [1, 2].map(|seed| Process::new(&limits, seed));
    for _ in 0..50 {
        for process in &processes {
            assert!(enter(process, &mut store, SECOND));
        }
        for process in &processes {
            let_in(process, &mut store, SECOND);
        }
    }
    let [first, second] = &processes;
    assert!([first, second, first].iter().all(|process| enter(process, &mut store, SECOND)));
    assert!(!enter(first, &mut store, SECOND) && !enter(second, &mut store, SECOND));
    let_in(first, &mut store, SECOND);
    assert!(enter(first, &mut store, SECOND), "the same process knows it at once");
    let_in(first, &mut store, SECOND);
    assert!(enter(second, &mut store, 2 * SECOND), "another one soon");
}

#[test]
fn the_number_of_counters_is_limited_and_idle_ones_make_room() {
    let (mut store, limits) = (TestStore::default(), [limit(60, MINUTE, 100)]);
    let process = Process { limiter: SharedLimiter::new(&limits, 8, 1) };
    let names: Vec<String> = (0..20).map(|number| format!("caller-{number}")).collect();
    let mut allowed = |at: Duration| -> usize {
        names.iter().filter(|name| process.call(&mut store, &call(name), at).allowed).count()
    };
    assert_eq!(allowed(SECOND), 8);
    assert_eq!(process.limiter.len(), 8);
    // A lease of 25 is paid back after 25 seconds, and can be used for a hundred.
    assert_eq!(allowed(200 * SECOND), 8);
    process.limiter.sweep(400 * SECOND);
    assert_eq!(process.limiter.len(), 0);
}

#[test]
fn a_lease_whose_answer_is_lost_is_asked_for_again() {
    let process = Process::new(&[limit(400, MINUTE, 400)], 1);
    let mut takes = process.limiter.takes(&[call("a")]);
    let mut asks = Vec::new();
    for _ in 0..3 {
        let step = process.limiter.take_all(&mut takes, SECOND, |ask| asks.push(ask));
        assert!(matches!(step, Some(SharedStep::Waits(_))));
    }
    assert_eq!(asks.len(), 1, "one request asks, the others wait");
    process.limiter.leased(&asks[0], None, SECOND);
    let _ = process.limiter.take_all(&mut takes, SECOND, |ask| asks.push(ask));
    assert_eq!(asks.len(), 2);
}
