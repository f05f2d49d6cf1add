//! Tasks in an exchange between two sides with different forms of tasks, or with tasks on one side only.

use bytes::Bytes;
use proto::bridge::tasks::{
    AS_TASK, LegacyToModern, ModernToLegacy, Sides, TaskMethod, TaskSupport, declares_extension,
    with_extension,
};
use proto::codec::headers::encode_value;
use proto::era::{Era, Tasks, own_meta};
use proto::json::{Splice, unquote};
use proto::rpc::{Frame, FrameLimits, code};

use super::{Mirror, Outbound, Start, TaskNames};
use crate::catalogue::UpstreamId;
use crate::fault::Fault;
use crate::tasks::KnownTask;

/// The state that remains after a call was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEffect {
    /// A task of the upstream; its link must stay open during the task's lifetime.
    Task {
        /// The upstream's own id, a JSON string.
        id: Bytes,
        /// The number that the client's id refers to.
        home: u64,
    },
    /// A task that the upstream may send notifications about, with the upstream's id and the client's id.
    Known(KnownTask),
    /// An outcome, a JSON object in the client's form, for a client that waits for a task.
    Outcome(Bytes),
}

#[derive(Debug)]
pub(super) enum TaskDirection {
    /// The client requests a task for a call, but the server itself decides which calls become tasks.
    Wraps,
    /// A request about a task.
    Asks(Box<LegacyToModern>, Bytes),
    /// A call that is sent as a task.
    Calls(Box<ModernToLegacy>),
}

/// The bridge between the two sides.
#[derive(Debug)]
pub(super) struct TaskBridge {
    pub(super) way: TaskDirection,
    upstream: UpstreamId,
    pub(super) server: &'static Era,
    capabilities: Bytes,
    /// The envelope of our own requests: `_meta` preceded by a comma, or nothing.
    envelope: String,
    /// The number under which the gateway keeps the task's state.
    pub(super) key: u64,
    pub(super) made: Option<TaskEffect>,
}

impl TaskBridge {
    /// The bridge for a request, if it needs one.
    ///
    /// # Errors
    /// Returns the fault to answer with: the tool cannot run as a task.
    pub(super) fn of(start: &Start<'_>) -> Result<Option<Self>, Fault> {
        let (client, server) = (start.client.shapes.tasks, start.server.shapes.tasks);
        if client == server {
            return Ok(None);
        }
        let way = match (&start.route.names, start.route.tool) {
            (TaskNames::Known(method, _), _) => {
                let id = start.route.rename.as_ref().map(|(_, id)| id.clone()).unwrap_or_default();
                LegacyToModern::begin(sides(start), *method, id.clone())
                    .map(|(machine, _)| TaskDirection::Asks(Box::new(machine), id))
            }
            (_, Some(tool)) if client == Tasks::Experiment => match start.frame.param("task")? {
                Some(_) if tool.tasks == TaskSupport::Forbidden => {
                    let message = "this tool cannot run as a task; call it without params.task";
                    return Err(Fault::client(code::METHOD_NOT_FOUND, message));
                }
                Some(_) => Some(TaskDirection::Wraps),
                None => None,
            },
            (_, Some(tool)) if server == Tasks::Experiment => {
                let takes =
                    client == Tasks::Extension && declares_extension(&start.frame) && start.route.keeps_tasks;
                let called = || TaskDirection::Calls(Box::new(ModernToLegacy::called(sides(start), takes)));
                match tool.tasks {
                    TaskSupport::Required => Some(called()),
                    TaskSupport::Optional => takes.then(called),
                    TaskSupport::Forbidden => None,
                }
            }
            _ => None,
        };
        Ok(way.map(|way| Self::new(way, start)))
    }

    fn new(way: TaskDirection, start: &Start<'_>) -> Self {
        let capabilities = with_extension(start.capabilities_upstream);
        let own = || {
            own_meta(
                start.server,
                &String::from_utf8_lossy(&capabilities),
                &String::from_utf8_lossy(start.client_info),
            )
        };
        let envelope = if start.server.has_sessions() { String::new() } else { format!(",{}", own()) };
        let (upstream, server) = (start.route.upstream, start.server);
        Self { way, upstream, server, capabilities, envelope, key: start.key, made: None }
    }

    /// The message to send to the upstream instead of the request, if there is one.
    pub(super) fn first(&self, key: u64) -> Option<Outbound> {
        let TaskDirection::Asks(_, id) = &self.way else { return None };
        let params = [b"\"taskId\":", &id[..]].concat();
        Some(self.request(TaskMethod::Get, &params, key))
    }

    /// The client's capabilities that this request must declare.
    pub(super) fn capabilities(&self) -> Option<Bytes> {
        matches!(self.way, TaskDirection::Wraps).then(|| self.capabilities.clone())
    }

    /// Marks a request in the upstream's form as a task, if the call is sent as a task.
    pub(super) fn dressed(&self, text: Bytes) -> Bytes {
        if !matches!(self.way, TaskDirection::Calls(_)) {
            return text;
        }
        let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
        let Some(params) = frame.params() else { return text };
        let mut splice = Splice::new(&text);
        splice.set(&params.members, AS_TASK.0.as_bytes(), AS_TASK.1.as_bytes());
        splice.finish()
    }

    /// Returns true if the request is about a task.
    pub(super) fn asks(&self) -> bool {
        matches!(self.way, TaskDirection::Asks(..))
    }

    /// The number under which the gateway keeps the state of a new task.
    pub(super) fn home(&self) -> Option<u64> {
        match self.made {
            Some(TaskEffect::Task { home, .. }) => Some(home),
            _ => None,
        }
    }

    /// One of our own requests about a task; `params` is the content of its params object.
    pub(super) fn request(&self, method: TaskMethod, params: &[u8], key: u64) -> Outbound {
        let head =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{", method.name());
        let body = [head.as_bytes(), params, self.envelope.as_bytes(), b"}}"].concat();
        let mirror = self.server.mirrored_headers.then(|| Mirror {
            method: method.name().into(),
            name: self.name(),
            params: Vec::new(),
        });
        Outbound {
            upstream: self.upstream,
            era: self.server,
            key,
            body: body.into(),
            mirror,
            traceparent: None,
        }
    }

    /// The task's id in the form of a mirroring header.
    fn name(&self) -> Option<String> {
        let TaskDirection::Asks(_, id) = &self.way else { return None };
        let inside = id.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(encode_value(&unquote(inside)?).into_owned())
    }
}

fn sides(start: &Start<'_>) -> Sides {
    Sides {
        client: start.client,
        server: start.server,
        capabilities: Bytes::copy_from_slice(start.capabilities),
        server_info: start.server_info.to_owned(),
    }
}
