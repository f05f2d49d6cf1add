//! The tools of tasks that were started under a limit for their results. This module must not know how a result is shortened.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use engine::catalogue::{ToolEntry, UpstreamId};
use parking_lot::Mutex;
use upstream::Upstream;

use super::at_once::CountedCall;
use super::result_store::ToolOrigin;

/// The maximum number of tasks for which the tool is remembered. The outcomes of older tasks are still shortened,
/// but their remainders are not kept.
const MAX: usize = 8192;

/// A tool whose results are limited, in the profile in which it was called.
#[derive(Clone)]
pub(crate) struct LimitedTool {
    pub(super) has_output_schema: bool,
    pub(super) profile: usize,
    /// `None` if the tool has been forgotten, because its task is too old. Dragoman then keeps no remainder,
    /// because it could not check who may read it.
    pub(super) origin: Option<ToolOrigin>,
}

impl LimitedTool {
    /// Returns a tool in a profile.
    pub(super) fn of(upstream: &Upstream, tool: &ToolEntry, profile: usize) -> Self {
        let origin = ToolOrigin {
            upstream: tool.upstream,
            server: upstream.name().clone(),
            name: tool.name.clone(),
            identity: tool.identity().clone(),
        };
        Self { has_output_schema: tool.has_output_schema, profile, origin: Some(origin) }
    }

    /// Returns the placeholder for the tool of a task that is too old.
    pub(super) fn forgotten(profile: usize) -> Self {
        Self { has_output_schema: false, profile, origin: None }
    }

    pub(super) fn name(&self) -> &str {
        self.origin.as_ref().map_or("of an old task", |origin| &origin.name)
    }
}

/// A server's task, by the server's own id.
type TaskKey = (UpstreamId, Box<str>);

/// The tools of the tasks that were started under a limit for their results.
#[derive(Default)]
pub(crate) struct LimitedTasks(Mutex<Tools>);

#[derive(Default)]
struct Tools {
    tools: HashMap<TaskKey, LimitedTool>,
    /// The tasks, the oldest first.
    order: VecDeque<TaskKey>,
}

impl LimitedTasks {
    /// Records the tool of a task.
    pub(super) fn note(&self, task: TaskKey, tool: LimitedTool) {
        let mut all = self.0.lock();
        if all.tools.insert(task.clone(), tool).is_none() {
            all.order.push_back(task);
        }
        if all.order.len() > MAX
            && let Some(oldest) = all.order.pop_front()
        {
            all.tools.remove(&oldest);
        }
    }

    /// Returns the tool of a task; `None` if it is no longer known.
    pub(super) fn tool(&self, upstream: UpstreamId, real: &str) -> Option<LimitedTool> {
        self.0.lock().tools.get(&(upstream, Box::from(real))).cloned()
    }
}

/// The limits that a task has inherited from its call.
pub(super) struct TaskLimits {
    /// The tool, if its server limits the size of results.
    pub(super) tool: Option<LimitedTool>,
    pub(super) counted: Option<CountedCall>,
    /// The time by which the task has to end.
    pub(super) deadline: Option<Instant>,
}
