//! An id of ours for an upstream's task: its server and its own id, sealed for the one who asked for it.

use bytes::Bytes;
use proto::era::{Era, Tasks};
use proto::json::Span;
use proto::rpc::Frame;

use crate::sealer::Sealer;

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

    /// The id that the client gets for a task, always the same; `None` when the task's own is too long.
    pub fn shown(self, place: TaskPlace<'_>, real: &str) -> Option<String> {
        if real.len() > MAX_ID {
            return None;
        }
        let home = place.home.map(|home| home.to_string()).unwrap_or_default();
        // A server's name has only letters, digits and `_.-`.
        let plain = [place.server, &home, real].join("\0");
        Some(self.sealer.seal_name(plain.as_bytes(), &self.bound()))
    }

    /// What is behind an id of ours; `None` for any other.
    pub fn opened(self, shown: &str) -> Option<Opened> {
        if shown.len() > MAX_SHOWN {
            return None;
        }
        let plain = String::from_utf8(self.sealer.open(shown, &self.bound())?).ok()?;
        let mut parts = plain.splitn(3, '\0');
        let (server, home, real) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Opened { server: server.to_owned(), home: home.parse().ok(), real: real.to_owned() })
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

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskPlace<'a> {
    /// Its server's name; empty when the gateway itself keeps it.
    pub server: &'a str,
    /// What the gateway keeps for it, by number, if it does.
    pub home: Option<u64>,
}

/// What an id of ours stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The server's name; empty when the gateway itself keeps the task.
    pub server: String,
    /// What the gateway keeps for the task, by number, if it does.
    pub home: Option<u64>,
    /// The server's own id.
    pub real: String,
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
