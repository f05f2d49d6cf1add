//! Questions from a server during a request (sampling, elicitation, roots). In some eras, a server sends requests of its own.
//! In others, it returns a result, and the client repeats its request with the answers (MCP 2026-07-28, multi round-trip
//! requests). This module translates between the two.
//!
//! | file | the server | the client |
//! |---|---|---|
//! | `rounds` | asks through results | is asked through requests |
//! | `parking` | asks through requests, and waits | is asked through results |
//!
//! This module must not know who seals a state, how long either side waits, or which transport carries a message.

mod askable;
mod declared;
mod parking;
mod rounds;

#[cfg(test)]
mod tests;

pub use askable::Askable;
pub use declared::{declares_question, questions_of};
pub use parking::{OpenQuestion, Parking, url_questions};
pub use rounds::{InputAction, Question, Rounds, RoundsFault, RoundsReply};

use bytes::Bytes;

use crate::json::quote;
use crate::mcp::{Method, meta};

/// The number of questions that may be open for one request at a time.
pub const MAX_QUESTIONS: usize = 16;

/// The result that asks a client for input. `requests` are the contents of `inputRequests`, `state` is the sealed
/// state.
fn input_required(requests: &str, state: &str, server_info: &str) -> Bytes {
    Bytes::from(format!(
        "{{\"resultType\":\"input_required\",\"inputRequests\":{{{requests}}},\"requestState\":{},\"_meta\":{{\"{}\":{server_info}}}}}",
        quote(state),
        meta::SERVER_INFO,
    ))
}

/// The method with this name, if it is one by which a server asks its client.
fn asking_method(name: &str) -> Option<Method> {
    Method::from_name(name)
        .filter(|method| matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList))
}
