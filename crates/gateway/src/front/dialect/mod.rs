//! Clients of endpoints that imitate another system (a dialect): runs `engine::dialect` over any transport.
//!
//! | file | is for |
//! |---|---|
//! | `serve` | one message, from bytes to reply |
//! | `outcome` | a forwarded request, run to its end |
//! | `target` | a request's target, for the record |
//! | `events` | a client's event stream |
//! | `front` | the profile that an endpoint shows |
//! | `telemetry` | log lines about requests |
//! | `pipe` | the one client over stdin and stdout |
//! | `account` | the caller over a pipe |
//!
//! This module must not know the dialect, or how versions differ.

mod account;
mod events;
mod front;
mod outcome;
mod pipe;
mod serve;
mod target;
mod telemetry;

pub(super) use events::open;
pub(super) use front::Front;
pub(super) use pipe::serve as serve_pipe;
pub(super) use serve::{MessageOutcome, NO_PROFILE, refuse, refuse_message, refuse_text, take, too_soon};
