//! The running requests of a session, so that its client can cancel them. This module must not know what is requested.

use parking_lot::Mutex;
use proto::rpc::{Frame, Id};
use tokio::sync::oneshot;
use upstream::drain::Drain;

/// The reason why a request cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CannotBegin {
    /// A request with this id is already running.
    Id,
    /// The maximum number of requests is already running.
    Full(usize),
}

/// A running request, and the receiver of its cancellation.
type RunningRequest = (Id, oneshot::Sender<Option<Frame>>);

/// The running requests of one session.
pub struct OpenRequests {
    open: Mutex<Vec<RunningRequest>>,
    most: usize,
    /// Notified when no request is running.
    pub(crate) drain: Drain,
}

impl OpenRequests {
    /// Creates an empty table of at most `most` requests.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Mutex::default(), most, drain: Drain::default() }
    }

    /// Registers a request so that it can be cancelled.
    ///
    /// # Errors
    /// Returns the reason why the request cannot start.
    pub(crate) fn begin(&self, id: &Id) -> Result<oneshot::Receiver<Option<Frame>>, CannotBegin> {
        let mut open = self.open.lock();
        if open.iter().any(|(other, _)| other == id) {
            return Err(CannotBegin::Id);
        }
        if open.len() >= self.most {
            return Err(CannotBegin::Full(self.most));
        }
        let (tx, rx) = oneshot::channel();
        open.push((id.clone(), tx));
        Ok(rx)
    }

    /// Registers a request until the returned value is dropped; returns `None` if the request cannot start.
    pub(crate) fn hold(&self, id: Id) -> Option<HeldRequest<'_>> {
        let cancelled = self.begin(&id).ok()?;
        Some(HeldRequest { requests: self, id, cancelled: Some(cancelled) })
    }

    /// Removes a request that has ended.
    pub(crate) fn end(&self, id: &Id) {
        drop(self.take(id));
    }

    fn take(&self, id: &Id) -> Option<oneshot::Sender<Option<Frame>>> {
        let mut open = self.open.lock();
        let at = open.iter().position(|(other, _)| other == id)?;
        let (_, request) = open.swap_remove(at);
        if open.is_empty() {
            self.drain.note();
        }
        Some(request)
    }

    /// Passes a client's cancellation to the request that the cancellation names.
    pub(crate) fn cancel(&self, notice: Frame) {
        let id = notice.param("requestId").ok().flatten().map(|span| span.share(notice.text()));
        let id = id.and_then(|id| Id::from_json(id).ok());
        if let Some(request) = id.and_then(|id| self.take(&id)) {
            let _ = request.send(Some(notice));
        }
    }

    /// Cancels all running requests.
    pub(crate) fn give_up(&self) {
        for (_, request) in self.open.lock().drain(..) {
            let _ = request.send(None);
        }
    }

    /// Returns the number of running requests.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Returns true if any request is running.
    pub(crate) fn is_busy(&self) -> bool {
        !self.open.lock().is_empty()
    }
}

/// A running request; dropping this value removes the request from its table.
pub(crate) struct HeldRequest<'r> {
    requests: &'r OpenRequests,
    id: Id,
    cancelled: Option<oneshot::Receiver<Option<Frame>>>,
}

impl HeldRequest<'_> {
    /// Takes the receiver of the request's cancellation; works only once.
    pub(crate) fn cancelled(&mut self) -> Option<oneshot::Receiver<Option<Frame>>> {
        self.cancelled.take()
    }
}

impl Drop for HeldRequest<'_> {
    fn drop(&mut self) {
        self.requests.end(&self.id);
    }
}
