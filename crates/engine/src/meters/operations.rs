//! The histograms of one server's operations, by method and outcome. A histogram exists once there is something to count.

use std::sync::OnceLock;
use std::time::Duration;

use proto::mcp::Method;

use super::{DurationHistogram, OPERATION_BOUNDS, SeriesAllowance};

/// The number of series of one histogram: its buckets, the sum and the count.
pub const HISTOGRAM_SERIES: usize = OPERATION_BOUNDS.len() + 3;

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationOutcome {
    /// The operation returned a result.
    Ok,
    /// The tool ran, and its result reports a failure.
    ToolError,
    /// The operation returned an error.
    Error,
    /// The server could not be reached, or did not answer in time.
    Unavailable,
    /// A rule, a limit or a missing approval refused the operation.
    Denied,
    /// The target does not exist.
    NotFound,
    /// The client gave up before there was an answer.
    Cancelled,
}

impl OperationOutcome {
    /// All outcomes.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::ToolError,
        Self::Error,
        Self::Unavailable,
        Self::Denied,
        Self::NotFound,
        Self::Cancelled,
    ];

    /// The name of the outcome in metrics and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Error => "error",
            Self::Unavailable => "unavailable",
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The number of methods that the gateway knows, plus one for all others.
const METHODS: usize = Method::ALL.len() + 1;

type ByOutcome = [OnceLock<Box<DurationHistogram>>; OperationOutcome::ALL.len()];

/// The histograms of one server's operations.
#[derive(Debug)]
pub struct OperationHistograms {
    by_method: [OnceLock<Box<ByOutcome>>; METHODS],
}

impl Default for OperationHistograms {
    fn default() -> Self {
        Self { by_method: [const { OnceLock::new() }; METHODS] }
    }
}

fn place(method: Option<Method>) -> usize {
    method.map_or(METHODS - 1, |method| method as usize)
}

impl OperationHistograms {
    /// Counts an operation; `method` is `None` for a method that the gateway does not know. Returns false if a histogram is
    /// missing and the family may have no further series; nothing is counted then.
    pub fn observe(
        &self,
        (method, outcome): (Option<Method>, OperationOutcome),
        duration: Duration,
        allowance: &SeriesAllowance,
    ) -> bool {
        let of_method = self.by_method[place(method)].get_or_init(Box::default);
        let slot = &of_method[outcome as usize];
        let histogram = match slot.get() {
            Some(histogram) => histogram,
            None if !allowance.take(HISTOGRAM_SERIES) => return false,
            None => slot.get_or_init(|| Box::new(DurationHistogram::new(OPERATION_BOUNDS))),
        };
        histogram.observe(duration);
        true
    }

    /// Counts an operation that got no series under its own server.
    pub fn observe_rest(&self, key: (Option<Method>, OperationOutcome), duration: Duration) {
        self.observe(key, duration, &SeriesAllowance::new(HISTOGRAM_SERIES));
    }

    /// Returns all histograms; the method is `None` for methods that the gateway does not know.
    pub fn each(&self) -> impl Iterator<Item = (Option<Method>, OperationOutcome, &DurationHistogram)> {
        self.by_method.iter().enumerate().flat_map(|(at, of_method)| {
            let method = Method::ALL.get(at).copied();
            let outcomes = of_method
                .get()
                .into_iter()
                .flat_map(|slots| OperationOutcome::ALL.into_iter().zip(slots.iter()));
            outcomes.filter_map(move |(outcome, slot)| Some((method, outcome, &**slot.get()?)))
        })
    }

    /// Returns the number of series.
    pub fn series(&self) -> usize {
        self.each().count() * HISTOGRAM_SERIES
    }
}
