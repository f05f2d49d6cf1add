//! Who calls, and what a call begins with. It must not know how a call goes on.

use std::sync::Arc;

use engine::exchange::{Headers, Route};
use proto::era::Era;
use proto::rpc::Frame;
use transport::up::Owner;
use upstream::Kind;
use upstream::embedded::Carried;

use crate::gateway::admission::Identity;
use crate::gateway::session::Session;
use crate::gateway::view::ViewCell;

/// Who calls.
pub(crate) enum Caller {
    /// A client of a handshake era, in its session.
    Session(Arc<Session>),
    /// A client without a session, that sees this.
    Stateless(Arc<ViewCell>, Identity),
}

impl Caller {
    pub(crate) fn era(&self) -> &'static Era {
        match self {
            Self::Session(session) => session.kind.era,
            Self::Stateless(view, _) => view.kind.era,
        }
    }

    /// What it sees.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        match self {
            Self::Session(session) => session.view(),
            Self::Stateless(view, _) => Some(view.clone()),
        }
    }

    /// What clients like it have in common.
    pub(crate) fn kind(&self) -> &Kind {
        match self {
            Self::Session(session) => &session.kind,
            Self::Stateless(view, _) => &view.kind,
        }
    }

    /// Whose states and tasks those of its requests are: the session's, or else everybody's who is the same principal.
    pub(crate) fn owner(&self) -> &str {
        match self {
            Self::Session(session) => session.owner(),
            Self::Stateless(..) => self.identity().id(),
        }
    }

    /// Whose what is said during its next call is.
    pub(super) fn attribution(&self) -> Owner {
        match self {
            Self::Session(session) => session.attribution,
            Self::Stateless(..) => Owner::unique(),
        }
    }

    /// Who it is.
    pub(crate) fn identity(&self) -> &Identity {
        match self {
            Self::Session(session) => &session.identity,
            Self::Stateless(_, identity) => identity,
        }
    }
}

/// What a call begins with.
pub(crate) struct Request<'a> {
    pub(crate) frame: Frame,
    pub(crate) route: Route<'a>,
    /// The era that the upstream speaks.
    pub(crate) server: &'static Era,
    pub(crate) headers: Option<&'a dyn Headers>,
    pub(crate) server_info: &'a str,
    /// What it carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// True if it counts among its caller's: not where it counts among a session's.
    pub(crate) counted: bool,
}

impl<'a> Request<'a> {
    /// One without headers, of a client whose session counts it.
    pub(crate) fn in_session(
        frame: Frame,
        (route, server): (Route<'a>, &'static Era),
        server_info: &'a str,
        carried: Option<Arc<Carried>>,
    ) -> Self {
        Self { frame, route, server, headers: None, server_info, carried, counted: false }
    }
}
