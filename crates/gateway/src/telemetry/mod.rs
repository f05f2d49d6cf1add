//! The metrics, traces and log records of requests. This module must not know sessions, views or HTTP, or how metrics are published.
//!
//! | file | is for |
//! |---|---|
//! | `arrival` | the arrival of a request |
//! | `figures` | the metrics of the process that do not belong to a server, and the caps on the number of series |
//! | `request_meter` | the metrics of one request |
//! | `recent_log` | the last lines of the process's log |
//! | `rate_decisions` | the decisions of rate limits |
//! | [`call_log`] | the record of calls as log records for OpenTelemetry |
//! | [`export`] | the export of traces and log records to a collector |
//! | [`trace`] | traces of requests for OpenTelemetry |

mod arrival;
pub(crate) mod call_log;
pub(crate) mod export;
mod figures;
mod rate_decisions;
mod recent_log;
mod request_meter;
#[cfg(test)]
mod tests;
pub(crate) mod trace;

pub(crate) use arrival::RequestArrival;
pub(crate) use figures::ProcessFigures;
pub use rate_decisions::RateDecisions;
pub use recent_log::{LogEntry, PROCESS_LOG, RecentLines, RecentLog};
pub(crate) use request_meter::{MeteredEnd, RequestMeter, SentTimes};
