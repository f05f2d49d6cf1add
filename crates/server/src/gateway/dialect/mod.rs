//! Clients of endpoints with a dialect: the loop around `engine::dialect`, whatever the transport.
//!
//! | file | is for |
//! |---|---|
//! | `serve` | one message, from its bytes to its reply |
//! | `outcome` | a forwarded request, run to its end |
//! | `found` | what a request names, for the record |
//! | `events` | a client's event stream |
//! | `front` | what an endpoint shows |
//! | `telemetry` | what the log says of requests |
//! | `pipe` | the one client over stdin and stdout |
//! | `account` | who that is |
//!
//! It must not know which dialect it is, nor what differs between versions.

mod account;
mod events;
mod found;
mod front;
mod outcome;
mod pipe;
mod serve;
mod telemetry;

pub(super) use events::open;
pub(super) use front::Front;
pub(super) use pipe::serve as serve_pipe;
pub(super) use serve::{NO_PROFILE, Taken, refuse, refuse_message, refuse_text, take, too_soon};
