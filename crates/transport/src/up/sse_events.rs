//! The event stream of a link over HTTP+SSE, read as events. This module must not know to which exchange an event
//! belongs.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use proto::codec::sse::{SseDecoder, SseError, SseEvent};
use tokio::time::Instant;

use super::endpoint::Endpoint;
use super::media::{Media, excerpt, media_type};
use super::{CredentialRefusal, HttpTarget, LinkError, MuxFault};
use crate::budget::{self, Part, Patience, Reservation};
use crate::net::client::{Client, ResponseBody};
use crate::net::collect;

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The maximum size of an unfinished event, in bytes, before the address for POSTs is known.
const LONGEST_OPENING: usize = 64 << 10;

/// The maximum number of bytes that are read from a rejection, and the maximum time for reading them.
const TALK: (usize, Duration) = (64 << 10, Duration::from_secs(1));

/// Returns the message in an event, if the event contains one.
pub(super) fn message(event: SseEvent) -> Option<Bytes> {
    let is_message = event.event.is_none_or(|kind| kind.as_ref() == b"message");
    event.data.filter(|data| is_message && !data.is_empty())
}

fn new_reservation() -> Reservation {
    budget::of_process().reservation(Part::Answers)
}

/// An open event stream.
pub(super) struct Events {
    body: ResponseBody,
    decoder: SseDecoder,
    /// The reserved memory for a large event.
    reservation: Reservation,
    /// The time for which reading may stop while there is no memory for a large event.
    patience: Patience,
}

impl Events {
    pub(super) async fn open(client: &Client, target: &HttpTarget) -> Result<Self, LinkError> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = target.uri.clone();
        *request.headers_mut() = target.headers.clone();
        request.headers_mut().insert(ACCEPT, EVENTS);
        let shown = target.credential.line();
        request.headers_mut().extend(shown.clone());
        let response = target.request(client, request).await?;
        let status = response.status();
        if !status.is_success() {
            let (shown, is_near) = (shown.map(|(_, value)| value), response.body().is_from_near());
            let refusal = CredentialRefusal::of(status, response.headers(), shown, is_near);
            let text = collect(response.into_body(), Part::Answers, TALK.0, Instant::now() + TALK.1).await;
            let body = excerpt(&text.unwrap_or_default());
            if let Some(refusal) = refusal {
                return Err(LinkError::Unauthorized(Box::new(refusal.saying(body))));
            }
            return Err(LinkError::Status { status: status.as_u16(), body });
        }
        if status == StatusCode::NO_CONTENT || media_type(response.headers()) != Some(Media::Events) {
            return Err(LinkError::EventStream("it does not answer a GET with an event stream".to_owned()));
        }
        let (body, decoder) = (response.into_body(), SseDecoder::new(target.limits.get().event));
        Ok(Self { body, decoder, reservation: new_reservation(), patience: Patience::new() })
    }

    /// Waits for the address for POSTs that the stream announces. Other events may come first, within the target's
    /// patience.
    pub(super) async fn endpoint(&mut self, target: &HttpTarget) -> Result<Endpoint, LinkError> {
        let silent = |why: String| {
            LinkError::EventStream(format!(
                "it sent no valid endpoint event (the address for messages): {why}"
            ))
        };
        loop {
            while let Some(event) = self.decoder.next_event() {
                let event = event.map_err(|e| silent(e.to_string()))?;
                if event.event.is_some_and(|kind| kind.as_ref() == b"endpoint") {
                    return Endpoint::resolve(&target.uri, &event.data.unwrap_or_default());
                }
            }
            if self.decoder.buffered() > LONGEST_OPENING {
                return Err(silent(format!("its first event is longer than {LONGEST_OPENING} bytes")));
            }
            self.fill().await.map_err(|why| silent(why.to_string()))?;
        }
    }

    /// Returns the next event, or the reason why an event was dropped. It is safe to drop the future and call this
    /// function again.
    pub(super) async fn next(&mut self) -> Result<Result<SseEvent, MuxFault>, MuxFault> {
        loop {
            if let Some(event) = self.decoder.next_event() {
                let reservation = std::mem::replace(&mut self.reservation, new_reservation());
                let kept = event
                    .map(|event| SseEvent { data: event.data.map(|data| reservation.keep(data)), ..event });
                return Ok(kept.map_err(|SseError::TooLong { limit }| MuxFault::TooLong(limit)));
            }
            let buffered = self.decoder.buffered();
            if !self.reservation.covers(buffered)
                && let Err(why) = self.patience.grow(&mut self.reservation, buffered).await
            {
                self.reservation = new_reservation();
                self.decoder.skip();
                return Ok(Err(MuxFault::OutOfMemory(why)));
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), MuxFault> {
        match self.body.frame().await {
            None => Err(MuxFault::Ended),
            Some(Err(e)) => Err(MuxFault::Broken(e.to_string().into())),
            Some(Ok(frame)) => {
                if let Ok(chunk) = frame.into_data() {
                    self.decoder.push(chunk);
                }
                Ok(())
            }
        }
    }
}
