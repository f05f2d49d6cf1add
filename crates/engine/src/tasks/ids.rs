//! An id of ours for an upstream's task: its server and its own id, sealed for the one who asked for it.

use bytes::Bytes;
use proto::era::{Era, Tasks};
use proto::json::Span;
use proto::rpc::Frame;

use crate::exchange::Sealer;

/// The longest id of an upstream that is taken, in bytes. Ids go through headers, and grow by a third when they are sealed.
pub const MAX_ID: usize = 2048;

/// The longest id of ours: that of an upstream, its server's name, and what sealing adds.
const MAX_SHOWN: usize = 4096;

/// Makes and reads the ids that one client sees.
#[derive(Clone, Copy)]
pub struct TaskIds<'a> {
    sealer: &'a dyn Sealer,
    principal: &'a str,
    tasks: Tasks,
}

impl<'a> TaskIds<'a> {
    /// For what `principal` asks in `era`. An id is good for nobody else, and for no era that speaks of tasks otherwise.
    pub fn new(sealer: &'a dyn Sealer, principal: &'a str, era: &Era) -> Self {
        Self { sealer, principal, tasks: era.shapes.tasks }
    }

    /// The id that the client gets for the task `real` of `server`; `None` when that is too long. Each is another one, so
    /// that a client that asks about a task gets the id back under which it asked.
    pub fn shown(self, server: &str, real: &str) -> Option<String> {
        if real.len() > MAX_ID {
            return None;
        }
        let mut plain = Vec::with_capacity(server.len() + 1 + real.len());
        plain.extend_from_slice(server.as_bytes());
        // A server's name has only letters, digits and `_.-`.
        plain.push(0);
        plain.extend_from_slice(real.as_bytes());
        Some(self.sealer.seal(&plain, &self.bound()))
    }

    /// The server and the real id behind an id of ours; `None` for any other.
    pub fn opened(self, shown: &str) -> Option<(String, String)> {
        if shown.len() > MAX_SHOWN {
            return None;
        }
        let plain = String::from_utf8(self.sealer.open(shown, &self.bound())?).ok()?;
        let (server, real) = plain.split_once('\0')?;
        Some((server.to_owned(), real.to_owned()))
    }

    /// What an id is bound to. It begins with what no state is bound to: those begin with a principal.
    fn bound(self) -> Vec<u8> {
        let kind: &[u8] = match self.tasks {
            Tasks::None => b"\0task\0none\0",
            Tasks::Experiment => b"\0task\0experiment\0",
            Tasks::Extension => b"\0task\0extension\0",
        };
        [kind, self.principal.as_bytes()].concat()
    }
}

/// A task that a request names: as its server calls it, and as its client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTask {
    /// The id at the upstream.
    pub real: String,
    /// The client's id, a JSON string.
    pub shown: Bytes,
}

impl KnownTask {
    pub(super) fn new(frame: &Frame, span: Span, real: String) -> Self {
        // Copied, because it may be kept for as long as a stream is open.
        Self { real, shown: Bytes::copy_from_slice(span.of(frame.text())) }
    }
}
