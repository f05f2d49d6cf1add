//! Event streams that can be resumed: each event has an id, and all events of a call are kept. The call goes on when its connection
//! breaks. This module must not know what an event contains.

use super::server::Voice;
use super::session::lock;
use serde_json::Value;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The longest time that a resumed stream waits for its next event.
const PATIENCE: Duration = Duration::from_mins(1);

/// The events of one call.
#[derive(Debug, Default)]
pub(super) struct CallStream {
    events: Mutex<CallEvents>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct CallEvents {
    messages: Vec<Value>,
    is_over: bool,
}

/// The voice of a call with a resumable stream. It writes to the call's own connection as long as that is open.
pub(super) struct ResumableVoice {
    stream: Arc<CallStream>,
    number: u64,
    out: Option<TcpStream>,
}

/// Reads the number of a stream, and the number of the last event in it.
pub(super) fn position(id: &str) -> Option<(u64, usize)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

impl CallStream {
    /// Returns the next message after `seen` messages; `None` at the end of the call.
    fn next(&self, seen: usize) -> Option<Value> {
        let events = lock(&self.events);
        let is_waiting = |events: &mut CallEvents| events.messages.len() <= seen && !events.is_over;
        let waited = self.news.wait_timeout_while(events, PATIENCE, is_waiting);
        let (events, _) = waited.unwrap_or_else(PoisonError::into_inner);
        events.messages.get(seen).cloned()
    }

    /// Writes the messages after `seen` messages, until the call is over.
    pub(super) fn resume(&self, number: u64, mut seen: usize, out: &mut TcpStream) -> io::Result<()> {
        while let Some(message) = self.next(seen) {
            seen += 1;
            chunk(out, &event(number, seen, &message.to_string()))?;
        }
        out.write_all(b"0\r\n\r\n")
    }
}

impl ResumableVoice {
    /// Starts with an event that only has an id.
    pub(super) fn new(stream: Arc<CallStream>, number: u64, mut out: TcpStream) -> Self {
        let out = chunk(&mut out, &event(number, 0, "")).ok().map(|()| out);
        Self { stream, number, out }
    }

    /// Ends the stream with the call's answer.
    pub(super) fn end(mut self, answer: &Value) {
        let _ = self.send(answer);
        lock(&self.stream.events).is_over = true;
        self.stream.news.notify_all();
        if let Some(out) = &mut self.out {
            let _ = out.write_all(b"0\r\n\r\n");
        }
    }
}

impl Voice for ResumableVoice {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        let seen = {
            let mut events = lock(&self.stream.events);
            events.messages.push(message.clone());
            events.messages.len()
        };
        self.stream.news.notify_all();
        let event = event(self.number, seen, &message.to_string());
        self.out = self.out.take().and_then(|mut out| chunk(&mut out, &event).ok().map(|()| out));
        Ok(())
    }
}

fn event(stream: u64, number: usize, data: &str) -> String {
    format!("id: {stream}-{number}\ndata: {data}\n\n")
}

fn chunk(out: &mut TcpStream, event: &str) -> io::Result<()> {
    out.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}
