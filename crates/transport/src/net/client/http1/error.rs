//! The reasons why bytes from an upstream are not an answer.

/// An error in a response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Http1Error {
    /// The connection ended in the middle of an answer.
    #[error("the connection was closed before the end of the answer")]
    Incomplete,
    /// The answer is not HTTP/1.1 that Dragoman accepts.
    #[error("{0}")]
    Malformed(&'static str),
    /// The bytes are not the head of an HTTP/1.1 answer, or the head has too many lines.
    #[error("{0}")]
    Head(#[from] httparse::Error),
    /// The head of an answer is longer than allowed.
    #[error("the header section is too long")]
    LongHead,
}
