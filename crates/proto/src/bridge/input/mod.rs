//! Questions that a server has while it works on a request (sampling, elicitation, roots), between eras that ask by
//! requests of their own and eras that ask by a result, which the client answers by asking again (MCP 2026-07-28, multi
//! round-trip requests).
//!
//! | file | the server | the client |
//! |---|---|---|
//! | `rounds` | asks by results | is asked by requests |
//! | `parking` | asks by requests, and waits | is asked by results |
//!
//! It must not know who seals a state, how long anybody waits, or over what a message goes.

mod declared;
mod parking;
mod rounds;

#[cfg(test)]
mod tests;

pub use declared::{declares_question, questions_of};
pub use parking::{Parking, url_questions};
pub use rounds::{Question, Reply, Rounds, RoundsFault, Turn};

use bytes::Bytes;

use crate::json::quote;
use crate::mcp::{Method, meta};

/// The number of questions that may be open for one request at a time.
pub const MAX_QUESTIONS: usize = 16;

/// The result that asks a client for input: `requests` is the inside of `inputRequests`, `state` the sealed state.
fn input_required(requests: &str, state: &str, server_info: &str) -> Bytes {
    Bytes::from(format!(
        "{{\"resultType\":\"input_required\",\"inputRequests\":{{{requests}}},\"requestState\":{},\"_meta\":{{\"{}\":{server_info}}}}}",
        quote(state),
        meta::SERVER_INFO,
    ))
}

/// The methods by which a client is asked.
fn asking_method(name: &str) -> Option<Method> {
    Method::from_name(name)
        .filter(|method| matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList))
}
