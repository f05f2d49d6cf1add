//! State for clients of the handshake eras: questions that wait for their answers, and events that clients may
//! request again.
//!
//! These are plain tables; the shell decides who owns them and when they end.

mod asks;
mod events;

pub use asks::{AskFault, Asks, LinkMessage};
pub use events::{EventId, EventLog};
