//! HTTP/1.1 as bytes (RFC 9112): requests are written and answers are read without a socket, so that tests can try
//! every byte that an upstream may send. This module must not know connections, the pool or TLS.
//!
//! | file | is for |
//! |---|---|
//! | `request` | a request's head, written from a template |
//! | `chunks` | the framing of a request's body whose length is unknown |
//! | `answer` | one connection's answers: from the bytes of reads to a head and a body |
//! | `head` | an answer's head, which determines the framing of the body and whether the connection can be used again |
//! | `framing` | the end of a body, and its bytes without the framing |
//! | `error` | reasons why bytes are not an answer |

mod answer;
mod chunks;
mod error;
mod framing;
mod head;
mod request;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use answer::{AnswerReader, READ};
pub use chunks::ChunkWriter;
pub use error::Http1Error;
pub use framing::NextPiece;
pub use head::{AnswerContext, AnswerHead, HeadLimits};
pub use request::{AbsoluteForm, OwnHeaders, TRACEPARENT, Template, TemplatedRequest};
