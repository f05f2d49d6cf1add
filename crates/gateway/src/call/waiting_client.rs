//! The client of a call, as far as the call waits for it: its cancellation, and the answers that it accepts. It must not know
//! servers.

use std::time::Instant;

use engine::Fault;
use proto::rpc::Frame;
use tokio::sync::oneshot;

/// The wishes of a client that waits for its answer.
pub(crate) struct WaitingClient {
    /// Its cancellation, if it can send one; with the notification that says so, if there is one.
    pub(crate) cancelled: Option<oneshot::Receiver<Option<Frame>>>,
    /// True if it accepts an answer while it is still arriving.
    pub(crate) takes_long: bool,
    /// The time when the call is polled again at the latest; used for what is sent at once.
    pub(crate) attended_until: Option<Instant>,
    /// The fault that it gets instead if the call fails.
    pub(crate) masked: Option<Box<Fault>>,
}

impl WaitingClient {
    pub(super) fn new(
        cancelled: Option<oneshot::Receiver<Option<Frame>>>,
        masked: Option<Box<Fault>>,
    ) -> Self {
        Self { cancelled, takes_long: false, attended_until: None, masked }
    }

    /// Waits for its cancellation, if there can be one.
    pub(super) async fn cancellation(&mut self) -> Option<Frame> {
        let Some(receiver) = &mut self.cancelled else { return std::future::pending().await };
        let notice = receiver.await;
        self.cancelled = None;
        notice.ok().flatten()
    }
}
