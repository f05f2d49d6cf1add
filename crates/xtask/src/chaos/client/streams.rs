//! Event streams that a client leaves and resumes. This module must not know what the messages mean.

use super::http::Reply;
use super::{Client, Failure, PATH, short};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// An open event stream. Dropping it closes its connection.
#[derive(Debug)]
pub(crate) struct EventStream {
    reply: Reply,
    /// The id of the last event; initially the one after which the stream was resumed.
    pub(crate) last: Option<String>,
}

impl EventStream {
    fn of(mut reply: Reply, last: Option<String>) -> Result<Self, Failure> {
        if reply.status == 200 && reply.is_stream() {
            return Ok(Self { reply, last });
        }
        let text = reply.text().unwrap_or_default();
        Err(Failure::Refused(format!("{}: {}", reply.status, short(&text))))
    }

    /// The next message, with the id of its event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Option<(Option<String>, Value)>, Failure> {
        let lost = |error: std::io::Error| Failure::Lost(format!("the stream: {error}"));
        let before = self.last.clone();
        let Some((_, data)) = self.reply.event().map_err(lost)? else { return Ok(None) };
        let id = self.reply.last_id().map(str::to_owned).filter(|id| before.as_ref() != Some(id));
        self.last = id.clone().or(before);
        let message =
            serde_json::from_str(&data).map_err(|error| Failure::Lost(format!("{error}: {data}")))?;
        Ok(Some((id, message)))
    }

    /// The messages up to the end of the stream, with the ids of their events.
    pub(crate) fn rest(&mut self) -> Result<Vec<(Option<String>, Value)>, Failure> {
        let mut rest = Vec::new();
        while let Some(next) = self.next()? {
            rest.push(next);
        }
        Ok(rest)
    }
}

impl Client {
    /// Calls a tool with a new nonce and with a token for progress; returns the nonce, the request's id and the stream, which must be the
    /// answer.
    pub(crate) fn call_stream(
        &self,
        tool: &str,
        mut arguments: Value,
        within: Duration,
    ) -> Result<(String, u64, EventStream), Failure> {
        let nonce = self.hearing.nonce();
        arguments["nonce"] = json!(nonce);
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": nonce } });
        let message = self.message("tools/call", params);
        let id = message["id"].as_u64().unwrap_or_default();
        let reply = self.send(&message, Instant::now() + within)?;
        Ok((nonce, id, EventStream::of(reply, None)?))
    }

    /// Opens the session's stream, or resumes a stream after the event with this id.
    pub(crate) fn stream_after(&self, last: Option<&str>, within: Duration) -> Result<EventStream, Failure> {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(last.map(|last| ("Last-Event-ID", last)));
        let reply = self.exchange("GET", PATH, &headers, "", Instant::now() + within)?;
        EventStream::of(reply, last.map(str::to_owned))
    }
}
