//! Runs a call on a stream of its session. This module must not know which method is called.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use transport::budget::Part;
use transport::net::collect;

use crate::call::call::{Call, Running};
use crate::call::drive::{self, CallEnd, ClientSink};
use crate::process::Shard;
use crate::session::session::{ClientChannel, Session};
use crate::session::streams::Streams;
use crate::session::subscriptions::Change;

/// The time that a server may take to send the rest of a long answer.
const LONG_ANSWER: Duration = Duration::from_secs(30);

/// The time that an answer waits for a slow client to read earlier events.
const SLOW_READER: Duration = Duration::from_secs(30);

/// Runs a call to its end on a stream of the session.
pub(super) async fn drive(
    shard: Arc<Shard>,
    session: Arc<Session>,
    running: Running,
    stream: u64,
    change: Option<Change>,
) {
    let ClientChannel::Http(streams) = &session.channel else { return };
    let mut sink = SessionStream { shard: &shard, session: &session, streams, stream, change };
    drive::drive(running, &shard.gateway.process.parked, &mut sink).await;
    session.touch();
}

/// A stream of a session. Events that nobody is reading are kept for resumption.
struct SessionStream<'a> {
    shard: &'a Arc<Shard>,
    session: &'a Arc<Session>,
    streams: &'a Streams,
    stream: u64,
    /// A change to the session's subscriptions. A new subscription is kept if the answer is a success, and removed
    /// otherwise.
    change: Option<Change>,
}

impl ClientSink for SessionStream<'_> {
    async fn relay(&mut self, call: &Call, text: Bytes) -> bool {
        // While the client reads slowly, the server's stream is not read, provided that the server's stream belongs to
        // this call alone.
        self.streams.push_when_read(self.stream, text, call.deadline().into()).await;
        true
    }

    fn paused(&mut self, retry: Option<u64>) {
        self.streams.pause(self.stream, retry);
    }

    async fn end(&mut self, end: CallEnd) {
        let (ok, text) = match end {
            CallEnd::Answer(answer, _) => (answer.ok, Some(answer.body)),
            CallEnd::Long(body, call) => {
                let cap = self.shard.gateway.snapshot.limits.result;
                let read = collect(body, Part::Answers, cap, Instant::now() + LONG_ANSWER).await;
                (true, Some(read.unwrap_or_else(|_| call.broken().body)))
            }
            CallEnd::Unheard(_) | CallEnd::Silent => (false, None),
        };
        self.session.settle(&self.shard.session, self.change.as_ref(), ok);
        if let Some(text) = text {
            self.streams.push_answer(self.stream, text, Instant::now() + SLOW_READER).await;
        }
    }
}
