//! One exchange's end of a shared stream. This module must not know how messages are assigned to exchanges.

use std::time::Duration;

use proto::rpc::Frame;
use tokio::sync::{mpsc, oneshot};

use super::{Mux, MuxItem};
use crate::child::QueuedLine;
use crate::up::LinkError;
use crate::up::open_calls::OpenCall;

/// One exchange's end of the link. Dropping this value removes the exchange; later messages for it are dropped.
#[derive(Debug)]
pub struct MuxCall {
    pub(super) key: u64,
    pub(super) items: mpsc::Receiver<MuxItem>,
    /// An item that arrived before the first call of `next`.
    pub(super) early: Option<MuxItem>,
    /// Receives the reason why the request could not be sent, if the failure becomes known later.
    pub(super) sending: Option<oneshot::Receiver<LinkError>>,
    /// The exchange's entry among the clients' calls, if it serves a client's call.
    pub(super) open: Option<OpenCall>,
    /// The line of the exchange's request, if it was sent over a pipe.
    pub(super) line: Option<QueuedLine>,
    pub(super) mux: Mux,
}

impl Drop for MuxCall {
    fn drop(&mut self) {
        self.mux.0.waiting.lock().remove(&self.key);
    }
}

impl MuxCall {
    /// Returns the next message of the exchange.
    ///
    /// # Errors
    /// Fails if the link is gone, if the request could not be sent, or if its answer had to be dropped.
    pub async fn next(&mut self) -> Result<Frame, LinkError> {
        let item = match self.early.take() {
            Some(item) => Some(item),
            None => self.either().await?,
        };
        match item {
            Some(MuxItem::Frame(frame)) => Ok(frame),
            Some(MuxItem::Failed(why)) => Err(self.failed(why.into())),
            None => Err(self.failed(self.mux.why_closed().map_or(LinkError::Closed, LinkError::from))),
        }
    }

    /// Records the line of the exchange's request.
    pub(in crate::up) fn written_as(mut self, line: QueuedLine) -> Self {
        self.line = Some(line);
        self
    }

    /// Returns the failure of the exchange. The request is treated as unsent if the child has ended and cannot have
    /// read the line of the request.
    fn failed(&self, why: LinkError) -> LinkError {
        let is_end = matches!(&why, LinkError::Child(e) if e.is_final());
        if is_end && self.line.as_ref().is_some_and(QueuedLine::is_unread) { why.unsent() } else { why }
    }

    /// Returns the next item, unless it becomes known first that the request could not be sent.
    async fn either(&mut self) -> Result<Option<MuxItem>, LinkError> {
        let Some(sending) = &mut self.sending else { return Ok(self.items.recv().await) };
        tokio::select! {
            biased;
            item = self.items.recv() => return self.unless_unsent(item),
            failed = sending => {
                self.sending = None;
                if let Ok(why) = failed {
                    self.unless_taken(&why);
                    return Err(why);
                }
            }
        }
        Ok(self.items.recv().await)
    }

    /// Waits until it is known whether the request was accepted, but no longer than `patience`: some servers report
    /// this only together with the answer.
    ///
    /// # Errors
    /// Returns the reason why the request could not be sent.
    pub(in crate::up) async fn sent(
        &mut self,
        mut sending: oneshot::Receiver<LinkError>,
        patience: Duration,
    ) -> Result<(), LinkError> {
        let item = tokio::select! {
            biased;
            item = self.items.recv() => Some(item),
            failed = &mut sending => {
                let Ok(why) = failed else { return Ok(()) };
                self.unless_taken(&why);
                return Err(why);
            }
            () = tokio::time::sleep(patience) => None,
        };
        self.sending = Some(sending);
        if let Some(item) = item {
            self.early = self.unless_unsent(item)?;
        }
        Ok(())
    }

    /// Ends the open call if the server did not accept the request: the server then does not work on the call.
    fn unless_taken(&self, why: &LinkError) {
        if let Some(open) = self.open.as_ref().filter(|_| why.not_executed() || why.is_status()) {
            open.over();
        }
    }

    /// Returns the item. If the stream has merely ended, returns the failure to send the request instead, if there is
    /// one, because this failure is more informative.
    fn unless_unsent(&mut self, item: Option<MuxItem>) -> Result<Option<MuxItem>, LinkError> {
        let failed = match self.sending.as_mut().map(oneshot::Receiver::try_recv) {
            None | Some(Err(oneshot::error::TryRecvError::Empty)) => None,
            // The channel has delivered its only value, and must not be polled again.
            Some(said) => {
                self.sending = None;
                said.ok()
            }
        };
        match (item, failed) {
            (frame @ Some(MuxItem::Frame(_)), _) | (frame, None) => Ok(frame),
            (_, Some(why)) => Err(why),
        }
    }
}
