//! Task ids in servers' messages to a session's client. This module must not know what a task is about.

use std::borrow::Cow;
use std::sync::Arc;

use engine::tasks::{TaskIds, TaskPlace, message_edits, renames};
use proto::bridge::tasks::in_message;
use proto::json::Splice;
use proto::rpc::Frame;
use upstream::Egress;
use upstream::link::OpenLink;

use super::sealer::StateSealer;
use super::session::Session;
use crate::admission::Identity;

/// The owner of a session's task ids; other sessions cannot use these ids.
pub(super) struct TaskOwner {
    /// The name under which the principal owns the tasks of this session.
    name: Box<str>,
    sealer: Arc<StateSealer>,
}

impl TaskOwner {
    pub(super) fn new(identity: &Identity, session: &str, sealer: Arc<StateSealer>) -> Self {
        Self { name: format!("{}\0{session}", identity.id()).into(), sealer }
    }
}

impl Session {
    /// Returns the owner of the session's task ids.
    pub(crate) fn owner(&self) -> &str {
        &self.tasks.name
    }

    fn task_ids(&self) -> TaskIds<'_> {
        TaskIds::new(&*self.tasks.sealer, self.owner(), self.era())
    }
}

/// Returns an upstream's message about a task in the form for the session's client. The message arrived on a link
/// of the session. Returns `None` if the task's owner is unknown.
pub(crate) fn for_session<'f>(
    egress: &Egress,
    session: &Session,
    link: &OpenLink,
    frame: &'f Frame,
) -> Option<Cow<'f, Frame>> {
    if in_message(frame).is_empty() || !session.view().is_some_and(|cell| renames(&cell.view())) {
        return Some(Cow::Borrowed(frame));
    }
    if !link.own {
        return None;
    }
    let ids = session.task_ids();
    let place = TaskPlace { server: link.server.name(), home: None };
    let edits = message_edits(frame, None, ids, place).ok()?;
    let mut splice = Splice::new(frame.text());
    for (span, name) in &edits {
        splice.replace(*span, name);
    }
    Frame::parse(splice.finish(), egress.frame_limits()).ok().map(Cow::Owned)
}
