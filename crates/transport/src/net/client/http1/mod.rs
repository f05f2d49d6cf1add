//! HTTP/1.1 as bytes (RFC 9112): requests are written and answers are read without a socket, so that every byte an
//! upstream may send can be tried in a test. It must not know connections, the pool or TLS.
//!
//! | file | is for |
//! |---|---|
//! | `request` | a request's head, written from a template |
//! | `answer` | one connection's answers: from the bytes of reads to a head and a body |
//! | `head` | an answer's head, and what it says of the body's end and of the connection |
//! | `framing` | where a body ends, and its bytes without what frames them |
//! | `error` | why bytes are no answer |

mod answer;
mod error;
mod framing;
mod head;
mod request;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use answer::{AnswerReader, READ};
pub use error::Http1Error;
pub use framing::Taken;
pub use head::{AnswerContext, AnswerHead, HeadLimits};
pub use request::{Template, TemplatedRequest};
