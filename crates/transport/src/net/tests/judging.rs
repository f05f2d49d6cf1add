use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

use crate::net::accept::{AfterError, after_error};
use crate::net::roster::{ConnectionPhase, ConnectionProgress, Order, Roster, StateTimeouts};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: StateTimeouts = StateTimeouts {
    header: SECOND,
    idle: Duration::from_mins(1),
    write: Duration::from_secs(5),
    rest: SECOND,
};

#[test]
fn accepting_waits_when_files_run_out_and_only_then() {
    let emfile = Error::from_raw_os_error(24);
    let pauses: Vec<_> = (0..10).map(|failures| after_error(&emfile, failures)).collect();
    assert_eq!(pauses[0], AfterError::BackOff(Duration::from_millis(10)));
    assert_eq!(pauses[1], AfterError::BackOff(Duration::from_millis(20)));
    assert_eq!(pauses[9], AfterError::BackOff(SECOND), "bounded");
    assert_eq!(after_error(&emfile, u32::MAX), AfterError::BackOff(SECOND));
    assert!(matches!(after_error(&Error::from_raw_os_error(23), 0), AfterError::BackOff(_)), "ENFILE");
    assert_eq!(after_error(&ErrorKind::ConnectionAborted.into(), 0), AfterError::Next);
    assert_eq!(after_error(&Error::from_raw_os_error(22), 0), AfterError::Fail, "not a listening socket");
}

/// Returns the order that a connection receives from two sweeps: one at the start, and one after `seconds`.
fn order_after(seconds: u64, prepare: impl Fn(&ConnectionProgress)) -> Order {
    let (roster, start) = (Roster::default(), Instant::now());
    let place = roster.enter(start);
    prepare(&place.progress);
    roster.sweep(start, PATIENCE);
    roster.sweep(start + Duration::from_secs(seconds), PATIENCE);
    place.progress.order()
}

#[test]
fn a_head_must_come_in_time() {
    assert_eq!(order_after(0, |_| ()), Order::Serve);
    assert_eq!(order_after(1, |_| ()), Order::Close, "nothing sent since the accept");
    assert_eq!(
        order_after(1, |p| p.enter(ConnectionPhase::Http1)),
        Order::Close,
        "the protocol alone is no request"
    );
    let second_head = |p: &ConnectionProgress| {
        p.enter(ConnectionPhase::Http1);
        p.request_begins();
        p.request_ends();
        p.has_read();
    };
    assert_eq!(order_after(1, second_head), Order::Close);
}

#[test]
fn idle_connections_are_sent_away_politely() {
    let idle = |p: &ConnectionProgress| {
        p.enter(ConnectionPhase::Http1);
        p.request_begins();
        p.request_ends();
    };
    assert_eq!(order_after(59, idle), Order::Serve);
    assert_eq!(order_after(60, idle), Order::Drain);
    let pinged = |p: &ConnectionProgress| {
        p.enter(ConnectionPhase::Http2);
        p.has_read();
    };
    assert_eq!(order_after(59, pinged), Order::Serve, "an HTTP/2 ping begins no head");
    assert_eq!(order_after(60, pinged), Order::Drain);
}

#[test]
fn running_requests_are_left_alone_unless_the_reader_stands_still() {
    assert_eq!(order_after(3600, ConnectionProgress::request_begins), Order::Serve);
    let stuck = |p: &ConnectionProgress| {
        p.request_begins();
        p.has_written(true);
    };
    assert_eq!(order_after(4, stuck), Order::Serve);
    assert_eq!(order_after(5, stuck), Order::Close);
}

#[test]
fn any_progress_starts_the_time_anew() {
    let (roster, start) = (Roster::default(), Instant::now());
    let place = roster.enter(start);
    place.progress.request_begins();
    for second in 0..20 {
        place.progress.has_written(false);
        place.progress.has_written(true);
        roster.sweep(start + second * SECOND, PATIENCE);
    }
    assert_eq!(place.progress.order(), Order::Serve);
    roster.order_all(Order::Close);
    roster.order_all(Order::Drain);
    assert_eq!(place.progress.order(), Order::Close, "an order never becomes milder");
}

#[tokio::test]
async fn an_empty_roster_is_known_at_once_and_when_it_becomes_so() {
    let roster = Roster::default();
    roster.emptied().await;
    let place = roster.enter(Instant::now());
    let waiting = tokio::spawn({
        let roster = roster.clone();
        async move { roster.emptied().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(place);
    waiting.await.unwrap();
}
