//! The context for answering a request, and the reasons not to forward it. This module must not know what is requested.

use bytes::Bytes;

use super::dialect_fault::DialectFault;
use crate::catalogue::View;
use crate::fault::Condition;

/// The context that the answer to a request depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// True if the session was opened with `initialize`.
    pub initialized: bool,
    /// The caller's view of the profile. Without it, `begin` returns `NeedsView` for a request that needs a view.
    pub view: Option<&'a View>,
    /// The view's tools in the row's form, if [`super::tools`] has built them before.
    pub tools: Option<&'a Bytes>,
    /// The name of the profile.
    pub profile: &'a str,
    /// The servers that cannot be used before a user has given consent, each with its consent page.
    pub consents: &'a [(String, String)],
}

/// The reason why a request is not forwarded.
#[derive(Debug)]
pub(super) enum Stop {
    /// The request has a fault.
    Fault(Box<DialectFault>),
    /// The decision needs a view.
    NeedsView,
}

impl From<DialectFault> for Stop {
    fn from(fault: DialectFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl<'a> Facts<'a> {
    pub(super) fn view(&self) -> Result<&'a View, Stop> {
        self.view.ok_or(Stop::NeedsView)
    }
}

/// Checks that at least one server of a view is available, if the view has servers.
pub(super) fn served(view: &View) -> Result<(), Stop> {
    if view.upstreams().is_empty() || view.is_served() {
        return Ok(());
    }
    Err(DialectFault::new(Condition::Internal, "none of the servers can be reached").into())
}
