//! The voice of a call whose event stream can be resumed. The call goes on when its connection breaks. This module must not know what
//! an event contains.

use super::call_stream::{CallStream, chunk, event};
use super::server::Voice;
use serde_json::Value;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// The voice of a call with a resumable stream. It writes to the call's own connection as long as that is open.
pub(super) struct ResumableVoice {
    stream: Arc<CallStream>,
    number: u64,
    out: Option<TcpStream>,
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
        self.stream.end();
        if let Some(out) = &mut self.out {
            let _ = out.write_all(b"0\r\n\r\n");
        }
    }
}

impl Voice for ResumableVoice {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        let seen = self.stream.push(message);
        let event = event(self.number, seen, &message.to_string());
        self.out = self.out.take().and_then(|mut out| chunk(&mut out, &event).ok().map(|()| out));
        Ok(())
    }
}
