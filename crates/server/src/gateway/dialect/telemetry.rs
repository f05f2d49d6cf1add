//! What the log says of requests at endpoints with a dialect: that one came, and how it ended, also of those that are none
//! or came too soon. It must not know what becomes of them.

use std::borrow::Cow;
use std::time::Instant;

use bytes::Bytes;
use engine::dialect::{Ask, Reading};
use proto::json::{MAX_DEPTH, Members};
use proto::mcp::says_failure;
use tracing::field::display;

use super::serve::Taken;

/// A message of which more is not said than this, in bytes of its method and of its id.
const MOST: usize = 256;

/// A request that the log has told of.
pub(super) struct Told<'a> {
    started: Instant,
    /// Where it has one that can be read.
    method: Option<Cow<'a, str>>,
    id: Option<String>,
    tool: Option<Cow<'a, str>>,
}

impl<'a> Told<'a> {
    /// A request has come.
    pub(super) fn request(ask: &'a Ask) -> Self {
        let id = String::from_utf8_lossy(ask.id()).into_owned();
        Self::begin(Some(ask.method()), Some(id), ask.tool())
    }

    /// A message has come that is no request, as far as it can be read.
    pub(super) fn unread(text: &'a Bytes) -> Self {
        let members = Members::of_document(text, MAX_DEPTH).ok();
        let member = |key| {
            let written = members.as_ref()?.get(text, key)?.of(text);
            // As it was written: that holds no line break.
            std::str::from_utf8(written).ok().filter(|written| written.len() <= MOST)
        };
        let method = member("method").map(|method| Cow::Borrowed(method.trim_matches('"')));
        Self::begin(method, member("id").map(str::to_owned), None)
    }

    /// What was read has come; `None` where no answer is owed. `text` is what it was read from, if that was nothing else.
    pub(super) fn read(reading: &'a Reading, text: &'a Bytes) -> Option<Self> {
        match reading {
            Reading::Ask(ask) | Reading::Notified(_, Some(ask)) => Some(Self::request(ask)),
            Reading::Done(_) => Some(Self::unread(text)),
            Reading::Notified(_, None) | Reading::Batch(_) => None,
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

    /// It is done.
    pub(super) fn done(self, taken: &Taken) {
        let outcome = match taken {
            Taken::Reply(reply, _) if reply.body.is_empty() => "cancelled",
            Taken::Reply(reply, _) if reply.failed || says_failure(&reply.body) => "error",
            _ => "success",
        };
        let duration = self.started.elapsed();
        if let Some(tool) = &self.tool {
            tracing::info!(%tool, ?duration, outcome, "tool invoked");
        }
        self.ended(outcome);
    }

    /// It was refused.
    pub(super) fn refused(self) {
        self.ended("error");
    }

    fn ended(self, outcome: &str) {
        let duration = self.started.elapsed();
        let (method, id) = (self.method.as_ref().map(display), self.id.as_ref().map(display));
        tracing::info!(method, id, ?duration, outcome, "request completed");
    }
}
