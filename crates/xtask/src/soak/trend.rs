//! The slope of a figure over time, by least squares, and its limit.

use super::Sample;
use std::fmt::Write as _;

/// A figure of a sample, and its maximum growth over the measured time.
struct Figure {
    name: &'static str,
    of: fn(&Sample) -> f64,
    allowed: f64,
}

#[expect(clippy::cast_precision_loss, reason = "figures of one process")]
const FIGURES: [Figure; 4] = [
    Figure { name: "memory, MiB", of: |sample| sample.memory as f64 / 1024.0, allowed: 8.0 },
    Figure { name: "descriptors", of: |sample| sample.descriptors as f64, allowed: 16.0 },
    Figure { name: "threads", of: |sample| sample.threads as f64, allowed: 2.0 },
    Figure { name: "processes", of: |sample| sample.processes as f64, allowed: 3.0 },
];

/// A table of trends, and a line for each figure that grew.
pub(super) fn judged(samples: &[Sample]) -> (String, Vec<String>) {
    let minutes: Vec<f64> = samples.iter().map(|sample| sample.after.as_secs_f64() / 60.0).collect();
    let length = minutes.last().zip(minutes.first()).map_or(0.0, |(last, first)| last - first);
    let mut text = String::from("\nafter warm-up     least     mean     most  growth a minute  in all");
    let mut grown = Vec::new();
    for Figure { name, of, allowed } in FIGURES {
        let values: Vec<f64> = samples.iter().map(of).collect();
        let slope = slope(&minutes, &values);
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        let growth = slope * length;
        let _ = write!(
            text,
            "\n{name:<14}  {least:>7.1}  {:>7.1}  {most:>7.1}  {slope:>15.3}  {growth:>6.1}",
            mean(&values)
        );
        if growth > allowed {
            grown.push(format!("{name}: grew by {growth:.1} in {length:.0} minutes; {allowed} is allowed"));
        }
    }
    (text, grown)
}

/// The slope of the line that fits these points best.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let over: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let under: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    if under == 0.0 { 0.0 } else { over / under }
}

#[expect(clippy::cast_precision_loss, reason = "a run has hundreds of samples")]
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn a_line_has_its_slope_and_noise_has_none() {
        let x = [0.0, 1.0, 2.0, 3.0];
        assert!((slope(&x, &[5.0, 7.0, 9.0, 11.0]) - 2.0).abs() < 1e-9);
        assert!(slope(&x, &[5.0, 9.0, 9.0, 5.0]).abs() < 1e-9);
        assert!(slope(&[], &[]).abs() < 1e-9);
    }
}
