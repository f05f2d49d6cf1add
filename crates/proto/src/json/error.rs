//! Faults in JSON text, and their offsets.

/// A fault in JSON text (RFC 8259), with the byte at which it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct JsonError {
    /// Offset in bytes from the start of the buffer.
    pub at: usize,
    /// The fault at that offset.
    pub problem: Problem,
}

/// The kinds of faults that the scanner distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text ends inside a value.
    #[error("the text ends too early")]
    Truncated,
    /// A byte that is not allowed at this offset.
    #[error("unexpected character")]
    Unexpected,
    /// A number that RFC 8259 section 6 does not allow, such as `01` or `1.`.
    #[error("a number is malformed")]
    Number,
    /// A raw control character inside a string.
    #[error("a string contains a control character")]
    Control,
    /// A backslash that is not followed by an escape.
    #[error("a string contains a malformed escape")]
    Escape,
    /// More nested arrays and objects than the scanner allows.
    #[error("the text is nested too deeply")]
    Depth,
    /// Text after the value.
    #[error("the text continues after the end of the value")]
    Trailing,
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8")]
    Utf8,
    /// A buffer above 4 GiB, which spans cannot address.
    #[error("the text is too large")]
    TooLarge,
}
