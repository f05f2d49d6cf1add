//! The caller, and the input of a call. This module must not know how a call is performed.

use std::sync::Arc;

use engine::exchange::{Headers, ResumableRequest, Route};
use proto::era::Era;
use proto::rpc::Frame;
use transport::up::Owner;
use upstream::embedded::Carried;

use super::cache_slot::CacheSlot;
use crate::admission::Identity;
use crate::session::Session;
use crate::telemetry::RequestArrival;
use crate::view::ViewCell;

/// The client that makes a call.
pub(crate) enum Caller {
    /// A client of a handshake era, in its session.
    Session(Arc<Session>),
    /// A client without a session, with its view.
    Stateless(Arc<ViewCell>, Identity),
}

impl Caller {
    pub(crate) fn era(&self) -> &'static Era {
        match self {
            Self::Session(session) => session.era(),
            Self::Stateless(view, _) => view.clients.era,
        }
    }

    /// Returns the view that this client sees.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        match self {
            Self::Session(session) => session.view(),
            Self::Stateless(view, _) => Some(view.clone()),
        }
    }

    /// Returns the client's capabilities as a JSON object, if they are fixed for its session.
    pub(crate) fn capabilities(&self) -> &[u8] {
        match self {
            Self::Session(session) => &session.client.key.capabilities,
            Self::Stateless(..) => b"{}",
        }
    }

    /// Returns the owner of the states and tasks that result from the client's requests: the client's session, or
    /// its principal if it has no session.
    pub(crate) fn owner(&self) -> &str {
        match self {
            Self::Session(session) => session.owner(),
            Self::Stateless(..) => self.identity().id(),
        }
    }

    /// Returns the owner of the messages that the upstream sends during the client's next call.
    pub(super) fn attribution(&self) -> Owner {
        match self {
            Self::Session(session) => session.links.attribution,
            Self::Stateless(..) => Owner::unique(),
        }
    }

    /// Returns the client's identity.
    pub(crate) fn identity(&self) -> &Identity {
        match self {
            Self::Session(session) => &session.identity,
            Self::Stateless(_, identity) => identity,
        }
    }
}

/// The input of a call.
pub(crate) struct Request<'a> {
    pub(crate) frame: Frame,
    pub(crate) route: Route<'a>,
    /// The upstream's era.
    pub(crate) server: &'static Era,
    pub(crate) headers: Option<&'a dyn Headers>,
    pub(crate) server_info: &'a str,
    /// The sender of this request, with the credentials that this request carries.
    pub(crate) identity: &'a Identity,
    /// The credentials that the request carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// True if the call has to be counted toward the caller's limit; false in a session, which counts its own
    /// calls.
    pub(crate) counted: bool,
    /// True if the result is never shortened.
    pub(crate) whole: bool,
    /// The cache slot of the result, if the result may be kept.
    pub(crate) slot: Option<CacheSlot>,
    /// The request's arrival; `None` if it was not noted.
    pub(crate) arrived: Option<RequestArrival>,
    /// The request of another gateway, which has ended, that this request continues.
    pub(crate) orphan: Option<&'a ResumableRequest>,
}
