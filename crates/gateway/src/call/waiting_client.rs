//! The client of a call, as seen by the call: its cancellation, and the answers that it accepts. This module must not
//! know servers.

use std::time::Instant;

use engine::Fault;
use proto::rpc::Frame;
use tokio::sync::oneshot;

/// The state of a client that waits for its answer.
pub(crate) struct WaitingClient {
    /// Receives the client's cancellation, with its notification if there is one; `None` if the client cannot
    /// cancel.
    pub(crate) cancelled: Option<oneshot::Receiver<Option<Frame>>>,
    /// True if the client accepts an answer that is still arriving.
    pub(crate) takes_long: bool,
    /// The latest time at which the call is polled again; applies to the next request that is sent.
    pub(crate) attended_until: Option<Instant>,
    /// The fault that the client receives in place of the real one if the call fails.
    pub(crate) masked: Option<Box<Fault>>,
}

impl WaitingClient {
    pub(super) fn new(
        cancelled: Option<oneshot::Receiver<Option<Frame>>>,
        masked: Option<Box<Fault>>,
    ) -> Self {
        Self { cancelled, takes_long: false, attended_until: None, masked }
    }

    /// Waits for the client's cancellation; never completes if the client cannot cancel.
    pub(super) async fn cancellation(&mut self) -> Option<Frame> {
        let Some(receiver) = &mut self.cancelled else { return std::future::pending().await };
        let notice = receiver.await;
        self.cancelled = None;
        notice.ok().flatten()
    }
}
