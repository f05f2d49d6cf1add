use config::Metrics;
use engine::meters::{HISTOGRAM_SERIES, OperationHistograms, OperationOutcome, ToolMeter};
use proto::mcp::Method;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;

const MS: Duration = Duration::from_millis(1);

fn figures(series: usize) -> ProcessFigures {
    ProcessFigures::new(Some(&Metrics { series, ..Metrics::default() }))
}

/// Returns the number of tool calls with this outcome, and the sum of their durations in milliseconds.
fn counted(operations: &OperationHistograms, outcome: OperationOutcome) -> (u64, f64) {
    let of = operations.each().find(|one| (one.0, one.1) == (Some(Method::ToolsCall), outcome));
    of.map_or((0, 0.0), |(_, _, histogram)| {
        (histogram.figures().count, (histogram.figures().sum * 1e3).round())
    })
}

fn end(started: Instant, after: u32, waited: u32) -> MeteredEnd {
    let ended = started + MS * after;
    MeteredEnd { outcome: OperationOutcome::Ok, started, ended, waited: MS * waited, sent: None }
}

#[test]
fn the_time_of_a_call_is_divided_between_waiting_the_server_and_the_gateway() {
    let (figures, server) = (figures(1000), Arc::default());
    let started = Instant::now();
    let mut meter = RequestMeter::new(&figures, Some(Method::ToolsCall));
    meter.set_server(&server);
    meter.set_tool(&figures, &ToolMeter::default(), || "add".to_owned());
    let mut sent = SentTimes::new(started + MS * 30);
    sent.hear(started + MS * 40);
    sent.hear(started + MS * 80);
    meter.finish(&figures, MeteredEnd { sent: Some(sent), ..end(started, 85, 20) });
    assert_eq!(counted(&server.requested, OperationOutcome::Ok), (1, 85.0));
    assert_eq!(counted(&server.sent, OperationOutcome::Ok), (1, 50.0));
    assert_eq!(counted(&figures.unassigned.requested, OperationOutcome::Ok), (0, 0.0));
    let overhead = figures.overhead.figures();
    assert_eq!((overhead.count, (overhead.sum * 1e3).round()), (1, 15.0));
    let tools = server.tools.all();
    assert_eq!((&*tools[0].0, tools[0].1.calls()), ("add", (1, 0)));
}

#[test]
fn only_undisturbed_calls_show_the_overhead() {
    let figures = figures(1000);
    let started = Instant::now();
    let finish = |sent: SentTimes| {
        let meter = RequestMeter::new(&figures, Some(Method::ToolsCall));
        meter.finish(&figures, MeteredEnd { sent: Some(sent), ..end(started, 1, 0) });
    };
    finish(SentTimes::new(started));
    let mut interrupted = SentTimes::new(started);
    interrupted.hear(started);
    interrupted.interrupt();
    finish(interrupted);
    assert_eq!(figures.overhead.figures().count, 0);
    assert_eq!(counted(&figures.unassigned.sent, OperationOutcome::Ok).0, 2);
    let mut plain = SentTimes::new(started);
    plain.hear(started);
    finish(plain);
    assert_eq!(figures.overhead.figures().count, 1);
}

#[test]
fn the_time_for_which_a_client_thinks_is_nobodys() {
    let (figures, server) = (figures(1000), Arc::default());
    let started = Instant::now();
    let finish = |sent: SentTimes, after: u32| {
        let mut meter = RequestMeter::new(&figures, Some(Method::ToolsCall));
        meter.set_server(&server);
        meter.finish(&figures, MeteredEnd { sent: Some(sent), ..end(started, after, 0) });
    };
    let mut sent = SentTimes::new(started + MS * 10);
    sent.hear(started + MS * 20);
    sent.resume(MS * 5000);
    sent.hear(started + MS * 5050);
    finish(sent, 5060);
    assert_eq!(counted(&server.requested, OperationOutcome::Ok), (1, 60.0));
    assert_eq!(counted(&server.sent, OperationOutcome::Ok), (1, 40.0));
    // If the server says nothing more, its time lasts until the end.
    let mut sent = SentTimes::new(started);
    sent.hear(started + MS * 20);
    sent.resume(MS * 5000);
    finish(sent, 5100);
    assert_eq!(counted(&server.sent, OperationOutcome::Ok), (2, 140.0));
    assert_eq!(figures.overhead.figures().count, 0);
}

#[test]
fn what_exceeds_the_caps_is_counted_together() {
    let figures = figures(HISTOGRAM_SERIES);
    let started = Instant::now();
    for number in 0..20 {
        let server = Arc::default();
        let mut meter = RequestMeter::new(&figures, Some(Method::ToolsCall));
        meter.set_server(&server);
        meter.set_tool(&figures, &ToolMeter::default(), || format!("tool-{number}"));
        meter.finish(&figures, end(started, 1, 0));
    }
    assert_eq!(counted(&figures.rest.requested, OperationOutcome::Ok).0, 19);
    let expected = 20 - HISTOGRAM_SERIES as u64 / 2;
    assert_eq!(figures.rest.tools.calls(), (expected, 0));
    assert_eq!(figures.allowances.requested.refused(), 19);
    assert_eq!(figures.allowances.tools.refused(), expected);
    assert_eq!(figures.allowances.sent.refused(), 0);
    // The servers are gone, so there is room again.
    figures.follow(Some(&Metrics { series: HISTOGRAM_SERIES, ..Metrics::default() }), &[]);
    let meter = RequestMeter::new(&figures, Some(Method::ToolsCall));
    meter.finish(&figures, end(started, 1, 0));
    assert_eq!(counted(&figures.unassigned.requested, OperationOutcome::Ok).0, 1);
    figures.follow(None, &[]);
    assert!(!figures.is_on());
}

#[test]
fn decisions_count_by_limit() {
    let decisions = RateDecisions::new(["a".to_owned(), "b".to_owned()].into_iter());
    decisions.count(1, true);
    decisions.count(1, true);
    decisions.count(1, false);
    decisions.count(7, true);
    assert_eq!(decisions.each().collect::<Vec<_>>(), [("a", 0, 0), ("b", 2, 1)]);
}
