//! Why bytes from an upstream are no answer.

/// What is wrong with an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Http1Error {
    /// The connection ended in the middle of an answer.
    #[error("the connection was closed too early")]
    Incomplete,
    /// What came is not HTTP/1.1 as we allow it.
    #[error("{0}")]
    Malformed(&'static str),
    /// What came is no head of an HTTP/1.1 answer, or has too many lines.
    #[error("{0}")]
    Head(#[from] httparse::Error),
    /// The head of an answer is longer than allowed.
    #[error("its head is too long")]
    LongHead,
}
