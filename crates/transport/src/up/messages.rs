//! The messages in a body or an event: one, or in the era of batches an array of them.

use std::collections::VecDeque;

use bytes::Bytes;
use proto::era::Era;
use proto::rpc::{Frame, FrameLimits, Message};

use super::LinkError;

/// Reads what an upstream sent at once. Elements of an array that are no messages are left out.
///
/// # Errors
/// [`LinkError::NotAMessage`].
pub fn messages(text: Bytes, era: &Era, limits: FrameLimits) -> Result<VecDeque<Frame>, LinkError> {
    let fault = |e: proto::rpc::FrameError| LinkError::NotAMessage(e.to_string());
    if !era.batches {
        return Ok(VecDeque::from([Frame::parse(text, limits).map_err(fault)?]));
    }
    match Message::parse(text, limits).map_err(fault)? {
        Message::Single(frame) => Ok(VecDeque::from([frame])),
        Message::Batch(batch) => Ok(batch.messages.into_iter().flatten().collect()),
    }
}
