//! What the answer to a request depends on, and why a request may not simply be forwarded. It must not know what is asked.

use bytes::Bytes;

use super::trouble::Trouble;
use crate::catalogue::View;
use crate::fault::Condition;

/// What the answer to a request depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// True if the session was begun with `initialize`.
    pub initialized: bool,
    /// What the asker sees of the profile; without one, a request that needs it says so.
    pub view: Option<&'a View>,
    /// The view's tools in the row's shape, where [`super::tools`] has made them before.
    pub tools: Option<&'a Bytes>,
    /// The name of the profile.
    pub profile: &'a str,
    /// Servers that want a user's consent first, each with the page where it is given.
    pub consents: &'a [(String, String)],
}

/// The reason why a request is not simply forwarded.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something is wrong with it.
    Trouble(Box<Trouble>),
    /// It cannot be decided without a view.
    NeedsView,
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(Box::new(trouble))
    }
}

impl<'a> Facts<'a> {
    pub(super) fn view(&self) -> Result<&'a View, Stop> {
        self.view.ok_or(Stop::NeedsView)
    }
}

/// Checks whether any server of a view is there, if it has some.
pub(super) fn served(view: &View) -> Result<(), Stop> {
    if view.upstreams().is_empty() || view.is_served() {
        return Ok(());
    }
    Err(Trouble::new(Condition::Internal, "none of the servers can be reached").into())
}
