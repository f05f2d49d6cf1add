//! State for clients of the handshake eras: questions that wait for their answers, and events that clients may
//! request again.
//!
//! These are plain tables; the gateway decides who owns the tables and when they end.

mod asks;
mod events;
mod question_text;

pub use asks::{AskFault, Asks, LinkMessage, asking_process};
pub use events::{EventId, EventLog};
pub use question_text::QuestionText;
