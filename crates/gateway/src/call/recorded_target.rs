//! The destination of a recorded request. This module must not know what is recorded.

use engine::catalogue::ToolEntry;
use proto::era::Era;
use upstream::Upstream;

use crate::call::caller::Caller;
use crate::telemetry::RequestArrival;

/// The destination of a request.
#[derive(Clone, Copy)]
pub(crate) struct RecordedTarget<'a> {
    /// The server to which the request goes.
    pub(crate) upstream: &'a Upstream,
    /// The tool, if the request calls one.
    pub(crate) tool: Option<&'a ToolEntry>,
    /// The request's arrival; `None` if it was not noted.
    pub(crate) arrived: Option<RequestArrival>,
    /// The client, and the protocol version that is used with the server; `None` if the request does not go to a server.
    pub(crate) traced: Option<(&'a Caller, &'static Era)>,
}
