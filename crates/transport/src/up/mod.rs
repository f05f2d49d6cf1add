//! Links to upstreams. Each link is one session, connection or child that carries exchanges.
//!
//! | file | is for |
//! |---|---|
//! | `http` | Streamable HTTP: one POST for each message, answers as JSON or as an event stream |
//! | `events` | an upstream's event stream, resumed when it breaks |
//! | `resume` | the request that opens or resumes an upstream's event stream |
//! | `long` | an answer that is too long to be buffered, passed on as it arrives |
//! | `media` | the media type of a response |
//! | `hello` | the answer to an introduction |
//! | `messages` | the messages in a body or an event: one, or an array |
//! | `mirrored` | headers that depend on a request's message |
//! | `mux/` | one stream of messages that many exchanges share |
//! | `numbered` | tables by the gateway's own numbers |
//! | `open_calls` | the calls that a server has not answered yet, and their owners |
//! | `pipe` | a child's stdin and stdout, as one stream that many exchanges share |
//! | `sse` | HTTP+SSE: one shared event stream, and one POST for each message |
//! | `sse_events` | the events of the HTTP+SSE stream |
//! | `endpoint` | the address for POSTs over HTTP+SSE, and the check of its origin |
//! | `credential` | the credential of a request, and rejections because a credential is missing |
//! | `error` | failures of a link |
//!
//! A link moves messages and distinguishes them by their ids; their meaning for a client is the engine's concern. This
//! module must not know profiles, clients or sessions of clients.

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
mod numbered;
mod open_calls;
mod pipe;
mod resume;
mod sse;
mod sse_events;
mod target;

pub use credential::{Credential, CredentialRefusal};
pub use error::{AmbiguousRefusal, LinkError, TooManyRequests};
pub use events::{EventStream, StreamItem};
pub use hello::read_hello;
pub use http::{HttpAnswer, HttpLink, HttpReply};
pub use long::LongReply;
pub use messages::messages;
pub use mirrored::MessageHeaders;
pub use mux::{MuxCall, MuxFault, MuxRoom, UnaskedMessage, UnaskedMessages};
pub use open_calls::{OpenCall, OpenCalls, Owner};
pub use pipe::PipeLink;
pub use sse::SseLink;
pub use target::{HttpLimits, HttpTarget, SharedHttpLimits};

#[cfg(test)]
mod tests;
