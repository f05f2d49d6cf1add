use std::sync::Arc;
use std::time::Duration;

use proto::mcp::Method;

use super::*;

const CALL: Option<Method> = Some(Method::ToolsCall);

#[test]
fn a_duration_counts_in_the_first_bucket_that_is_not_below_it() {
    let histogram = DurationHistogram::new(OPERATION_BOUNDS);
    for millis in [0, 10, 11, 20, 300_000, 300_001, 900_000] {
        histogram.observe(Duration::from_millis(millis));
    }
    let figures = histogram.figures();
    assert_eq!(figures.count, 7);
    assert!((figures.sum - 1500.042).abs() < 1e-9, "{}", figures.sum);
    assert_eq!(figures.buckets.first(), Some(&(0.01, 2)));
    assert_eq!(figures.buckets[1], (0.02, 2));
    assert_eq!(figures.buckets[13], (300.0, 1));
    assert_eq!(figures.buckets.last(), Some(&(f64::INFINITY, 2)));
    assert_eq!(figures.buckets.len() + 2, HISTOGRAM_SERIES);
}

#[test]
fn bounds_rise() {
    for bounds in [OPERATION_BOUNDS, OVERHEAD_BOUNDS] {
        assert!(bounds.is_sorted());
    }
}

#[test]
fn operations_count_by_method_and_outcome_and_unknown_methods_together() {
    let (operations, allowance) = (OperationHistograms::default(), SeriesAllowance::new(1000));
    let second = Duration::from_secs(1);
    assert!(operations.observe((CALL, OperationOutcome::Ok), second, &allowance));
    assert!(operations.observe((CALL, OperationOutcome::Ok), second, &allowance));
    assert!(operations.observe((CALL, OperationOutcome::Denied), second, &allowance));
    assert!(operations.observe((None, OperationOutcome::Error), second, &allowance));
    let all: Vec<_> = operations
        .each()
        .map(|(method, outcome, histogram)| (method, outcome, histogram.figures().count))
        .collect();
    assert_eq!(
        all,
        [
            (CALL, OperationOutcome::Ok, 2),
            (CALL, OperationOutcome::Denied, 1),
            (None, OperationOutcome::Error, 1),
        ]
    );
    assert_eq!(operations.series(), 3 * HISTOGRAM_SERIES);
}

#[test]
fn a_family_gets_no_more_series_than_allowed_until_some_are_removed() {
    let (operations, allowance) =
        (OperationHistograms::default(), SeriesAllowance::new(HISTOGRAM_SERIES + 1));
    let observe = |outcome| operations.observe((CALL, outcome), Duration::ZERO, &allowance);
    assert!(observe(OperationOutcome::Ok) && !observe(OperationOutcome::Error));
    assert!(observe(OperationOutcome::Ok), "a series that exists needs no room");
    assert_eq!(allowance.refused(), 1);
    allowance.recount(2 * HISTOGRAM_SERIES, operations.series());
    assert!(observe(OperationOutcome::Error) && !observe(OperationOutcome::Denied));
    let rest = OperationHistograms::default();
    rest.observe_rest((CALL, OperationOutcome::Denied), Duration::ZERO);
    rest.observe_rest((CALL, OperationOutcome::Denied), Duration::ZERO);
    assert_eq!(rest.each().map(|(_, _, histogram)| histogram.figures().count).collect::<Vec<_>>(), [2]);
}

#[test]
fn entries_of_one_tool_share_its_counters() {
    let (table, allowance) = (ToolTable::default(), SeriesAllowance::new(100));
    let (one, other) = (ToolMeter::default(), ToolMeter::default());
    let add = || "add".to_owned();
    one.counters(&table, &allowance, add).unwrap().count(true, Duration::from_millis(500));
    one.counters(&table, &allowance, || unreachable!()).unwrap().count(true, Duration::from_millis(250));
    other.counters(&table, &allowance, add).unwrap().count(false, Duration::from_millis(250));
    let all = table.all();
    assert_eq!(all.len(), 1);
    assert_eq!((&*all[0].0, all[0].1.calls()), ("add", (2, 1)));
    assert!((all[0].1.seconds() - 1.0).abs() < 1e-9);
}

#[test]
fn a_tool_without_series_asks_again_only_in_the_next_round() {
    let (table, allowance) = (ToolTable::default(), SeriesAllowance::new(TOOL_SERIES));
    let (first, second) = (ToolMeter::default(), ToolMeter::default());
    assert!(first.counters(&table, &allowance, || "first".to_owned()).is_some());
    assert!(second.counters(&table, &allowance, || "second".to_owned()).is_none());
    assert!(second.counters(&table, &allowance, || unreachable!()).is_none());
    assert_eq!(allowance.refused(), 2);
    allowance.recount(2 * TOOL_SERIES, table.series());
    assert!(second.counters(&table, &allowance, || "second".to_owned()).is_some());
}

#[test]
fn a_tool_with_an_endless_name_gets_no_series() {
    let (table, allowance) = (ToolTable::default(), SeriesAllowance::new(100));
    assert!(ToolMeter::default().counters(&table, &allowance, || "x".repeat(201)).is_none());
    assert!(ToolMeter::default().counters(&table, &allowance, || "x".repeat(200)).is_some());
    assert_eq!((table.all().len(), allowance.refused()), (1, 1));
}

#[test]
fn counters_go_when_neither_the_server_nor_a_view_has_the_tool() {
    let (table, allowance) = (ToolTable::default(), SeriesAllowance::new(100));
    let shown = ToolMeter::default();
    shown.counters(&table, &allowance, || "shown".to_owned()).unwrap();
    for name in ["listed", "gone"] {
        let _: Option<Arc<ToolCounters>> =
            ToolMeter::default().counters(&table, &allowance, || name.to_owned());
    }
    table.retain(|name| name == "listed");
    let names: Vec<_> = table.all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["listed", "shown"]);
    drop(shown);
    table.retain(|_| false);
    assert_eq!(table.series(), 0);
}
