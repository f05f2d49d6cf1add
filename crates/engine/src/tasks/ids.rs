//! The gateway's ids for tasks of upstreams: the server's name and the server's own id for the task, sealed for the
//! principal that started the task.

use bytes::Bytes;
use proto::era::{Era, Tasks};
use proto::json::Span;
use proto::rpc::Frame;

use crate::sealer::Sealer;

/// The maximum length of an upstream's id, in bytes. Ids are sent in headers, and sealing makes them a third longer.
pub const MAX_ID: usize = 2048;

/// The maximum length of our ids, in bytes: an upstream's id, its server's name, and the overhead of sealing.
const MAX_SHOWN: usize = 4096;

/// The number that represents the state of another process. No state has this number.
const LOST: u64 = 0;

/// Creates and reads the ids that one client sees.
#[derive(Clone, Copy)]
pub struct TaskIds<'a> {
    sealer: &'a dyn Sealer,
    principal: &'a str,
    tasks: Tasks,
}

impl<'a> TaskIds<'a> {
    /// Creates the ids for requests of `principal` in `era`. An id is not valid for another principal, or for an era
    /// with another form of tasks.
    pub fn new(sealer: &'a dyn Sealer, principal: &'a str, era: &Era) -> Self {
        Self { sealer, principal, tasks: era.shapes.tasks }
    }

    /// The client's id for a task, always the same one; `None` if the task's own id is too long.
    pub fn shown(self, place: TaskPlace<'_>, real: &str) -> Option<String> {
        if real.len() > MAX_ID {
            return None;
        }
        let home = place.home.map(|home| format!("{home}.{}", self.sealer.epoch())).unwrap_or_default();
        // A server's name contains only letters, digits and `_.-`.
        let plain = [place.server, &home, real].join("\0");
        Some(self.sealer.seal_name(plain.as_bytes(), &self.bound()))
    }

    /// Decodes one of our ids; `None` for any other text.
    pub fn opened(self, shown: &str) -> Option<OpenedTaskId> {
        if shown.len() > MAX_SHOWN {
            return None;
        }
        let plain = String::from_utf8(self.sealer.open(shown, &self.bound())?).ok()?;
        let mut parts = plain.splitn(3, '\0');
        let (server, home, real) = (parts.next()?, parts.next()?, parts.next()?);
        Some(OpenedTaskId { server: server.to_owned(), home: self.home(home), real: real.to_owned() })
    }

    /// The number of the gateway's own state for a task, as written in the task's id; [`LOST`] if another process issued the id.
    fn home(self, written: &str) -> Option<u64> {
        let (number, epoch) = written.split_once('.')?;
        let is_here = epoch.parse() == Ok(self.sealer.epoch());
        Some(number.parse().ok().filter(|_| is_here).unwrap_or(LOST))
    }

    /// The context that an id is bound to. It starts with a prefix of its own, because the contexts of states start
    /// with a principal.
    fn bound(self) -> Vec<u8> {
        let kind: &[u8] = match self.tasks {
            Tasks::None => b"\0task\0none\0",
            Tasks::Experiment => b"\0task\0experiment\0",
            Tasks::Extension => b"\0task\0extension\0",
        };
        [kind, self.principal.as_bytes()].concat()
    }
}

/// The location of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskPlace<'a> {
    /// The name of the task's server; empty if the gateway itself keeps the task.
    pub server: &'a str,
    /// The number of the gateway's own state for the task, if any.
    pub home: Option<u64>,
}

/// The decoded content of one of our ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedTaskId {
    /// The server's name; empty if the gateway itself keeps the task.
    pub server: String,
    /// The number of the gateway's own state for the task, if any; 0 if it was lost with the process that held it.
    pub home: Option<u64>,
    /// The server's own id for the task.
    pub real: String,
}

/// A task named in a request: the server's id and the client's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTask {
    /// The id at the upstream.
    pub real: String,
    /// The client's id, a JSON string.
    pub shown: Bytes,
}

impl KnownTask {
    pub(super) fn new(frame: &Frame, span: Span, real: String) -> Self {
        // The id is copied, because it may be kept as long as a stream is open.
        Self { real, shown: Bytes::copy_from_slice(span.of(frame.text())) }
    }
}
