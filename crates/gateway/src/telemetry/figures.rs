//! The metrics of the process that do not belong to a server, and the caps on the number of series. This module must not
//! know what a request is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::SystemTime;

use config::Metrics;
use engine::meters::{
    DurationHistogram, OVERHEAD_BOUNDS, OperationHistograms, SeriesAllowance, ServerMeters, ToolCounters,
};

/// The caps of the metric families whose series are labeled with the names of servers and tools.
pub struct Allowances {
    /// The cap for the operations that clients requested.
    pub requested: SeriesAllowance,
    /// The cap for the requests that were sent to servers.
    pub sent: SeriesAllowance,
    /// The cap for the tool calls.
    pub tools: SeriesAllowance,
}

/// The metrics of all operations and tools that have no series of their own.
pub struct RestFigures {
    pub requested: OperationHistograms,
    pub sent: OperationHistograms,
    pub tools: ToolCounters,
}

/// The metrics of the process.
pub struct ProcessFigures {
    is_on: AtomicBool,
    started: SystemTime,
    /// The requests that concern no server.
    pub unassigned: Arc<ServerMeters>,
    /// The metrics of all operations and tools above the caps.
    pub rest: RestFigures,
    /// The time that forwarded requests spend in the gateway itself.
    pub overhead: DurationHistogram,
    /// The caps.
    pub allowances: Allowances,
}

impl ProcessFigures {
    /// Creates metrics with all counts at zero; `metrics` is the configuration.
    pub(crate) fn new(metrics: Option<&Metrics>) -> Self {
        let most = metrics.map_or(0, |metrics| metrics.series);
        Self {
            is_on: AtomicBool::new(metrics.is_some()),
            started: SystemTime::now(),
            unassigned: Arc::default(),
            rest: RestFigures {
                requested: OperationHistograms::default(),
                sent: OperationHistograms::default(),
                tools: ToolCounters::default(),
            },
            overhead: DurationHistogram::new(OVERHEAD_BOUNDS),
            allowances: Allowances {
                requested: SeriesAllowance::new(most),
                sent: SeriesAllowance::new(most),
                tools: SeriesAllowance::new(most),
            },
        }
    }

    /// Returns true if requests are counted.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    /// Returns the time at which the process started to count.
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// Applies a new configuration; `servers` contains the metrics of all servers that still exist.
    pub(crate) fn follow(&self, metrics: Option<&Metrics>, servers: &[Arc<ServerMeters>]) {
        let most = metrics.map_or(0, |metrics| metrics.series);
        let all = || servers.iter().chain([&self.unassigned]);
        self.allowances.requested.recount(most, all().map(|one| one.requested.series()).sum());
        self.allowances.sent.recount(most, all().map(|one| one.sent.series()).sum());
        self.allowances.tools.recount(most, all().map(|one| one.tools.series()).sum());
        self.is_on.store(metrics.is_some(), Relaxed);
    }
}
