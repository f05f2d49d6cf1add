//! The events of a stream from a running gateway. This module must not know what an event means.

use std::time::Duration;

use bytes::Bytes;
use proto::codec::sse::SseDecoder;
use serde_json::Value;
use transport::net::local::LocalAnswer;

use super::client::ControlError;

/// The maximum silence on the stream: if there is no event, the gateway sends a comment as a heartbeat.
const SILENCE: Duration = Duration::from_secs(45);

/// The maximum size of one event, in bytes.
const LONGEST: usize = 1 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlEvent {
    /// The name of the event.
    pub name: String,
    /// The event's data.
    pub data: Value,
}

/// A stream of events, which ends when the gateway stops.
#[derive(Debug)]
pub struct ControlEvents {
    answer: LocalAnswer,
    decoder: SseDecoder,
}

impl ControlEvents {
    pub(super) fn new(answer: LocalAnswer) -> Self {
        Self { answer, decoder: SseDecoder::new(LONGEST) }
    }

    /// Waits for the next event; returns `None` when the stream has ended. If this future is dropped before it is
    /// ready, no event is lost.
    ///
    /// # Errors
    /// Fails if the stream breaks off, or if neither an event nor a heartbeat arrives for a while.
    pub async fn next(&mut self) -> Result<Option<ControlEvent>, ControlError> {
        loop {
            while let Some(event) = self.decoder.next_event() {
                // An event that is too long is left out.
                let Ok(event) = event else { continue };
                let text =
                    |bytes: Option<Bytes>| String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
                let data = serde_json::from_slice(&event.data.unwrap_or_default()).unwrap_or_default();
                return Ok(Some(ControlEvent { name: text(event.event), data }));
            }
            match self.answer.piece(SILENCE).await {
                Ok(Some(piece)) => self.decoder.push(piece),
                Ok(None) => return Ok(None),
                Err(e) => return Err(ControlError::Failed(e.to_string())),
            }
        }
    }
}
