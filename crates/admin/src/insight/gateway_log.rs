//! The last lines of the gateway's own log. This module must not know how lines are written or kept.

use std::sync::Arc;

use gateway::telemetry::{LogEntry, PROCESS_LOG, RecentLines};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::Level;

use super::moment::PointInTime;

/// The levels, from the fewest lines to the most.
pub(crate) const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

/// The maximum number of lines of an answer.
pub(crate) const MOST_LINES: u64 = 5_000;

/// The last lines of the gateway's log, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLines {
    pub(crate) lines: Vec<LogLine>,
    /// The number of the last line that the gateway has logged.
    pub(crate) last: u64,
    /// The number of the oldest line that is still kept; 0 if there is none.
    pub(crate) oldest: u64,
}

/// A line of the gateway's log. Secrets of the configuration are masked, as in the log itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLine {
    /// The number of the line since the gateway started.
    pub(crate) number: u64,
    pub(crate) at: PointInTime,
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub(crate) level: &'static str,
    /// The part of Dragoman that wrote the line.
    pub(crate) target: &'static str,
    /// The server that the line is about, if there is one.
    pub(crate) server: Option<String>,
    /// The message and the values that belong to it.
    pub(crate) text: String,
}

/// The lines to return.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogQuery<'q> {
    /// Only lines after this one.
    pub(crate) after: u64,
    /// The least severe level, one of [`LEVELS`]; all levels if it is `None`.
    pub(crate) level: Option<&'q str>,
    /// Only lines about this server.
    pub(crate) server: Option<&'q str>,
    /// The maximum number of lines; the newest lines are returned.
    pub(crate) limit: usize,
}

/// Returns the newest lines that fit a query.
pub(crate) fn lines(query: LogQuery<'_>) -> LogLines {
    let least = query.level.and_then(|word| word.parse().ok()).unwrap_or(Level::TRACE);
    let RecentLines { lines, last, oldest } = PROCESS_LOG.since(query.after, least);
    let fitting =
        |line: &&Arc<LogEntry>| query.server.is_none_or(|name| line.server.as_deref() == Some(name));
    let mut newest: Vec<LogLine> =
        lines.iter().rev().filter(fitting).take(query.limit).map(|line| shown(line)).collect();
    newest.reverse();
    LogLines { lines: newest, last, oldest }
}

fn shown(line: &LogEntry) -> LogLine {
    LogLine {
        number: line.number,
        at: PointInTime(line.at),
        level: level(line.level),
        target: line.target,
        server: line.server.as_deref().map(str::to_owned),
        text: line.text.to_string(),
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}
