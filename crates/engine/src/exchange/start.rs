//! What an exchange starts with. It must not know how it goes on.

use std::time::Instant;

use proto::era::Era;
use proto::rpc::Frame;

use super::outbound::Headers;
use super::{Binding, Route, Sealer, TaskNames, Timeouts};
use crate::tasks::Renaming;

/// What an exchange starts with.
pub struct Start<'a> {
    /// The client's request.
    pub frame: Frame,
    /// The client's era.
    pub client: &'static Era,
    /// The upstream's era.
    pub server: &'static Era,
    /// What the client can do, in its own words: a JSON object. It matters only between different eras.
    pub capabilities: &'a [u8],
    /// The same in the upstream's words.
    pub capabilities_upstream: &'a [u8],
    /// The level of log messages that the client's session asked for, a JSON string.
    pub level: Option<&'a [u8]>,
    /// Who asks, a JSON object: the client as it said itself, or the gateway.
    pub client_info: &'a [u8],
    /// Where it goes.
    pub route: Route<'a>,
    /// Our own id for it: unique in the process.
    pub key: u64,
    /// What states are bound to.
    pub binding: Binding<'a>,
    /// Seals states.
    pub sealer: &'a dyn Sealer,
    /// The headers of the client's request; `None` where there is no HTTP.
    pub headers: Option<&'a dyn Headers>,
    /// The time that it may take.
    pub timeouts: Timeouts,
    /// The gateway's own name and version, a JSON object.
    pub server_info: &'a str,
    /// Now.
    pub now: Instant,
}

impl Start<'_> {
    /// How the ids of tasks in its messages are exchanged; `None` where they are not.
    pub(super) fn renaming(&self) -> Option<Renaming> {
        match &self.route.names {
            TaskNames::None => None,
            TaskNames::New => Renaming::of_call(&self.frame, self.client),
            TaskNames::Known(method, task) => Some(Renaming::of_task(*method, self.client, task.clone())),
        }
    }
}
