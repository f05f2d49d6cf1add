//! Tests of counting, with the time as an argument: exact with many threads, in bounded memory, and never more than
//! configured.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use config::{RateLimit, RateMethods, RatePer, RequestRate, WithoutStore};
use proptest::prelude::*;

use super::*;

mod trust;

fn limit(count: u32, per: Duration, burst: u32) -> RateLimit {
    RateLimit {
        enabled: true,
        per: vec![RatePer::Principal],
        methods: RateMethods::Calls,
        profiles: None,
        tools: None,
        rate: RequestRate { count, period: per },
        burst,
        trust_forwarded_for: None,
        without_store: WithoutStore::Local,
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

fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);

#[test]
fn a_burst_is_let_through_and_then_one_for_each_interval() {
    let limiter = Limiter::new(&[limit(60, MINUTE, 3)], 100, 7);
    let at = |seconds: u64| limiter.check(&call("a"), Duration::from_secs(1000 + seconds)).unwrap();
    let first = Verdict {
        allowed: true,
        limit: 3,
        remaining: 2,
        reset: SECOND,
        retry_after: Duration::ZERO,
        place: 0,
        is_unknown: false,
    };
    assert_eq!(at(0), first);
    assert_eq!(at(0), Verdict { remaining: 1, reset: 2 * SECOND, ..first });
    assert_eq!(at(0), Verdict { remaining: 0, reset: 3 * SECOND, ..first });
    let refused = Verdict { allowed: false, remaining: 0, reset: 3 * SECOND, retry_after: SECOND, ..first };
    assert_eq!([at(0), at(0)], [refused; 2]);
    assert_eq!(at(1), Verdict { remaining: 0, reset: 3 * SECOND, ..first });
    assert!(!at(1).allowed && at(10).allowed);
    assert_eq!(at(10).remaining, 1);
}

#[test]
fn a_limit_of_sixty_says_what_is_left_of_sixty() {
    let limiter = Limiter::new(&[limit(60, MINUTE, 60)], 100, 7);
    let verdicts: Vec<Verdict> = (0..61).map(|_| limiter.check(&call("a"), SECOND).unwrap()).collect();
    let left: Vec<u32> = verdicts[..60].iter().map(|verdict| verdict.remaining).collect();
    assert_eq!(left, (0..60).rev().collect::<Vec<u32>>());
    assert_eq!((verdicts[60].allowed, verdicts[60].limit, verdicts[60].retry_after), (false, 60, SECOND));
}

#[test]
fn everybody_has_a_count_of_their_own_as_the_limit_says() {
    let check = |per: &[RatePer], requests: [RatedRequest<'_>; 2]| {
        let limits = [RateLimit { per: per.to_vec(), ..limit(1, MINUTE, 1) }];
        let limiter = Limiter::new(&limits, 100, 7);
        requests.map(|request| limiter.check(&request, SECOND).unwrap().allowed)
    };
    let one = RatedRequest { address: address("192.0.2.1"), ..call("a") };
    let others = [
        (RatePer::Principal, RatedRequest { principal: "b", ..one }),
        (RatePer::Ip, RatedRequest { address: address("192.0.2.2"), ..one }),
        (RatePer::Profile, RatedRequest { profile: "p", ..one }),
        (RatePer::Tool, RatedRequest { tool: Some("u"), identity: Some("u"), ..one }),
        (RatePer::Tool, RatedRequest { tool: None, identity: None, ..one }),
    ];
    for (per, other) in others {
        assert_eq!(check(&[per], [one, other]), [true, true], "{per:?}");
        assert_eq!(check(&[per], [one, one]), [true, false], "{per:?}");
        for another in [RatePer::Principal, RatePer::Ip, RatePer::Profile, RatePer::Tool] {
            assert_eq!(
                check(&[another], [one, other]),
                [true, another == per],
                "{per:?} counted by {another:?}"
            );
        }
    }
    assert_eq!(check(&[], [one, RatedRequest { principal: "b", ..one }]), [true, false], "one count for all");
    let of = |text: &str| RatedRequest { address: address(text), ..one };
    assert_eq!(check(&[RatePer::Ip], [of("::ffff:192.0.2.1"), one]), [true, false]);
    assert_eq!(check(&[RatePer::Ip], [of("2001:db8::1"), of("2001:db8::ffff:1")]), [true, false]);
    assert_eq!(check(&[RatePer::Ip], [of("2001:db8::1"), of("2001:db8:0:1::1")]), [true, true]);
}

#[test]
fn names_that_are_no_tools_share_one_count() {
    let limits = [RateLimit { per: vec![RatePer::Principal, RatePer::Tool], ..limit(100, 60 * MINUTE, 100) }];
    let limiter = Limiter::new(&limits, 64, 7);
    let mut through = 0;
    for number in 0..1000 {
        let name = format!("no-tool-{number}");
        let request = RatedRequest { tool: Some(&name), identity: None, ..call("eve") };
        through += u32::from(limiter.check(&request, SECOND).unwrap().allowed);
    }
    assert_eq!((through, limiter.len()), (100, 1));
    assert!(limiter.check(&call("ann"), SECOND).unwrap().allowed, "and nobody else is locked out");
}

#[test]
fn who_is_not_let_in_is_counted_by_address() {
    let at_door = RateLimit { per: vec![RatePer::Ip], methods: RateMethods::All, ..limit(2, MINUTE, 2) };
    let of_each = RateLimit { per: vec![RatePer::Ip, RatePer::Profile], ..at_door.clone() };
    let guess =
        |profile| UnknownCaller { nobody: "", address: address("192.0.2.1"), connection: None, profile };
    for limits in [vec![at_door.clone()], vec![of_each], vec![limit(9, MINUTE, 9), at_door.clone()]] {
        let limiter = Limiter::new(&limits, 100, 7);
        for _ in 0..3 {
            assert_eq!(limiter.enter(&guess("p"), SECOND), Ok(()));
            limiter.let_in(&guess("p"));
        }
        assert_eq!([limiter.enter(&guess("p"), SECOND), limiter.enter(&guess("q"), SECOND)], [Ok(()); 2]);
        let verdict = limiter.enter(&guess("r"), SECOND).unwrap_err();
        assert_eq!((verdict.allowed, verdict.limit, verdict.retry_after), (false, 2, MINUTE / 2));
        let other = UnknownCaller { address: address("192.0.2.2"), ..guess("p") };
        assert_eq!(limiter.enter(&other, SECOND), Ok(()));
        assert_eq!(limiter.enter(&guess("p"), SECOND + MINUTE / 2), Ok(()));
    }
    let limiter = Limiter::new(std::slice::from_ref(&at_door), 100, 7);
    assert_eq!([(); 2].map(|()| limiter.enter(&guess("p"), SECOND)), [Ok(()); 2]);
    let request = RatedRequest { address: address("192.0.2.1"), ..call("a") };
    assert!(!limiter.check(&request, SECOND).unwrap().allowed, "it is the same count");
    // A caller that one limit rejects is not counted by another limit.
    let limiter = Limiter::new(&[at_door.clone(), RateLimit { burst: 1, ..at_door }], 100, 7);
    assert_eq!(limiter.enter(&guess("p"), SECOND), Ok(()));
    assert!([(); 3].iter().all(|()| limiter.enter(&guess("p"), SECOND).is_err()));
    limiter.let_in(&guess("p"));
    assert_eq!(limiter.enter(&guess("p"), SECOND), Ok(()));
    // Limits for calls only, or for callers only, do not count before authentication.
    let calls = RateLimit { per: vec![RatePer::Ip], ..limit(1, MINUTE, 1) };
    let callers = RateLimit { methods: RateMethods::All, ..limit(1, MINUTE, 1) };
    let limiter = Limiter::new(&[calls, callers], 100, 7);
    assert_eq!([(); 3].map(|()| limiter.enter(&guess("p"), SECOND)), [Ok(()); 3]);
}

#[test]
fn limits_speak_of_what_they_name() {
    let globs = |text: &str| Some(vec![config::Glob::parse(text).unwrap()]);
    let says = |limit: RateLimit, request: RatedRequest<'_>| {
        Limiter::new(&[limit], 100, 7).check(&request, SECOND).is_some()
    };
    let plain = limit(1, SECOND, 1);
    let other = RatedRequest { is_call: false, tool: None, ..call("a") };
    assert!(says(plain.clone(), call("a")) && !says(plain.clone(), other));
    assert!(says(RateLimit { methods: RateMethods::All, ..plain.clone() }, other));
    assert!(!says(RateLimit { enabled: false, ..plain.clone() }, call("a")));
    assert!(says(RateLimit { tools: globs("t*"), ..plain.clone() }, call("a")));
    assert!(!says(RateLimit { tools: globs("u*"), ..plain.clone() }, call("a")));
    assert!(!says(
        RateLimit { tools: globs("*"), ..plain.clone() },
        RatedRequest { tool: None, identity: None, ..call("a") }
    ));
    assert!(!says(RateLimit { profiles: globs("p*"), ..plain }, call("a")));
    assert!(Limiter::new(&[], 100, 7).is_empty());
}

#[test]
fn a_request_that_one_limit_refuses_is_counted_by_none() {
    let tight = RateLimit { tools: None, ..limit(1, MINUTE, 1) };
    let wide = limit(60, MINUTE, 10);
    let limiter = Limiter::new(&[wide, tight], 100, 7);
    let now = SECOND;
    let first = limiter.check(&call("a"), now).unwrap();
    assert_eq!((first.allowed, first.limit, first.remaining), (true, 1, 0));
    for _ in 0..50 {
        let refused = limiter.check(&call("a"), now).unwrap();
        assert_eq!((refused.allowed, refused.limit, refused.retry_after), (false, 1, MINUTE));
    }
    let later = limiter.check(&call("a"), now + MINUTE).unwrap();
    assert!(later.allowed, "the wide one has room still: {later:?}");
}

#[test]
fn memory_is_capped_and_only_what_is_paid_back_is_given_up() {
    let limiter = Limiter::new(&[limit(1, MINUTE, 2)], 10, 7);
    let check = |name: &str, seconds: u64| limiter.check(&call(name), Duration::from_secs(seconds)).unwrap();
    for n in 0..10 {
        assert!(check(&format!("early {n}"), 100).allowed);
    }
    let refused = check("late", 130);
    assert_eq!((refused.allowed, refused.retry_after, limiter.len()), (false, 30 * SECOND, 10));
    assert!(check("early 0", 130).allowed, "who has a count has it still");
    assert!(!check("early 0", 130).allowed);
    assert!(check("late", 160).allowed);
    assert_eq!(limiter.len(), 2, "all but two were paid back");
    let late = [check("early 0", 159), check("early 0", 159)].map(|verdict| verdict.allowed);
    assert_eq!(late, [true, false], "a time before that of the sweep is taken for it");
    limiter.sweep(Duration::from_hours(1));
    assert_eq!(limiter.len(), 0);
}

#[test]
fn nobody_counts_at_a_time_before_a_cell_was_given_up() {
    let limiter = Limiter::new(&[limit(1, SECOND, 1)], 1, 7);
    let check = |seconds: u64| limiter.check(&call("a"), Duration::from_secs(seconds)).unwrap().allowed;
    assert!(check(100));
    limiter.sweep(Duration::from_secs(101));
    // If a thread read the clock some time ago, its request still counts from the current time.
    assert!(check(50));
    assert!(!check(101));
    assert!(check(102));
}

/// Runs `work` on 64 threads.
#[expect(clippy::disallowed_methods, reason = "the test, not the engine, has threads")]
fn with_threads(work: impl Fn(usize) + Sync) {
    let work = &work;
    std::thread::scope(|scope| {
        for thread in 0..64 {
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn sixty_four_threads_never_get_more_than_the_burst() {
    for burst in [1, 7, 100, 2000] {
        let limiter = Limiter::new(&[limit(1, Duration::from_hours(24), burst)], 1000, 7);
        let allowed = AtomicU64::new(0);
        with_threads(|_| {
            for _ in 0..50 {
                if limiter.check(&call("a"), SECOND).unwrap().allowed {
                    allowed.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        assert_eq!(allowed.into_inner(), u64::from(burst));
    }
}

#[test]
fn sixty_four_threads_get_no_more_while_other_cells_come_and_go() {
    let in_profile = |limit: RateLimit, profile: &str| RateLimit {
        profiles: Some(vec![config::Glob::parse(profile).unwrap()]),
        ..limit
    };
    let slow = in_profile(limit(1, Duration::from_hours(24), 100), "slow");
    let fast = in_profile(limit(1_000_000, Duration::from_millis(1), 1), "fast");
    let limiter = Limiter::new(&[slow, fast], 64, 7);
    let clock = AtomicU64::new(1_000_000);
    let allowed: [AtomicUsize; 8] = std::array::from_fn(|_| AtomicUsize::new(0));
    let passing = AtomicUsize::new(0);
    with_threads(|thread| {
        for round in 0..200 {
            let now = Duration::from_nanos(clock.fetch_add(10, Ordering::Relaxed));
            let name = format!("{thread} {round}");
            if limiter.check(&RatedRequest { profile: "fast", ..call(&name) }, now).unwrap().allowed {
                passing.fetch_add(1, Ordering::Relaxed);
            }
            let name = (thread + round) % allowed.len();
            let request = call(&NAMES[name..=name]);
            if limiter.check(&RatedRequest { profile: "slow", ..request }, now).unwrap().allowed {
                allowed[name].fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(allowed.map(AtomicUsize::into_inner), [100; 8]);
    assert!(passing.into_inner() > 64, "cells came and went");
    assert!(limiter.len() <= 64);
}

const NAMES: &str = "abcdefgh";

#[test]
fn what_comes_together_is_counted_as_a_whole_or_not_at_all() {
    let limiter = Limiter::new(&[limit(60, MINUTE, 5)], 100, 7);
    let three = [call("a"); 3];
    let first = limiter.check_all(&three, SECOND).unwrap();
    assert_eq!((first.allowed, first.limit, first.remaining), (true, 5, 2));
    let refused = limiter.check_all(&three, SECOND).unwrap();
    assert_eq!(
        (refused.allowed, refused.retry_after),
        (false, SECOND),
        "one of the three must be paid back first"
    );
    assert!(limiter.check_all(&three[..2], SECOND).unwrap().allowed, "a refusal has cost nothing");
    assert!(!limiter.check(&call("a"), SECOND).unwrap().allowed);
    let later = limiter.check_all(&three, 4 * SECOND).unwrap();
    assert_eq!((later.allowed, later.remaining), (true, 0));
    for at in [4, 100, 10_000] {
        let many = limiter.check_all(&[call("b"); 6], at * SECOND).unwrap();
        assert!(!many.allowed, "more than a burst");
    }
    assert_eq!(limiter.check_all(&[RatedRequest { is_call: false, ..call("a") }], SECOND), None);
    assert_eq!(limiter.check_all(&[], SECOND), None);
}

#[test]
fn of_two_limits_none_counts_what_the_other_one_refuses() {
    let tools = RateLimit { per: vec![RatePer::Tool], ..limit(1, MINUTE, 2) };
    let limiter = Limiter::new(&[limit(1, MINUTE, 10), tools], 100, 7);
    let of = |tool| RatedRequest { tool: Some(tool), identity: Some(tool), ..call("a") };
    let both = [of("x"), of("x"), of("y")];
    assert!(limiter.check_all(&both, SECOND).unwrap().allowed);
    let refused = limiter.check_all(&[of("y"), of("y")], SECOND).unwrap();
    assert_eq!((refused.allowed, refused.limit), (false, 2));
    let left = limiter.check(&of("y"), SECOND).unwrap();
    assert_eq!((left.allowed, left.limit, left.remaining), (true, 2, 0));
    assert_eq!(limiter.check(&of("z"), SECOND).unwrap().remaining, 1);
}

#[test]
fn sixty_four_threads_with_several_at_once_get_no_more_than_the_burst() {
    let limiter = Limiter::new(&[limit(1, Duration::from_hours(24), 100)], 64, 7);
    let allowed = AtomicUsize::new(0);
    with_threads(|thread| {
        for _ in 0..50 {
            let many = [call("a"); 7];
            let some = &many[..=thread % 7];
            let verdict = if some.len() == 1 {
                limiter.check(&some[0], SECOND)
            } else {
                limiter.check_all(some, SECOND)
            };
            if verdict.unwrap().allowed {
                allowed.fetch_add(some.len(), Ordering::Relaxed);
            }
        }
    });
    assert_eq!(allowed.into_inner(), 100, "single ones take the last places");
}

#[test]
fn many_counts_at_once_keep_to_the_cap() {
    let limiter = Limiter::new(&[RateLimit { per: vec![RatePer::Tool], ..limit(1, MINUTE, 1) }], 4, 7);
    let of = |tool| RatedRequest { tool: Some(tool), identity: Some(tool), ..call("a") };
    assert!(!limiter.check_all(&["a", "b", "c", "d", "e"].map(of), SECOND).unwrap().allowed);
    assert_eq!(limiter.len(), 0);
    assert!(limiter.check_all(&["a", "b", "c"].map(of), SECOND).unwrap().allowed);
    let refused = limiter.check_all(&["d", "e"].map(of), 2 * SECOND).unwrap();
    assert_eq!((refused.allowed, refused.retry_after, limiter.len()), (false, 59 * SECOND, 3));
    assert!(limiter.check_all(&["d", "e"].map(of), 61 * SECOND).unwrap().allowed, "paid back ones make room");
}

proptest! {
    #[test]
    fn in_any_stretch_of_time_no_more_than_burst_and_rate(
        count in 1..100_u32, burst in 1..20_u32, millis in 1..5000_u64,
        steps in proptest::collection::vec(0..200_u64, 1..300),
    ) {
        let per = Duration::from_millis(millis);
        let limiter = Limiter::new(&[limit(count, per, burst)], 16, 7);
        let (mut now, mut taken) = (Duration::from_secs(5), Vec::new());
        for step in steps {
            now += Duration::from_millis(step);
            let verdict = limiter.check(&call("a"), now).unwrap();
            if verdict.allowed {
                taken.push(now);
                prop_assert!(verdict.remaining < burst && verdict.retry_after.is_zero());
            } else {
                prop_assert!(verdict.remaining == 0 && !verdict.retry_after.is_zero());
                // A retry after the promised time is allowed.
                let soon = now + verdict.retry_after;
                prop_assert!(limiter.check(&call("a"), soon.checked_sub(Duration::from_nanos(1)).unwrap()).is_some_and(|v| !v.allowed));
                prop_assert!(limiter.check(&call("a"), soon).unwrap().allowed);
                now = soon;
                taken.push(now);
            }
        }
        for (at, first) in taken.iter().enumerate() {
            for (n, last) in taken[at..].iter().enumerate() {
                let time = last.abs_diff(*first);
                let due = time.as_nanos() * u128::from(count) / per.as_nanos();
                prop_assert!((n + 1) as u128 <= u128::from(burst) + due, "{} in {time:?}", n + 1);
            }
        }
    }
}
