//! Dialects: how an endpoint behaves where systems that speak MCP disagree, as rows of data with one interpreter.
//!
//! ```text
//!  bytes ─► read ─► Ask ─► begin ─┬─► Forward(frame) ─► the gateway, as any other request ─► Outcome ─► finish ─► Reply
//!             └─► Done, Notified  ├─► Done, Introduced ─► Reply                                ▲
//!                                 └─► Standard: as the protocol says          refuse ──────────┘
//! ```
//!
//! Everything is pure: bytes in, bytes out. Nothing here asks which dialect it is; it asks the row. To add a dialect, add
//! its file in `rows/` and its line there; what no column says yet is a new column. It must not know transports beyond a
//! status and header lines, nor what differs between protocol versions.
//!
//! | file | is for |
//! |---|---|
//! | `row`, `cell`, `words`, `say`, `set` | the columns, how they are configured, templates of messages |
//! | `sense` | what makes no sense as a column's value |
//! | `rows/` | one file a system |
//! | `read`, `ask` | a message's bytes to a request in the gateway's own form |
//! | `begin`, `introduce`, `list`, `call`, `mend` | what the row answers itself, and what goes on |
//! | `finish`, `result`, `output`, `trouble` | results and troubles in the dialect's words |
//! | `events`, `web` | streams of events; answers to other HTTP methods and to browsers |

mod ask;
mod begin;
mod call;
mod cell;
mod events;
mod finish;
mod introduce;
mod list;
mod mend;
mod output;
mod read;
mod result;
mod row;
mod rows;
mod say;
mod sense;
mod set;
mod trouble;
mod web;
mod words;

#[cfg(test)]
mod tests;

pub use ask::Ask;
pub use begin::{Begun, Facts, begin};
pub use cell::{Choice, Kind, Object, Text};
pub use events::{endpoint_event, error_event, opening, ping_event};
pub use finish::{Outcome, Reply, finish, gather, given_up, refuse};
pub use list::tools;
pub use read::{Reading, read};
pub use row::{Column, Dialect, Variant};
pub use say::{Say, Template};
pub use set::Unfit;
pub use trouble::{Rate, Trouble};
pub use web::{Cross, RETRY_SOON, cross_origin, not_served, rate_headers, shown_info};
pub use words::{
    ArgumentsMissing, Batches, Channel, Check, ErrorId, Gate, GetAnswer, Ids, Mend, Needed, NoId, NullId,
    Origins, Output, ParamsShape, RateHeaders, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag,
    ToolOrder, UnknownSession, VersionPolicy,
};
