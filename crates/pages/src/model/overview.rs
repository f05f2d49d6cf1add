//! The first page: the health of the gateway, what happened, and what to do.

use super::{CallRow, Caller, ForeignText, Millis, ServerRow, Severity};

/// The overview.
#[derive(Debug, Clone, Default)]
pub struct OverviewPage {
    /// The shown period.
    pub window: Window,
    /// The time at which this process started.
    pub started: Millis,
    /// Things to do, the most important first.
    pub advice: Vec<Advice>,
    /// The sums of the period.
    pub totals: TrafficTotals,
    /// The sums of the preceding period, for comparison; `None` if they are not known.
    pub before: Option<TrafficTotals>,
    /// The beginning of the counted part of the period, if there are too many calls to count all.
    pub counted_since: Option<Millis>,
    /// At most 120 points, the oldest first, at equal distances.
    pub points: Vec<TrafficPoint>,
    /// All servers, those with problems first.
    pub servers: Vec<ServerRow>,
    /// The tools with the most calls in the period.
    pub top_tools: Vec<UsageRow>,
    /// The callers with the most calls in the period.
    pub top_callers: Vec<UsageRow>,
    /// The latest calls that failed or were denied.
    pub failures: Vec<CallRow>,
    /// The number of requests that were turned away since the start, before they became calls.
    pub refused: u64,
    /// The latest of these requests.
    pub refused_rows: Vec<RefusedRequestRow>,
    /// The number of calls that run now.
    pub running: u64,
    /// The number of calls that wait for their turn at a server.
    pub waiting: u64,
    /// The number of calls that wait for an answer from their client.
    pub questions: u64,
    /// The number of open sessions.
    pub sessions: u64,
}

/// The period that the overview shows. The query parameter is `window`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Window {
    /// 15 minutes
    Quarter,
    /// One hour
    #[default]
    Hour,
    /// 24 hours
    Day,
    /// Seven days
    Week,
}

impl Window {
    /// All periods, the shortest first.
    pub const ALL: [Self; 4] = [Self::Quarter, Self::Hour, Self::Day, Self::Week];

    /// The value of the query parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quarter => "15m",
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// The period with this value of the query parameter.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.name() == name)
    }

    /// The length of the period in words, after `the last`.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Quarter => "15 minutes",
            Self::Hour => "hour",
            Self::Day => "24 hours",
            Self::Week => "7 days",
        }
    }

    /// The length of the period in milliseconds.
    pub fn millis(self) -> Millis {
        match self {
            Self::Quarter => 900_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
            Self::Week => 604_800_000,
        }
    }
}

/// Something to do.
#[derive(Debug, Clone, Default)]
pub struct Advice {
    /// The importance.
    pub severity: Severity,
    /// The fault: `notion is unreachable`.
    pub title: ForeignText,
    /// The reason, and what to do.
    pub text: ForeignText,
    /// The page on which it can be done.
    pub href: String,
    /// The text of the link: `Log in`.
    pub action: &'static str,
}

/// The sums of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrafficTotals {
    /// The number of all calls.
    pub calls: u64,
    /// The number of calls that failed.
    pub errors: u64,
    /// The number of calls that were denied.
    pub denied: u64,
    /// The duration that half of the calls did not exceed.
    pub p50_us: u64,
    /// The duration that 95 % of the calls did not exceed.
    pub p95_us: u64,
}

/// The traffic of one step of a chart.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrafficPoint {
    /// The start of the step.
    pub at: Millis,
    /// The number of calls that returned a result.
    pub ok: u64,
    /// The number of calls that failed.
    pub errors: u64,
    /// The number of calls that were denied, or named something unknown.
    pub denied: u64,
    /// The median duration.
    pub p50_us: u64,
    /// The 95th percentile of the duration.
    pub p95_us: u64,
}

/// The calls of a tool, at a server or by a caller within a period.
#[derive(Debug, Clone, Default)]
pub struct UsageRow {
    /// The name of the tool, or the id of the caller.
    pub name: ForeignText,
    /// The name of the caller's API key.
    pub key: Option<ForeignText>,
    /// The number of all calls.
    pub calls: u64,
    /// The number of calls that failed or were denied.
    pub failed: u64,
    /// The 95th percentile of the duration.
    pub p95_us: u64,
}

/// Requests that were turned away before they became calls.
#[derive(Debug, Clone, Default)]
pub struct RefusedRequestRow {
    /// The HTTP method and the path.
    pub request: ForeignText,
    /// The client's address.
    pub address: ForeignText,
    /// The client's program, as it states it.
    pub agent: Option<ForeignText>,
    /// The caller, if its credentials were valid.
    pub principal: Option<Caller>,
    /// The HTTP status.
    pub status: u16,
    /// The reason that the client was told.
    pub reason: ForeignText,
    /// The number of equal requests.
    pub count: u64,
    /// The time of the latest one.
    pub at: Millis,
}
