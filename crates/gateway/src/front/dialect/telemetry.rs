//! Log lines about requests at endpoints with a dialect: arrivals and results, including those of invalid and
//! rate-limited messages. This module must not know how a request is answered.

use std::borrow::Cow;
use std::time::Instant;

use bytes::Bytes;
use engine::dialect::{DialectMessage, DialectRequest};
use proto::json::{MAX_DEPTH, Members};
use proto::mcp::says_failure;
use tracing::field::display;

use super::serve::MessageOutcome;

/// The maximum length of a logged method or id, in bytes.
const MOST: usize = 256;

/// A request whose arrival has been logged.
pub(super) struct LoggedRequest<'a> {
    started: Instant,
    /// The method, if it can be read.
    method: Option<Cow<'a, str>>,
    id: Option<String>,
    tool: Option<Cow<'a, str>>,
}

impl<'a> LoggedRequest<'a> {
    /// Logs the arrival of a request.
    pub(super) fn request(ask: &'a DialectRequest) -> Self {
        let id = String::from_utf8_lossy(ask.id()).into_owned();
        Self::begin(Some(ask.method()), Some(id), ask.tool())
    }

    /// Logs the arrival of a message that is not a valid request, with its readable parts.
    pub(super) fn unread(text: &'a Bytes) -> Self {
        let members = Members::of_document(text, MAX_DEPTH).ok();
        let member = |key| {
            let written = members.as_ref()?.get(text, key)?.of(text);
            // The member exactly as written; its text contains no line break.
            std::str::from_utf8(written).ok().filter(|written| written.len() <= MOST)
        };
        let method = member("method").map(|method| Cow::Borrowed(method.trim_matches('"')));
        Self::begin(method, member("id").map(str::to_owned), None)
    }

    /// Logs a message that has arrived. Returns `None` if the message needs no answer. `text` is the message's
    /// text, for a message that is not a valid request.
    pub(super) fn read(reading: &'a DialectMessage, text: &'a Bytes) -> Option<Self> {
        match reading {
            DialectMessage::Ask(ask) | DialectMessage::Notified(_, Some(ask)) => Some(Self::request(ask)),
            DialectMessage::Done(_) => Some(Self::unread(text)),
            DialectMessage::Notified(_, None) | DialectMessage::Batch(_) => None,
        }
    }

    fn begin(method: Option<Cow<'a, str>>, id: Option<String>, tool: Option<Cow<'a, str>>) -> Self {
        tracing::info!(
            method = method.as_ref().map(display),
            id = id.as_ref().map(display),
            "request received"
        );
        Self { started: Instant::now(), method, id, tool }
    }

    /// Logs the result.
    pub(super) fn done(self, taken: &MessageOutcome) {
        let outcome = match taken {
            MessageOutcome::Reply(reply, _) if reply.body.is_empty() => "cancelled",
            MessageOutcome::Reply(reply, _) if reply.failed || says_failure(&reply.body) => "error",
            _ => "success",
        };
        let duration = self.started.elapsed();
        if let Some(tool) = &self.tool {
            tracing::info!(%tool, ?duration, outcome, "tool invoked");
        }
        self.ended(outcome);
    }

    /// Logs a refusal.
    pub(super) fn refused(self) {
        self.ended("error");
    }

    fn ended(self, outcome: &str) {
        let duration = self.started.elapsed();
        let (method, id) = (self.method.as_ref().map(display), self.id.as_ref().map(display));
        tracing::info!(method, id, ?duration, outcome, "request completed");
    }
}
