//! An upstream's event stream: its messages, and its resumption after it breaks (Streamable HTTP: resumability and
//! redelivery).

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use proto::codec::sse::{SseDecoder, SseError};
use tokio::time::Instant;

use super::media::{Media, media_type};
use super::resume::Resume;
use super::{HttpLimits, LinkError};
use crate::budget::{self, Part, Reservation};
use crate::net::client::{Client, ResponseBody};

/// The time that an upstream may take to close a stream after the answer.
const LINGER: Duration = Duration::from_millis(250);

/// The maximum number of consecutive attempts to resume a stream without receiving a message.
const MAX_RESUMES: u32 = 5;

/// The delay before an attempt, if the upstream does not state one.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// The maximum delay that an upstream may ask for.
const MAX_RETRY: Duration = Duration::from_mins(1);

fn new_reservation() -> Reservation {
    budget::of_process().reservation(Part::Answers)
}

/// An item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamItem {
    /// A message.
    Message(Bytes),
    /// The stream broke and is about to be resumed after a delay.
    Paused {
        /// The delay in milliseconds from the upstream's `retry` field.
        retry: Option<u64>,
    },
}

/// One stream of messages.
#[derive(Debug)]
pub struct EventStream {
    body: Option<ResponseBody>,
    decoder: SseDecoder,
    resume: Option<Resume>,
    limits: HttpLimits,
    last_event: Option<Bytes>,
    retry: Option<u64>,
    resumes: u32,
    /// The reserved memory for a large event.
    reservation: Reservation,
}

impl EventStream {
    pub(super) fn new(body: ResponseBody, resume: Option<Resume>, limits: HttpLimits) -> Self {
        Self {
            body: Some(body),
            decoder: SseDecoder::new(limits.event),
            resume,
            limits,
            last_event: None,
            retry: None,
            resumes: 0,
            reservation: new_reservation(),
        }
    }

    /// Starts with a stream that continues after this event.
    pub(super) fn resumed(body: ResponseBody, resume: Resume, limits: HttpLimits, event: Bytes) -> Self {
        Self { last_event: Some(event), ..Self::new(body, Some(resume), limits) }
    }

    /// Returns the id of the last event, if the stream can be resumed after it.
    pub fn position(&self) -> Option<&Bytes> {
        self.last_event.as_ref().filter(|_| self.resume.is_some())
    }

    /// Returns the next item. After [`StreamItem::Paused`], the next call waits, resumes the stream and continues. It
    /// is safe to drop the future and call this function again, but a resumption in progress then starts again.
    ///
    /// # Errors
    /// Returns [`LinkError::Closed`] at the end of a stream that cannot be resumed; any other error ends the stream as
    /// well.
    pub async fn next(&mut self, client: &Client) -> Result<StreamItem, LinkError> {
        loop {
            while let Some(event) = self.decoder.next_event() {
                let event = event.map_err(|SseError::TooLong { limit }| LinkError::TooLong(limit))?;
                self.retry = event.retry.or(self.retry);
                if let Some(id) = event.id {
                    self.last_event = (!id.is_empty()).then_some(id);
                }
                let other = event.event.is_some_and(|kind| kind.as_ref() != b"message");
                let reservation = std::mem::replace(&mut self.reservation, new_reservation());
                if let Some(data) = event.data.filter(|d| !d.is_empty() && !other) {
                    self.resumes = 0;
                    return Ok(StreamItem::Message(reservation.keep(data)));
                }
            }
            // No messages of other exchanges are queued after this event, so the event may wait as long as its call.
            let buffered = self.decoder.buffered();
            if !self.reservation.covers(buffered) {
                let grown =
                    Box::pin(self.reservation.grow(buffered, Instant::now() + self.limits.body)).await;
                grown.map_err(LinkError::OutOfMemory)?;
            }
            let Some(body) = &mut self.body else {
                // This future is boxed; otherwise, space for it would be moved with every call.
                Box::pin(self.reconnect(client)).await?;
                continue;
            };
            let Some(Ok(frame)) = body.frame().await else {
                self.body = None;
                if self.resume.is_none() || self.last_event.is_none() {
                    return Err(LinkError::Closed);
                }
                return Ok(StreamItem::Paused { retry: self.retry });
            };
            if let Ok(chunk) = frame.into_data() {
                self.decoder.push(chunk);
            }
        }
    }

    /// Releases the stream after the answer. The connection can be used again if the upstream closes the stream, which
    /// nearly always happens together with the answer.
    pub fn finish(self: Box<Self>) {
        let Some(mut body) = self.body else { return };
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..4 {
            match Pin::new(&mut body).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => return,
                Poll::Pending => break,
            }
        }
        crate::task::spawn(async move {
            let rest = async { while let Some(Ok(_)) = body.frame().await {} };
            let _ = tokio::time::timeout(LINGER, rest).await;
        });
    }

    async fn reconnect(&mut self, client: &Client) -> Result<(), LinkError> {
        let resume = self.resume.as_ref().ok_or(LinkError::Closed)?;
        self.resumes += 1;
        if self.resumes > MAX_RESUMES {
            return Err(LinkError::Closed);
        }
        let wait = self.retry.map_or(DEFAULT_RETRY, Duration::from_millis).min(MAX_RETRY);
        tokio::time::sleep(wait).await;
        let request = resume.build(self.last_event.as_deref());
        let Ok(response) = resume.target.request(client, request).await else { return Ok(()) };
        if response.status().is_success() && media_type(response.headers()) == Some(Media::Events) {
            self.decoder = SseDecoder::new(self.limits.event);
            self.body = Some(response.into_body());
            return Ok(());
        }
        if response.status().is_server_error() { Ok(()) } else { Err(LinkError::Closed) }
    }
}
