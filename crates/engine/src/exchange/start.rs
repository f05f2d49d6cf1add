//! The inputs of an exchange. This module must not know how the exchange continues.

use std::time::Instant;

use proto::era::Era;
use proto::json::Splice;
use proto::rpc::{Frame, FrameLimits};

use super::outbound::Headers;
use super::trace_hop::TraceHop;
use super::{Binding, Route, Sealer, TaskNames, Timeouts};
use crate::fault::Fault;
use crate::tasks::Renaming;

/// The inputs of an exchange.
pub struct Start<'a> {
    /// The client's request.
    pub frame: Frame,
    /// The client's era.
    pub client: &'static Era,
    /// The upstream's era.
    pub server: &'static Era,
    /// The client's capabilities exactly as written, a JSON object. Used only between different eras.
    pub capabilities: &'a [u8],
    /// The client's capabilities in the form of the upstream's era.
    pub capabilities_upstream: &'a [u8],
    /// The log level that the client's session requested, a JSON string.
    pub level: Option<&'a [u8]>,
    /// The sender's name and version, a JSON object: the client's own, or the gateway's.
    pub client_info: &'a [u8],
    /// The destination of the request, and the changes to make before it is sent.
    pub route: Route<'a>,
    /// Our own id for the request: unique in the process.
    pub key: u64,
    /// The context that states are bound to.
    pub binding: Binding<'a>,
    /// The port that seals states.
    pub sealer: &'a dyn Sealer,
    /// The headers of the client's request; `None` for transports other than HTTP.
    pub headers: Option<&'a dyn Headers>,
    /// The time limits of the request.
    pub timeouts: Timeouts,
    /// The gateway's own name and version, a JSON object.
    pub server_info: &'a str,
    /// The context that a traced request carries to its upstream.
    pub trace: Option<&'a TraceHop>,
    /// The current time.
    pub now: Instant,
}

impl Start<'_> {
    /// Replaces the request's arguments with those for the upstream, if they differ from the client's.
    pub(super) fn set_arguments(&mut self) -> Result<(), Fault> {
        let Some(arguments) = self.route.arguments.take() else { return Ok(()) };
        let Some(params) = self.frame.params() else { return Ok(()) };
        let mut splice = Splice::new(self.frame.text());
        splice.set(&params.members, b"arguments", &arguments);
        self.frame = Frame::parse(splice.finish(), FrameLimits::default()).map_err(|e| {
            Fault::gateway(format!("the request cannot be rebuilt with the changed arguments: {e}"))
        })?;
        if let (Some((span, _)), Some(name)) = (&mut self.route.rename, self.frame.param("name")?) {
            *span = name;
        }
        Ok(())
    }

    /// The replacement of task ids in the messages of this exchange; `None` if there is none.
    pub(super) fn renaming(&self) -> Option<Renaming> {
        match &self.route.names {
            TaskNames::None => None,
            TaskNames::New => Renaming::of_call(&self.frame, self.client),
            TaskNames::Known(method, task) => Some(Renaming::of_task(*method, self.client, task.clone())),
        }
    }
}
