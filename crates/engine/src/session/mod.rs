//! State for clients of the handshake eras: questions that wait for their answers, and events that they may ask for
//! again.
//!
//! Plain tables; the shell decides who holds them and when they end.

mod asks;
mod events;

pub use asks::{AskFault, Asks, LinkMessage};
pub use events::{EventId, EventLog};
