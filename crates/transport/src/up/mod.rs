//! Links to upstreams: one session, connection or child each, over which exchanges run.
//!
//! | file | is for |
//! |---|---|
//! | `http` | Streamable HTTP: a POST a message, answers as JSON or as an event stream |
//! | `events` | an upstream's event stream, resumed when it breaks |
//! | `resume` | the request that opens such a stream, or takes it up again |
//! | `long` | an answer too long to be held, passed on as it comes |
//! | `media` | what a response says that it holds |
//! | `hello` | the answer to an introduction |
//! | `messages` | the messages in a body or an event, be it an array of them |
//! | `mirrored` | headers that repeat what a request says |
//! | `mux/` | one stream of messages that many exchanges share |
//! | `open_calls` | which calls a server has not answered yet, and whose they are |
//! | `pipe` | a child's stdin and stdout, shared that way |
//! | `sse` | HTTP+SSE: one event stream, shared that way, and a POST a message |
//! | `endpoint` | where those POSTs may go |
//! | `credential` | what a request shows of who asks, and refusals for want of that |
//! | `session_gone` | whether a refusal means that the session is forgotten |
//! | `error` | how a link can fail |
//!
//! A link moves messages and tells them apart by their ids; what they mean for a client is the engine's business. It
//! must not know profiles, clients or sessions of clients.

mod credential;
mod endpoint;
mod error;
mod events;
mod hello;
mod http;
mod long;
mod media;
mod messages;
mod mirrored;
mod mux;
mod open_calls;
mod pipe;
mod resume;
mod session_gone;
mod sse;
mod target;

pub use credential::{Credential, Refusal};
pub use error::LinkError;
pub use events::{EventStream, StreamItem};
pub use hello::read_hello;
pub use http::{HttpAnswer, HttpLink, HttpReply};
pub use long::LongReply;
pub use messages::messages;
pub use mux::{MuxCall, MuxFault, MuxRoom, Unasked, UnaskedMessage};
pub use open_calls::{OpenCall, OpenCalls, Owner};
pub use pipe::PipeLink;
pub use sse::SseLink;
pub use target::{HttpLimits, HttpTarget};

#[cfg(test)]
mod tests;
