//! One exchange's end of a shared stream. It must not know how messages are told apart.

use std::time::Duration;

use proto::rpc::Frame;
use tokio::sync::{mpsc, oneshot};

use super::{Item, Mux};
use crate::up::LinkError;
use crate::up::open_calls::OpenCall;

/// An exchange's end of the link. Dropping it forgets the exchange; late messages for it are dropped.
#[derive(Debug)]
pub struct MuxCall {
    pub(super) key: u64,
    pub(super) items: mpsc::Receiver<Item>,
    /// What came before anybody asked.
    pub(super) early: Option<Item>,
    /// Tells that the request could not be sent, where that shows only later.
    pub(super) sending: Option<oneshot::Receiver<LinkError>>,
    /// Among the calls of clients, where it is one.
    pub(super) open: Option<OpenCall>,
    pub(super) mux: Mux,
}

impl Drop for MuxCall {
    fn drop(&mut self) {
        self.mux.0.waiting.lock().remove(&self.key);
    }
}

impl MuxCall {
    /// The next message of the exchange.
    ///
    /// # Errors
    /// When the link is gone, the request could not be sent, or its answer had to be left out.
    pub async fn next(&mut self) -> Result<Frame, LinkError> {
        let item = match self.early.take() {
            Some(item) => Some(item),
            None => self.either().await?,
        };
        match item {
            Some(Item::Frame(frame)) => Ok(frame),
            Some(Item::Failed(why)) => Err(why.into()),
            None => Err(self.mux.why_closed().map_or(LinkError::Closed, LinkError::from)),
        }
    }

    /// The next item, unless it turns out first that the request could not be sent.
    async fn either(&mut self) -> Result<Option<Item>, LinkError> {
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

    /// Waits until it shows whether a request was taken that is being sent meanwhile, but no longer than `patience`:
    /// some servers say so only together with the answer.
    ///
    /// # Errors
    /// Why it could not be sent.
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

    /// The server does not work on what it refused to take.
    fn unless_taken(&self, why: &LinkError) {
        if let Some(open) = self.open.as_ref().filter(|_| why.not_executed() || why.is_status()) {
            open.over();
        }
    }

    /// What came, unless it is only that nothing more comes, and the failure to send the request says more.
    fn unless_unsent(&mut self, item: Option<Item>) -> Result<Option<Item>, LinkError> {
        let failed = match self.sending.as_mut().map(oneshot::Receiver::try_recv) {
            None | Some(Err(oneshot::error::TryRecvError::Empty)) => None,
            // It has said all that it will, and must not be asked again.
            Some(said) => {
                self.sending = None;
                said.ok()
            }
        };
        match (item, failed) {
            (frame @ Some(Item::Frame(_)), _) | (frame, None) => Ok(frame),
            (_, Some(why)) => Err(why),
        }
    }
}
