//! Holds on links: a link is not closed, and a dedicated link stays with its owner, while a call holds it. This module
//! must not know pools.

use std::sync::Arc;

use super::open_link::OpenLink;
use crate::egress::Egress;

/// An open link that is not closed as long as this value exists.
pub struct HeldLink {
    link: Arc<OpenLink>,
    /// The hold that keeps the link with its owner; `None` if the link belongs to nobody alone.
    hold: Option<LinkHold>,
}

/// The keeper of links with owners: counts the holds on each link.
pub trait HoldKeeper: Send + Sync {
    /// Counts another hold on the link with this number; returns `false` if nobody is to hold the link a second time.
    fn hold_again(&self, number: u64) -> bool;

    /// Counts that a hold on the link with this number has ended.
    fn hold_ended(&self, number: u64, egress: &Egress);
}

/// A counted hold that keeps a link with its owner until it is dropped. Each call on a dedicated link has one, so it
/// needs no allocation.
pub struct LinkHold {
    keeper: Arc<dyn HoldKeeper>,
    egress: Egress,
    number: u64,
}

impl LinkHold {
    /// Creates the hold that `keeper` has just counted for the link with this number.
    pub fn counted(keeper: Arc<dyn HoldKeeper>, egress: &Egress, number: u64) -> Self {
        Self { keeper, egress: egress.clone(), number }
    }

    fn again(&self) -> Option<Self> {
        let is_held = self.keeper.hold_again(self.number);
        is_held.then(|| Self::counted(self.keeper.clone(), &self.egress, self.number))
    }
}

impl Drop for LinkHold {
    fn drop(&mut self) {
        self.keeper.hold_ended(self.number, &self.egress);
    }
}

impl HeldLink {
    /// Creates a hold on the link.
    pub fn new(link: Arc<OpenLink>, hold: Option<LinkHold>) -> Self {
        link.activity.need();
        Self { link, hold }
    }

    /// Returns the link itself.
    pub fn link(&self) -> &Arc<OpenLink> {
        &self.link
    }

    /// Returns another hold on the same link.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(self.link.clone(), self.hold.as_ref().and_then(LinkHold::again))
    }
}

impl Drop for HeldLink {
    fn drop(&mut self) {
        if self.link.activity.need_no_more() {
            self.link.server.shutdown.drain.note();
        }
    }
}
