//! A request as it is handed on. It must not know where it goes.

use http::Request;
use transport::net::Incoming;

use crate::gateway::admission::Identity;

/// A request that was let in: at which profile, and whose it is.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) profile: usize,
    pub(super) identity: Identity,
}

/// A request on its way to who answers it, boxed because it is handed on often.
pub(super) type Arrived = Box<Request<Incoming>>;
