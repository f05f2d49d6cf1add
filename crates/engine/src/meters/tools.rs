//! The counters of tools. A view's entry for a tool keeps a reference to the tool's counters, so that a call needs no
//! look-up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::SeriesAllowance;
use super::histogram::seconds;

/// The number of series that a tool takes in its largest family: successful and failed calls.
pub const TOOL_SERIES: usize = 2;

/// The longest name that becomes a label, in bytes. A longer name gets no series: if it were truncated, two tools
/// could get the same label.
const LONGEST_NAME: usize = 200;

/// The counters of one tool.
#[derive(Debug, Default)]
pub struct ToolCounters {
    ok: AtomicU64,
    failed: AtomicU64,
    nanoseconds: AtomicU64,
}

impl ToolCounters {
    /// Counts a call.
    pub fn count(&self, ok: bool, duration: Duration) {
        let counter = if ok { &self.ok } else { &self.failed };
        counter.fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Returns the numbers of successful and of failed calls.
    pub fn calls(&self) -> (u64, u64) {
        (self.ok.load(Relaxed), self.failed.load(Relaxed))
    }

    /// Returns the duration of all calls, in seconds.
    pub fn seconds(&self) -> f64 {
        seconds(self.nanoseconds.load(Relaxed))
    }
}

/// The counters of one server's tools that were called, by the tools' names at the server.
#[derive(Debug, Default)]
pub struct ToolTable(Mutex<HashMap<Box<str>, Arc<ToolCounters>>>);

impl ToolTable {
    fn counters(&self, name: &str, allowance: &SeriesAllowance) -> Option<Arc<ToolCounters>> {
        if name.len() > LONGEST_NAME {
            allowance.note_refused();
            return None;
        }
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tools.get(name) {
            return Some(known.clone());
        }
        allowance.take(TOOL_SERIES).then(|| tools.entry(name.into()).or_default().clone())
    }

    /// Removes the counters of tools that are not listed any more, unless a view still shows them.
    pub fn retain(&self, is_listed: impl Fn(&str) -> bool) {
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tools.retain(|name, counters| Arc::strong_count(counters) > 1 || is_listed(name));
        tools.shrink_to_fit();
    }

    /// Returns all counters, by the names of their tools.
    pub fn all(&self) -> Vec<(Box<str>, Arc<ToolCounters>)> {
        let tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = tools.iter().map(|(name, counters)| (name.clone(), counters.clone())).collect();
        drop(tools);
        all.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        all
    }

    /// Returns the number of series in the largest family.
    pub fn series(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() * TOOL_SERIES
    }
}

/// A view's reference to a tool's counters, which is set by the first call.
#[derive(Debug, Default)]
pub struct ToolMeter {
    counters: OnceLock<Arc<ToolCounters>>,
    /// The round of the allowance in which the tool got no series.
    refused_in: AtomicU64,
}

impl ToolMeter {
    /// Returns the tool's counters; `None` if the family may have no further series. Only the first call of each entry looks
    /// the counters up by the tool's name, which `name` returns.
    pub fn counters(
        &self,
        table: &ToolTable,
        allowance: &SeriesAllowance,
        name: impl FnOnce() -> String,
    ) -> Option<Arc<ToolCounters>> {
        if let Some(counters) = self.counters.get() {
            return Some(counters.clone());
        }
        let round = allowance.round();
        if self.refused_in.load(Relaxed) == round {
            allowance.note_refused();
            return None;
        }
        let Some(counters) = table.counters(&name(), allowance) else {
            self.refused_in.store(round, Relaxed);
            return None;
        };
        Some(self.counters.get_or_init(|| counters).clone())
    }
}
