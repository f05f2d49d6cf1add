//! Charts as SVG whose geometry is in attributes, with the same numbers in a table below. Series differ by position or by the form of
//! their line, not by color alone. This module must not know where the numbers come from.

use super::figures::{count, duration};
use super::time::exact;
use crate::model::TrafficPoint;
use maud::{Markup, html};
use std::fmt::Write as _;

/// The width of a chart in its own coordinates. The style sheet stretches the chart; lines keep their width.
const WIDTH: u64 = 600;
const HEIGHT: u64 = 120;
/// The height below the zero line, for failed calls.
const BELOW: u64 = 36;
/// The maximum number of points; further points are left out of the table and the chart.
const MOST_POINTS: usize = 120;

/// Calls above the zero line, failed and denied calls below.
pub(crate) fn traffic_chart(points: &[TrafficPoint]) -> Markup {
    let points = &points[points.len().saturating_sub(MOST_POINTS)..];
    let failed = |point: &TrafficPoint| point.errors + point.denied;
    let all = |point: &TrafficPoint| point.ok + failed(point);
    let most = ceiling(points.iter().map(all).max().unwrap_or(0));
    let most_failed = points.iter().map(failed).max().unwrap_or(0);
    let (mut above, mut below) = (String::new(), String::new());
    for (at, point) in points.iter().enumerate() {
        bar(&mut above, at, points.len(), HEIGHT, all(point) * HEIGHT / most, true);
        let depth =
            (failed(point) * BELOW / most_failed.max(most / 8).max(1)).max(u64::from(failed(point) > 0) * 3);
        bar(&mut below, at, points.len(), HEIGHT + 2, depth, false);
    }
    let described = format!(
        "The highest bar stands for {} calls; the highest number of failed or refused calls in one bar is {}. \
         The table below has all numbers.",
        count(points.iter().map(all).max().unwrap_or(0)),
        count(most_failed)
    );
    html! {
        figure.chart id="calls-chart" {
            figcaption { span.h { "Calls" } span.legend { span { "↑ all" } span { "↓ failed or refused" } } }
            div.plot {
                span.top.quiet { (count(most)) }
                svg viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + BELOW + 2)) preserveAspectRatio="none" role="img" aria-labelledby="calls-title calls-desc" {
                    title id="calls-title" { "Calls over time" }
                    desc id="calls-desc" { (described) }
                    path.grid d=(format!("M0 .5H{WIDTH}M0 {}H{WIDTH}", HEIGHT / 2)) {}
                    path.bars d=(above) {}
                    path.axis d=(format!("M0 {}.5H{WIDTH}", HEIGHT)) {}
                    path.fails d=(below) {}
                }
            }
            (span_of(points))
        }
    }
}

/// The median as a line, the 95th percentile as a dashed line.
pub(crate) fn latency_chart(points: &[TrafficPoint]) -> Markup {
    let points = &points[points.len().saturating_sub(MOST_POINTS)..];
    let most = ceiling(points.iter().map(|point| point.p95_us).max().unwrap_or(0));
    let described = format!(
        "At most {}. The table below has all numbers.",
        duration(points.iter().map(|point| point.p95_us).max().unwrap_or(0))
    );
    html! {
        figure.chart id="latency-chart" {
            figcaption {
                span.h { "Duration" }
                span.legend { span { (sample("p95")) "p95" } span { (sample("p50")) "median" } }
            }
            div.plot {
                span.top.quiet { (duration(most)) }
                svg viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + BELOW + 2)) preserveAspectRatio="none" role="img" aria-labelledby="latency-title latency-desc" {
                    title id="latency-title" { "Duration of calls over time" }
                    desc id="latency-desc" { (described) }
                    path.grid d=(format!("M0 .5H{WIDTH}M0 {}H{WIDTH}", u64::midpoint(HEIGHT, BELOW))) {}
                    path.axis d=(format!("M0 {}.5H{WIDTH}", HEIGHT + BELOW)) {}
                    path.line.p95 vector-effect="non-scaling-stroke" d=(line(points, most, |point| point.p95_us)) {}
                    path.line.p50 vector-effect="non-scaling-stroke" d=(line(points, most, |point| point.p50_us)) {}
                }
            }
            (span_of(points))
        }
    }
}

/// The numbers of both charts.
pub(crate) fn numbers(points: &[TrafficPoint]) -> Markup {
    let points = &points[points.len().saturating_sub(MOST_POINTS)..];
    html! {
        details.numbers {
            summary { "The numbers as a table" }
            div.table role="group" tabindex="0" aria-label="Calls and durations over time" {
                table {
                    thead { tr {
                        th scope="col" { "Start (UTC)" } th.n scope="col" { "Ok" } th.n scope="col" { "Failed" } th.n scope="col" { "Refused" }
                        th.n scope="col" { "Median" } th.n scope="col" { "p95" }
                    } }
                    tbody { @for point in points { tr {
                        td { (exact(point.at).replace('T', " ").trim_end_matches('Z')) }
                        td.n { (count(point.ok)) } td.n { (count(point.errors)) } td.n { (count(point.denied)) }
                        td.n { (duration(point.p50_us)) } td.n { (duration(point.p95_us)) }
                    } } }
                }
            }
        }
    }
}

/// A share as a bar. The text beside the bar states the same share.
pub(crate) fn meter(part: u64, whole: u64) -> Markup {
    let share = u128::from(part) * 100 / u128::from(whole.max(1));
    let share = u64::try_from(share).unwrap_or(100).min(100);
    let class = match share {
        0..75 => "fill",
        75..95 => "fill warn",
        _ => "fill bad",
    };
    html! {
        svg.meter viewBox="0 0 100 8" width="100" height="8" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="8" rx="2" {}
            rect class=(class) width=(share.max(u64::from(part > 0))) height="8" rx="2" {}
        }
    }
}

fn sample(class: &str) -> Markup {
    html! { svg.sample viewBox="0 0 24 8" width="24" height="8" aria-hidden="true" { path.line.(class) d="M0 4H24" {} } }
}

fn span_of(points: &[TrafficPoint]) -> Markup {
    html! {
        div.ends.quiet {
            @if let (Some(first), Some(last)) = (points.first(), points.last()) {
                span { (short(first.at)) } span { (short(last.at)) " UTC" }
            }
        }
    }
}

/// A point in time without its year: `11-26 04:06`.
fn short(at: u64) -> String {
    exact(at)[5..16].replace('T', " ")
}

fn bar(path: &mut String, at: usize, of: usize, zero: u64, height: u64, up: bool) {
    if height == 0 {
        return;
    }
    let of = of.max(1) as u64;
    let left = at as u64 * WIDTH * 10 / of;
    let width = (WIDTH * 10 / of).saturating_sub(if of > 60 { 8 } else { 16 }).max(4);
    let top = if up { zero - height } else { zero };
    let _ = write!(path, "M{} {top}h{}v{height}h-{}z", tenth(left), tenth(width), tenth(width));
}

fn line(points: &[TrafficPoint], most: u64, value: impl Fn(&TrafficPoint) -> u64) -> String {
    let height = HEIGHT + BELOW;
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let x = at as u64 * WIDTH * 10 / (points.len().max(2) as u64 - 1);
        let y = height * 10 - value(point).min(most) * height * 10 / most;
        let _ = write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, tenth(x), tenth(y));
    }
    path
}

fn tenth(number: u64) -> String {
    if number.is_multiple_of(10) {
        (number / 10).to_string()
    } else {
        format!("{}.{}", number / 10, number % 10)
    }
}

/// The smallest of 1, 2, 5, 10, 20 … that is not below a number.
fn ceiling(number: u64) -> u64 {
    let mut unit = 1;
    loop {
        for step in [1, 2, 5] {
            if step * unit >= number || unit >= u64::MAX / 100 {
                return step * unit;
            }
        }
        unit *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::{ceiling, latency_chart, meter, traffic_chart};
    use crate::model::TrafficPoint;
    use proptest::prelude::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!([0, 1, 3, 5, 6, 99, 101, 2_001].map(ceiling), [1, 1, 5, 5, 10, 100, 200, 5_000]);
    }

    #[test]
    fn a_chart_without_points_is_empty() {
        assert!(traffic_chart(&[]).into_string().contains("path class=\"bars\" d=\"\""));
    }

    proptest! {
        #[test]
        fn any_numbers_have_a_chart(numbers in proptest::collection::vec(0..u64::from(u32::MAX), 0..200), whole in any::<u64>()) {
            let points: Vec<_> = numbers.iter().map(|&n| TrafficPoint { at: n, ok: n, errors: n / 7, denied: 0, p50_us: n, p95_us: n }).collect();
            let html = traffic_chart(&points).into_string() + &latency_chart(&points).into_string();
            prop_assert!(!html.contains("h-0z") && html.len() < 40_000);
            prop_assert!(meter(numbers.len() as u64, whole).into_string().contains("rect"));
        }
    }
}
