//! Requests without a session, from a client whose messages arrive in order. Each request is registered before the
//! next message is read, so a later message can cancel it by its id.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use proto::era::{Envelope, read_envelope};
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameKind, Id, code};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::JoinSet;

use crate::call::decide::{Decision, decide};
use crate::call::listen::{self, Filter, Sink};
use crate::call::requester::Requester;
use crate::call::stateless::view_of;
use crate::front::lines::client::{Client, LineTransport};
use crate::view::view_cell::ViewCell;

/// A registered stateless request.
struct Request {
    id: Id,
    envelope: Envelope,
    cancelled: oneshot::Receiver<Option<Frame>>,
    _room: OwnedSemaphorePermit,
}

impl Client {
    /// Registers a stateless request before the next line is read, and runs it as a task.
    pub(crate) async fn stateless(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        // Some clients add the envelope of a request to a cancellation as well.
        let Some(frame) = self.cancel_stateless(frame) else { return };
        let (FrameKind::Request, Some(id)) = (frame.kind(), frame.id().cloned()) else { return };
        match self.register(id, &frame) {
            Err(fault) => self.refuse(&fault, frame.id()).await,
            Ok(request) => {
                let client = self.clone();
                tasks.spawn(transport::task::boxed(async move { client.answer(request, frame).await }));
            }
        }
    }

    fn register(&self, id: Id, frame: &Frame) -> Result<Request, Fault> {
        let envelope = read_envelope(frame, None)?;
        let room = self.requests.clone().try_acquire_owned().map_err(|_| self.too_many())?;
        let (cancel, cancelled) = oneshot::channel();
        if let Ok(mut open) = self.open.lock() {
            // A closed channel means that the earlier request with this id has ended.
            if open.get(&id).is_some_and(|other| !other.is_closed()) {
                return Err(Fault::client(code::INVALID_REQUEST, "a request with this id is open"));
            }
            open.insert(id.clone(), cancel);
        }
        Ok(Request { id, envelope, cancelled, _room: room })
    }

    async fn answer(&self, request: Request, frame: Frame) {
        let Request { id, envelope, mut cancelled, _room } = request;
        let decision = tokio::select! {
            biased;
            _ = &mut cancelled => None,
            decision = self.decide_alone(envelope, frame) => Some(decision),
        };
        match decision {
            None | Some(Decision::Cancelled | Decision::Elsewhere(_)) => {}
            Some(Decision::Done(_, text)) => self.say(text).await,
            Some(Decision::Long(pieces)) => self.say(Bytes::from(pieces.concat())).await,
            Some(Decision::Wait(id, subscribing)) => self.say(subscribing.answer(&id).await.1).await,
            Some(long @ (Decision::Call(..) | Decision::Listen(..))) => match self.calls.try_acquire() {
                Err(_) => self.refuse(&self.too_many(), Some(&id)).await,
                Ok(_room) => self.attend(long, &id, &mut cancelled).await,
            },
        }
        drop(cancelled);
        if let Ok(mut open) = self.open.lock()
            // The id may have been reused in the meantime.
            && open.get(&id).is_some_and(oneshot::Sender::is_closed)
        {
            open.remove(&id);
        }
    }

    async fn decide_alone(&self, envelope: Envelope, frame: Frame) -> Decision {
        let (shard, LineTransport { profile, identity, .. }) = (self.shard(), &self.way);
        let cell = view_of(&shard.call, *profile, envelope.era, (identity, &frame)).await;
        let requester = Requester::stateless(cell, identity, None);
        decide(&shard.call, &shard.gateway.process.parked, requester, frame).await
    }

    /// Runs a slow request until it ends or is cancelled.
    async fn attend(&self, long: Decision, id: &Id, cancelled: &mut oneshot::Receiver<Option<Frame>>) {
        match long {
            Decision::Call(mut call, _) => {
                let (_, nobody) = oneshot::channel();
                call.cancel_by(std::mem::replace(cancelled, nobody));
                self.drive(call, None).await;
            }
            Decision::Listen(cell, frame) => tokio::select! {
                () = self.listen(&cell, &frame, id) => {}
                _ = cancelled => {}
            },
            Decision::Done(..)
            | Decision::Long(_)
            | Decision::Wait(..)
            | Decision::Cancelled
            | Decision::Elsewhere(_) => {}
        }
    }

    async fn listen(&self, cell: &ViewCell, frame: &Frame, id: &Id) {
        let shard = self.shard();
        let begun = listen::permit(&shard.call, &self.way.identity)
            .and_then(|permit| Ok((permit, Filter::read(&shard.call, cell, frame, &self.way.identity)?)));
        match begun {
            Err(fault) => self.refuse(&fault, Some(id)).await,
            Ok((_permit, filter)) => {
                listen::serve(&shard.call, cell, filter, id, Sink::Lines(self.way.out.clone())).await;
            }
        }
    }

    /// Cancels the stateless request that a cancellation names; returns the message if it names no such request.
    pub(crate) fn cancel_stateless(&self, frame: Frame) -> Option<Frame> {
        if frame.method() != Notice::Cancelled.name() {
            return Some(frame);
        }
        let Some(call) = self.open_stateless(&frame) else { return Some(frame) };
        // A request that has just ended can no longer be cancelled.
        let _ = call.send(Some(frame));
        None
    }

    /// Returns the stateless request that a cancellation names.
    fn open_stateless(&self, notice: &Frame) -> Option<oneshot::Sender<Option<Frame>>> {
        let id = notice.param("requestId").ok().flatten().map(|span| span.share(notice.text()));
        let id = id.and_then(|id| Id::from_json(id).ok());
        self.open.lock().ok()?.remove(&id?)
    }
}
