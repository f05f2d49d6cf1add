//! The messages in a body or an event: one message, or an array of messages in the version with batches.

use std::collections::VecDeque;

use bytes::Bytes;
use proto::rpc::{Frame, FrameLimits, Message};

use super::LinkError;

/// Reads the messages that an upstream sent together: one message, or several in an array if `batches` is true.
/// Elements of an array that are not messages are left out.
///
/// # Errors
/// Returns [`LinkError::NotAMessage`] if the text contains no message.
pub fn messages(text: Bytes, batches: bool, limits: FrameLimits) -> Result<VecDeque<Frame>, LinkError> {
    let fault = |e: proto::rpc::FrameError| LinkError::NotAMessage(e.to_string());
    if !batches {
        return Ok(VecDeque::from([Frame::parse(text, limits).map_err(fault)?]));
    }
    match Message::parse(text, limits).map_err(fault)? {
        Message::Single(frame) => Ok(VecDeque::from([frame])),
        Message::Batch(batch) => Ok(batch.messages.into_iter().flatten().collect()),
    }
}
