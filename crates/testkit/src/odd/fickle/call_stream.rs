//! The events of one call, which are kept so that its stream can be resumed. Each event has an id. This module must not know what an
//! event contains.

use serde_json::Value;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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

/// Reads the number of a stream, and the number of the last event in it.
pub(super) fn position(id: &str) -> Option<(u64, usize)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

impl CallStream {
    /// Adds a message; returns the number of messages so far.
    pub(super) fn push(&self, message: &Value) -> usize {
        let mut events = lock(&self.events);
        events.messages.push(message.clone());
        self.news.notify_all();
        events.messages.len()
    }

    /// Ends the stream.
    pub(super) fn end(&self) {
        lock(&self.events).is_over = true;
        self.news.notify_all();
    }

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

pub(super) fn event(stream: u64, number: usize, data: &str) -> String {
    format!("id: {stream}-{number}\ndata: {data}\n\n")
}

pub(super) fn chunk(out: &mut TcpStream, event: &str) -> io::Result<()> {
    out.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}

fn lock(events: &Mutex<CallEvents>) -> MutexGuard<'_, CallEvents> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}
