//! The arrival of a request. The front end notes it if requests are recorded.

use std::time::Instant;

use super::trace::TraceContext;

/// The arrival of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestArrival {
    /// The time at which the request had arrived completely.
    pub(crate) at: Instant,
    /// The span that the transport's headers name.
    pub(crate) outer: Option<TraceContext>,
}
