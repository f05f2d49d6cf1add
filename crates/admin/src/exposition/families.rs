//! Families of series: each has a name, a description and a cap on the number of its series. This module must not know any
//! family.

use std::fmt::Result;

use engine::meters::HistogramFigures;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;

/// The label value that stands for all names above a cap.
pub(super) const OTHER: &str = "_OTHER";

/// The labels of a series.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// The labels of an exemplar. No series has an exemplar, so there are no labels.
type NoLabels = [(&'static str, &'static str); 0];

/// The writer of families.
pub(super) struct Families<'a, 'b> {
    encoder: &'a mut DescriptorEncoder<'b>,
    series: usize,
    /// The families that exceeded their cap, each with the number of series that were left out.
    left_out: Vec<(&'static str, u64)>,
}

impl<'a, 'b> Families<'a, 'b> {
    pub(super) fn new(encoder: &'a mut DescriptorEncoder<'b>, series: usize) -> Self {
        Self { encoder, series, left_out: Vec::new() }
    }

    /// Writes a family of counters; `name` has no suffix `_total`.
    pub(super) fn counters<V: CounterValue>(
        &mut self,
        (name, help): (&'static str, &str),
        write: impl FnOnce(&mut dyn FnMut(Labels<'_>, V) -> Result) -> Result,
    ) -> Result {
        self.family((name, help), MetricType::Counter, write, |encoder, value| value.encode_counter(encoder))
    }

    /// Writes a family of gauges.
    pub(super) fn gauges(
        &mut self,
        (name, help): (&'static str, &str),
        write: impl FnOnce(&mut dyn FnMut(Labels<'_>, f64) -> Result) -> Result,
    ) -> Result {
        self.family((name, help), MetricType::Gauge, write, |mut encoder, value| encoder.encode_gauge(&value))
    }

    /// Writes a family of histograms. Their number is not capped here, but where they are created.
    pub(super) fn histograms(
        &mut self,
        (name, help): (&'static str, &str),
        write: impl FnOnce(&mut dyn FnMut(Labels<'_>, HistogramFigures) -> Result) -> Result,
    ) -> Result {
        let one = |mut encoder: MetricEncoder<'_>, HistogramFigures { sum, count, buckets }| {
            encoder.encode_histogram::<NoLabels>(sum, count, &buckets, None)
        };
        let cap = std::mem::replace(&mut self.series, usize::MAX);
        let written = self.family((name, help), MetricType::Histogram, write, one);
        self.series = cap;
        written
    }

    fn family<V>(
        &mut self,
        (name, help): (&'static str, &str),
        kind: MetricType,
        write: impl FnOnce(&mut dyn FnMut(Labels<'_>, V) -> Result) -> Result,
        one: impl Fn(MetricEncoder<'_>, V) -> Result,
    ) -> Result {
        let mut family = self.encoder.encode_descriptor(name, help, None, kind)?;
        let (mut count, mut left_out) = (0, 0);
        let series = self.series;
        write(&mut |labels, value| {
            // The common series of everything above the cap is not subject to the cap.
            let is_common = labels.first().is_some_and(|(_, value)| *value == OTHER);
            if !is_common && count == series {
                left_out += 1;
                return Ok(());
            }
            count += usize::from(!is_common);
            // An empty label is the same as none.
            let labels: Vec<_> = labels.iter().filter(|(_, value)| !value.is_empty()).copied().collect();
            one(family.encode_family(&labels)?, value)
        })?;
        if left_out > 0 {
            self.left_out.push((name, left_out));
        }
        Ok(())
    }

    /// Writes the families that warn of exceeded caps. `overflow` contains the families whose series are capped
    /// where they are created, each with the number of events that were counted as [`OTHER`].
    pub(super) fn write_overflow<const N: usize>(mut self, overflow: [(&'static str, u64); N]) -> Result {
        let about = "Events counted under the label _OTHER, because a family has too many series.";
        self.counters::<u64>(("dragoman_series_overflow", about), |series| {
            overflow.iter().try_for_each(|(family, count)| series(&[("family", family)], *count))
        })?;
        let left_out = std::mem::take(&mut self.left_out);
        let about = "Series left out of this response, because their family has too many series.";
        self.gauges(("dragoman_series_left_out", about), |series| {
            left_out.iter().try_for_each(|(family, count)| series(&[("family", family)], number(*count)))
        })
    }
}

/// A value of a counter.
pub(super) trait CounterValue {
    fn encode_counter(&self, encoder: MetricEncoder<'_>) -> Result;
}

impl CounterValue for u64 {
    fn encode_counter(&self, mut encoder: MetricEncoder<'_>) -> Result {
        encoder.encode_counter::<NoLabels, _, f64>(self, None)
    }
}

impl CounterValue for f64 {
    fn encode_counter(&self, mut encoder: MetricEncoder<'_>) -> Result {
        encoder.encode_counter::<NoLabels, _, Self>(self, None)
    }
}

/// Returns a number for a gauge.
#[expect(clippy::cast_precision_loss, reason = "no gauge needs more than 53 bits")]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}
