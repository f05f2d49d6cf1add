//! A session's requests that are open, so that its client can cancel them. They must not know what is asked.

use parking_lot::Mutex;
use proto::rpc::{Frame, Id};
use tokio::sync::oneshot;
use upstream::quiet::Quiet;

/// The reason why a request cannot begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    /// One with its id is open.
    Id,
    /// So many are, which is all that there may be.
    Full(usize),
}

/// A request that is open, and whoever is told that it is cancelled.
type OpenRequest = (Id, oneshot::Sender<Option<Frame>>);

/// The requests of one session that are open.
pub(crate) struct OpenRequests {
    open: Mutex<Vec<OpenRequest>>,
    most: usize,
    /// Is told when none is open any more.
    pub(crate) quiet: Quiet,
}

impl OpenRequests {
    /// At most so many at once.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Mutex::default(), most, quiet: Quiet::default() }
    }

    /// Registers a request so that it can be cancelled.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub(crate) fn begin(&self, id: &Id) -> Result<oneshot::Receiver<Option<Frame>>, Busy> {
        let mut open = self.open.lock();
        if open.iter().any(|(other, _)| other == id) {
            return Err(Busy::Id);
        }
        if open.len() >= self.most {
            return Err(Busy::Full(self.most));
        }
        let (tx, rx) = oneshot::channel();
        open.push((id.clone(), tx));
        Ok(rx)
    }

    /// Forgets a request that is over.
    pub(crate) fn end(&self, id: &Id) {
        drop(self.take(id));
    }

    fn take(&self, id: &Id) -> Option<oneshot::Sender<Option<Frame>>> {
        let mut open = self.open.lock();
        let at = open.iter().position(|(other, _)| other == id)?;
        let (_, request) = open.swap_remove(at);
        if open.is_empty() {
            self.quiet.note();
        }
        Some(request)
    }

    /// Passes a client's cancellation to the request that it names.
    pub(crate) fn cancel(&self, notice: Frame) {
        let id = notice.param("requestId").ok().flatten().map(|span| span.share(notice.text()));
        let id = id.and_then(|id| Id::from_json(id).ok());
        if let Some(request) = id.and_then(|id| self.take(&id)) {
            let _ = request.send(Some(notice));
        }
    }

    /// Ends all of them.
    pub(crate) fn give_up(&self) {
        for (_, request) in self.open.lock().drain(..) {
            let _ = request.send(None);
        }
    }

    /// Returns true if one is open.
    pub(crate) fn is_busy(&self) -> bool {
        !self.open.lock().is_empty()
    }
}
