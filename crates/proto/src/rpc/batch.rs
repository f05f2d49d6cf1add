//! The content of a body or a line: one message, or an array of them (JSON-RPC 2.0 section 6).

use bytes::Bytes;

use super::{Frame, FrameError, FrameFault, FrameLimits};
use crate::json::{Elements, Problem, Scanner};

/// One message or a batch.
#[derive(Debug, Clone)]
pub enum Message {
    /// A single message.
    Single(Frame),
    /// An array of messages, which are handled one by one.
    Batch(Batch),
}

/// An array of messages, each of which may be invalid on its own.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The messages in the order of the array.
    pub messages: Vec<Result<Frame, FrameError>>,
}

impl Message {
    /// Reads a body or a line.
    ///
    /// # Errors
    /// [`FrameError`]; for a batch only if the array as a whole is invalid.
    pub fn parse(text: Bytes, limits: FrameLimits) -> Result<Self, FrameError> {
        let first = text.iter().find(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'));
        if first != Some(&b'[') {
            return Frame::parse(text, limits).map(Self::Single);
        }
        let spans = elements(&text, limits).map_err(|fault| FrameError { fault, id: None })?;
        let messages = spans.iter().map(|span| Frame::parse(span.share(&text), limits)).collect();
        Ok(Self::Batch(Batch { messages }))
    }
}

fn elements(text: &[u8], limits: FrameLimits) -> Result<Elements, FrameFault> {
    let scanner = Scanner::new(text, limits.depth)?;
    let (found, end) = match Elements::scan(scanner, scanner.space(0), limits.batch) {
        Err(e) if e.problem == Problem::TooLarge => return Err(FrameFault::BatchSize(limits.batch)),
        other => other?,
    };
    scanner.finish(end)?;
    if found.is_empty() { Err(FrameFault::BatchSize(limits.batch)) } else { Ok(found) }
}

/// The messages as one array.
pub fn array(messages: &[Bytes]) -> Bytes {
    let mut out = vec![b'['];
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(message);
    }
    out.push(b']');
    Bytes::from(out)
}
