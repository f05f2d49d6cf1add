//! One link of a pool, as the dispatcher knows it. This module must not know other links.

use std::time::{Duration, Instant};

use super::{Binding, GRACE, LinkClass, OwnerId, TASK_REST};
use crate::pool::budget::LinkPermit;

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) class: LinkClass,
    pub(super) is_open: bool,
    pub(super) owner: Option<OwnerId>,
    pub(super) calls: usize,
    pub(super) binding: Binding,
    pub(super) used: Instant,
    pub(super) granted: bool,
    /// The link's part of the budget, which the link's process also keeps.
    pub(super) permit: LinkPermit,
}

impl Slot {
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        let granted = self.granted && now.saturating_duration_since(self.used) < GRACE;
        self.is_open && self.calls == 0 && !granted
    }

    /// Returns true if the link is bound to an owner that is gone, and carries no call.
    pub(super) fn is_over(&self) -> bool {
        self.owner.is_none() && self.calls == 0 && self.is_open && self.binding != Binding::None
    }

    /// Returns true if the link may be closed to make room for another link.
    pub(super) fn can_go(&self, now: Instant) -> bool {
        let rest = if self.binding == Binding::Task { TASK_REST } else { Duration::ZERO };
        self.is_idle(now) && now.saturating_duration_since(self.used) >= rest
    }
}
