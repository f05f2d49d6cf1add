//! What the handshake eras keep for a client: questions that wait for its answer, and events that it may ask for again.
//!
//! Plain tables; who holds them and when they end is the shell's business.

mod asks;
mod events;

pub use asks::{AskFault, Asked, Asks};
pub use events::{EventId, EventLog};
