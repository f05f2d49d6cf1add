//! The gateway's reports about itself: figures for Prometheus, log and traces. These tests use the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `figures` | the text at `/metrics`, read into numbers |
//! | `calls` | calls of every outcome in the figures; names that do not exist |
//! | `access` | the places where figures are served, and the callers that may read them |
//! | `questions` | calls that wait until their client answers a question |
//! | `traces` | spans of requests, at a stand-in for a collector |
//! | `records` | the record of calls as log records, at the same stand-in |
//! | `attributes` | the attributes of spans and records |
//! | `log` | the format of the log |
//! | `changes` | figures of servers that are changed and removed |

#[path = "../support/mod.rs"]
mod support;

mod access;
mod attributes;
mod calls;
mod changes;
mod figures;
mod log;
mod questions;
mod records;
mod traces;
