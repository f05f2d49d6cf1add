//! The number and the size of memory allocations for one call: few, and counted exactly.

#[path = "../benches/workload/mod.rs"]
#[expect(dead_code, reason = "the instruction budgets measure more")]
mod workload;

#[expect(dead_code, reason = "the memory of long lists is measured elsewhere")]
mod counting;

use std::time::Duration;

use config::{Config, Lookup, load};
use counting::{Asked, allocations};
use dragoman_engine::access::{AccessTarget, Asker, Principal, Rules};
use dragoman_engine::catalogue::ListKind;
use dragoman_engine::rate::{CountAnswer, Limiter, RatedRequest, SharedLimiter};
use workload::{Call, List};

#[test]
fn a_call_asks_for_memory_at_most_eight_times() {
    for (name, call) in [("in a session", Call::in_session()), ("stateless", Call::stateless())] {
        let count = allocations(|| call.make()).times;
        assert!((1..=8).contains(&count), "a call {name} asks for memory {count} times");
    }
}

#[test]
fn a_list_is_not_copied() {
    let list = List::of_1000_tools();
    let Asked { times, bytes } = allocations(|| list.answer());
    assert!((1..=4).contains(&times), "a list asks for memory {times} times");
    assert!(bytes < 1024, "a list of 275 kB asks for {bytes} bytes");
}

fn guarded() -> Config {
    let text = "mcpServers: { a: { native: demo } }
rateLimits: [ { rate: 100/1m, per: [principal, profile, tool] }, { rate: 100/1m, per: ip, tools: 'a__*' } ]
access:
  - { deny: '*delete*', unless: { user: ann, ip: 10.0.0.0/8 } }
  - { deny: 'a__*', when: { arguments: { path: '/etc/*' }, annotations: { readOnlyHint: false } } }
  - { allow: '*', who: { scheme: anyone } }";
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    load(text, "test", &lookup).expect("sound").config
}

#[test]
fn who_may_how_often_asks_for_no_memory() {
    let config = guarded();
    let (rules, limiter) = (Rules::compile(&config.access), Limiter::new(&config.rate_limits, 100, 7));
    let anyone = Principal::anyone();
    let address = "2001:db8::7".parse().ok();
    let request = RatedRequest {
        principal: &anyone.id,
        address,
        connection: None,
        profile: "default",
        is_call: true,
        tool: Some("a__read"),
        identity: Some("a__t"),
    };
    let first = limiter.check(&request, Duration::from_secs(1));
    assert!(first.is_some_and(|verdict| verdict.allowed));
    let asker = Asker { principal: &anyone, address };
    let target = AccessTarget::listed("default", "a", ListKind::Tools, "a__read");
    let arguments: &[u8] = br#"{"path":"/tmp/x","other":[1,2,3]}"#;
    let counted = allocations(|| {
        let verdict = limiter.check(&request, Duration::from_secs(1));
        let class = rules.class(&asker);
        let listed = rules.decide_as(&class, &target);
        let called = rules.decide(&asker, &target.called(Some(arguments)));
        assert!(verdict.is_some_and(|verdict| verdict.allowed) && listed.is_allowed() && called.is_allowed());
    });
    assert_eq!(counted.times, 0);
    let (shared, mut orders, now) =
        (SharedLimiter::new(&config.rate_limits, 100, 7), Vec::new(), Duration::from_secs(1));
    let mut takes = shared.takes(&[request]);
    let _ = shared.take_all(&mut takes, now, |order| orders.push(order));
    assert_eq!(orders.len(), 2, "each limit needs a lease");
    for order in &orders {
        shared.leased(order, Some(CountAnswer { granted: 5, owed: 0 }), now);
    }
    let counted = allocations(|| {
        let verdict = shared.check(&request, now, |_| unreachable!("the leases suffice"));
        assert!(verdict.is_ok_and(|verdict| verdict.is_some_and(|verdict| verdict.allowed)));
    });
    assert_eq!(counted.times, 0);
}
