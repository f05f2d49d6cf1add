//! Dialects: the behavior of an endpoint where MCP systems disagree. The behavior is written as rows of data
//! (`dialect_rows`), with a single interpreter.
//!
//! ```text
//!  bytes ─► read ─► Ask ─► begin ─┬─► Forward(frame) ─► the gateway, as any other request ─► Outcome ─► finish ─► Reply
//!             └─► Done, Notified  ├─► Done, Introduced ─► Reply                                ▲
//!                                 └─► Standard: as the protocol says          refuse ──────────┘
//! ```
//!
//! Everything is pure: bytes in, bytes out. The code never checks which dialect it serves; it reads the row. To add a
//! dialect, add its file in `dialect_rows/` and its line in `built_in.rs` there; a difference without a column becomes
//! a new column. This module must not know transports beyond a status and header lines, or the differences between
//! protocol versions.
//!
//! | file | is for |
//! |---|---|
//! | `read`, `ask` | convert a message's bytes to a request in the gateway's form |
//! | `begin`, `introduce`, `list`, `call`, `repair` | requests that the row answers itself, and requests that it forwards |
//! | `finish`, `result`, `output`, `dialect_fault` | results and errors in the dialect's form |
//! | `events`, `web` | event streams; answers to other HTTP methods and to browsers |

mod ask;
mod begin;
mod call;
mod dialect_fault;
mod events;
mod facts;
mod finish;
mod introduce;
mod list;
mod output;
mod read;
mod repair;
mod result;
mod web;

#[cfg(test)]
mod tests;

pub use ask::DialectRequest;
pub use begin::{DialectStep, begin};
pub use config::dialect_rows::cell::{CellKind, Choice, Object, Text};
pub use config::dialect_rows::fault_text::{FaultText, Template};
pub use config::dialect_rows::row::{Column, Dialect, Variant};
pub use config::dialect_rows::set::UnfitValue;
pub use config::dialect_rows::words::{
    ArgumentsMissing, Batches, Channel, Check, ErrorId, Gate, GetAnswer, Ids, Needed, NoId, NullId, Origins,
    Output, ParamsShape, RateHeaders, Repair, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag,
    ToolOrder, UnknownSession, VersionPolicy,
};
pub use dialect_fault::{DialectFault, Rate};
pub use events::{endpoint_event, error_event, opening, ping_event};
pub use facts::Facts;
pub use finish::{DialectOutcome, DialectReply, finish, gather, given_up, refuse};
pub use list::tools;
pub use read::{DialectMessage, read};
pub use web::{CrossOriginRequest, RETRY_SOON, cross_origin, not_served, rate_headers, shown_info};
