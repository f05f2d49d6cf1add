//! Counters and histograms of calls. All threads update them without locks, and a reader may read them at any time. Pure:
//! durations are arguments. This module must not know who publishes the figures.
//!
//! | file | is for |
//! |---|---|
//! | `histogram` | durations, counted by range |
//! | `operations` | the histograms of one server's operations, by method and outcome |
//! | `tools` | the counters of one server's tools, and the reference to a tool's counters in a view |
//! | `allowance` | the cap on the number of series in one metric family |

mod allowance;
mod histogram;
mod operations;
#[cfg(test)]
mod tests;
mod tools;

pub use allowance::SeriesAllowance;
pub use histogram::{DurationHistogram, HistogramFigures, OPERATION_BOUNDS, OVERHEAD_BOUNDS};
pub use operations::{HISTOGRAM_SERIES, OperationHistograms, OperationOutcome};
pub use tools::{TOOL_SERIES, ToolCounters, ToolMeter, ToolTable};

/// The figures of one server, shared by all code that handles requests to the server.
#[derive(Debug, Default)]
pub struct ServerMeters {
    /// The operations that clients requested, from the request's arrival to its answer.
    pub requested: OperationHistograms,
    /// The requests that were sent to the server, from sending to the answer.
    pub sent: OperationHistograms,
    /// The server's tools.
    pub tools: ToolTable,
}
