//! One client whose messages come in order, and to whom all goes out in order: the lines of a pipe, or the POSTs and the
//! event stream of HTTP+SSE. It must not know which.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use engine::Fault;
use proto::era::{Envelope, Spoken, client_hello, detect, initialize_result, negotiate, read_envelope};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameError, Id, Kind as FrameKind, Message, code};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use transport::net::Stop;

use super::Shard;
use super::call::{Call, Progress};
use super::in_session::{Outcome, decide, notification, response};
use super::listen::{self, Filter, Place, Sink};
use super::session::{Birth, Face, Session};
use super::stateless::{self, Decision};
use super::views::ViewCell;

/// How many messages may wait to be written.
pub(super) const LINES: usize = 1024;

/// How many stateless requests may be under way beyond the calls: those that are answered here.
const OWN: usize = 64;

/// What carries a client's messages.
pub(super) struct Way {
    /// The id of the session that it may open.
    pub(super) id: Box<str>,
    /// The profile that it sees.
    pub(super) profile: usize,
    /// Where messages for it go.
    pub(super) out: mpsc::Sender<Bytes>,
    /// Raised when it is so far behind that `out` is full. Without, it is waited for.
    pub(super) behind: Option<Stop>,
    /// Whether it may be spoken to without a session.
    pub(super) stateless: bool,
    /// What it is told when it speaks before its introduction.
    pub(super) stranger: &'static str,
}

/// The client.
pub(super) struct Client {
    shard: Shard,
    way: Way,
    session: Mutex<Option<Arc<Session>>>,
    /// Stateless requests that can be cancelled.
    open: Mutex<HashMap<Id, oneshot::Sender<Option<Frame>>>>,
    /// Room for stateless calls and listeners; a session counts its calls itself.
    calls: Arc<Semaphore>,
    /// Room for requests that are worked on beside the reading. Where there is none, a request is refused: to stop
    /// reading would also keep back cancellations and the answers that open calls wait for.
    requests: Arc<Semaphore>,
}

/// A stateless request that was registered.
struct Request {
    id: Id,
    envelope: Envelope,
    cancelled: oneshot::Receiver<Option<Frame>>,
    _room: OwnedSemaphorePermit,
}

fn too_many() -> Fault {
    Fault::gateway(
        "too many calls are open; wait for an answer (`limits.callsPerSession` in the configuration)",
    )
}

impl Client {
    pub(super) fn new(shard: &Shard, way: Way) -> Arc<Self> {
        let calls = shard.gateway.snapshot.limits.calls_per_session;
        Arc::new(Self {
            shard: shard.clone(),
            way,
            session: Mutex::default(),
            open: Mutex::default(),
            calls: Arc::new(Semaphore::new(calls)),
            requests: Arc::new(Semaphore::new(calls + OWN)),
        })
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().ok()?.clone()
    }

    /// Ends what it has here. Requests that are under way are cancelled.
    pub(super) async fn end(&self) {
        if let Some(session) = self.session() {
            self.shard.gateway.sessions.remove(&session.id);
            session.end(&self.shard).await;
        }
    }

    pub(super) async fn say(&self, message: Bytes) {
        let Some(behind) = &self.way.behind else {
            let _ = self.way.out.send(message).await;
            return;
        };
        if let Err(TrySendError::Full(_)) = self.way.out.try_send(message)
            && !behind.is_stopped()
        {
            tracing::info!("a client is cut off: {LINES} messages wait for it to read them");
            behind.stop();
        }
    }

    async fn refuse(&self, fault: &Fault, id: Option<&Id>) {
        self.say(fault.response(id)).await;
    }

    /// Takes a message, or an array of them where there may be one. Requests that take their time become tasks, and are
    /// registered before this returns, so that their cancellations find them.
    pub(super) async fn take(self: &Arc<Self>, said: Result<Message, FrameError>, tasks: &mut JoinSet<()>) {
        match said {
            Err(e) => self.refuse(&Fault::from(&e), e.id.as_ref()).await,
            Ok(Message::Single(frame)) => self.message(frame, tasks).await,
            Ok(Message::Batch(batch)) => {
                if !self.session().is_some_and(|session| session.kind.era.batches) {
                    let fault =
                        Fault::client(code::INVALID_REQUEST, "send one message at a time, not an array");
                    return self.refuse(&fault, None).await;
                }
                for message in batch.messages {
                    match message {
                        Err(e) => self.refuse(&Fault::from(&e), e.id.as_ref()).await,
                        Ok(frame) => self.message(frame, tasks).await,
                    }
                }
            }
        }
    }

    async fn message(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        match detect(&frame, None) {
            Err(fault) => self.refuse(&fault.into(), frame.id()).await,
            Ok(Spoken::Handshake) => self.handshake(&frame).await,
            Ok(Spoken::Stateless) if self.way.stateless => self.stateless(frame, tasks).await,
            Ok(Spoken::Stateless) => self.refuse_stateless(&frame).await,
            Ok(Spoken::Session) => self.in_session(frame, tasks).await,
        }
    }

    async fn refuse_stateless(&self, frame: &Frame) {
        if frame.kind() == FrameKind::Request {
            let message = "messages of a version without sessions go by Streamable HTTP, not to a session's own address";
            self.refuse(&Fault::client(code::INVALID_REQUEST, message), frame.id()).await;
        }
    }

    async fn handshake(&self, frame: &Frame) {
        let Some(id) = frame.id() else {
            let fault = Fault::client(code::INVALID_REQUEST, "initialize must be a request, with an id");
            return self.refuse(&fault, None).await;
        };
        if self.session().is_some() {
            let fault =
                Fault::client(code::INVALID_REQUEST, "initialize was sent before; this is one session");
            return self.refuse(&fault, Some(id)).await;
        }
        let hello = match client_hello(frame) {
            Ok(hello) => hello,
            Err(e) => {
                let fault = Fault::client(code::INVALID_PARAMS, format!("initialize: {e}"));
                return self.refuse(&fault, Some(id)).await;
            }
        };
        let (era, asked) = (negotiate(&hello.version), hello.version_json.clone());
        let face = Face::Pipe(self.way.out.clone());
        let birth = Birth { id: self.way.id.clone(), profile: self.way.profile, era, hello, face };
        let (newborn, view) = Session::introduce(&self.shard, birth).await;
        let info = &self.shard.gateway.snapshot.profiles[self.way.profile].server_info;
        let text =
            initialize_result(id, newborn.kind.era, &asked, view.capabilities(), info, view.instructions());
        self.shard.gateway.sessions.add(&newborn);
        if let Ok(mut own) = self.session.lock() {
            *own = Some(newborn.keep());
        }
        self.say(text).await;
    }

    async fn in_session(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        let Some(frame) = self.cancel_stateless(frame) else { return };
        let Some(session) = self.session() else {
            if frame.kind() == FrameKind::Request {
                let fault = Fault::client(code::INVALID_REQUEST, self.way.stranger);
                self.refuse(&fault, frame.id()).await;
            }
            return;
        };
        match frame.kind() {
            FrameKind::Request => self.request(session, frame, tasks).await,
            FrameKind::Notification => notification(&self.shard, &session, frame).await,
            FrameKind::Response | FrameKind::Error => response(&self.shard, &session, &frame).await,
        }
    }

    /// Cancels the stateless request that a cancellation names; gives back what is about something else.
    fn cancel_stateless(&self, frame: Frame) -> Option<Frame> {
        if frame.method() != Notice::Cancelled.name() {
            return Some(frame);
        }
        let Some(call) = self.open_stateless(&frame) else { return Some(frame) };
        // One that has just ended is past cancelling.
        let _ = call.send(Some(frame));
        None
    }

    /// The stateless request that a cancellation names.
    fn open_stateless(&self, notice: &Frame) -> Option<oneshot::Sender<Option<Frame>>> {
        let id = notice.param("requestId").ok().flatten().map(|span| span.share(notice.text()));
        let id = id.and_then(|id| Id::from_json(id).ok());
        self.open.lock().ok()?.remove(&id?)
    }

    /// A request in a session. Calls are registered before the next line is read, so that their cancellations find them.
    async fn request(self: &Arc<Self>, session: Arc<Session>, frame: Frame, tasks: &mut JoinSet<()>) {
        let id = frame.id().cloned();
        // A level is passed on to servers, which may take their time.
        let slow = Method::from_name(&frame.method()) == Some(Method::SetLevel);
        let outcome = if slow { None } else { Some(decide(&self.shard, &session, frame.clone()).await) };
        let outcome = match outcome {
            Some(done @ (Outcome::Done(..) | Outcome::Long(_))) => return self.finish(&session, done).await,
            other => other,
        };
        let Ok(room) = self.requests.clone().try_acquire_owned() else {
            return self.refuse(&too_many(), id.as_ref()).await;
        };
        let client = self.clone();
        tasks.spawn(async move {
            let outcome = match outcome {
                Some(call) => call,
                None => decide(&client.shard, &session, frame).await,
            };
            client.finish(&session, outcome).await;
            drop(room);
        });
    }

    async fn finish(&self, session: &Arc<Session>, outcome: Outcome) {
        match outcome {
            Outcome::Done(_, text) => self.say(text).await,
            Outcome::Long(pieces) => self.say(Bytes::from(pieces.concat())).await,
            Outcome::Call(call, change) => {
                let ok = self.drive(call).await;
                session.settle(&self.shard, change.as_ref(), ok);
            }
        }
    }

    /// A request that stands for itself: registered before the next line is read, worked on beside the others.
    async fn stateless(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        // Some clients give a cancellation an envelope, too.
        let Some(frame) = self.cancel_stateless(frame) else { return };
        let (FrameKind::Request, Some(id)) = (frame.kind(), frame.id().cloned()) else { return };
        match self.register(id, &frame) {
            Err(fault) => self.refuse(&fault, frame.id()).await,
            Ok(request) => {
                let client = self.clone();
                tasks.spawn(async move { client.answer(request, frame).await });
            }
        }
    }

    fn register(&self, id: Id, frame: &Frame) -> Result<Request, Fault> {
        let envelope = read_envelope(frame, None)?;
        let room = self.requests.clone().try_acquire_owned().map_err(|_| too_many())?;
        let (cancel, cancelled) = oneshot::channel();
        if let Ok(mut open) = self.open.lock() {
            // One whose receiver has gone is over.
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
            decision = stateless::decide(&self.shard, self.way.profile, envelope, frame, None) => Some(decision),
        };
        match decision {
            None => {}
            Some(Decision::Done(_, text)) => self.say(text).await,
            Some(Decision::Long(pieces)) => self.say(Bytes::from(pieces.concat())).await,
            Some(long @ (Decision::Call(_) | Decision::Listen(..))) => match self.calls.try_acquire() {
                Err(_) => self.refuse(&too_many(), Some(&id)).await,
                Ok(_room) => self.attend(long, &id, &mut cancelled).await,
            },
        }
        drop(cancelled);
        if let Ok(mut open) = self.open.lock()
            // The id may have been used again.
            && open.get(&id).is_some_and(oneshot::Sender::is_closed)
        {
            open.remove(&id);
        }
    }

    /// Attends to what takes its time until it ends or is cancelled.
    async fn attend(&self, long: Decision, id: &Id, cancelled: &mut oneshot::Receiver<Option<Frame>>) {
        match long {
            Decision::Call(mut call) => {
                let (_, nobody) = oneshot::channel();
                call.cancel_by(std::mem::replace(cancelled, nobody));
                self.drive(call).await;
            }
            Decision::Listen(cell, frame) => tokio::select! {
                () = self.listen(&cell, &frame, id) => {}
                _ = cancelled => {}
            },
            Decision::Done(..) | Decision::Long(_) => {}
        }
    }

    async fn listen(&self, cell: &ViewCell, frame: &Frame, id: &Id) {
        let begun =
            Place::take(&self.shard).and_then(|place| Ok((place, Filter::read(&self.shard, cell, frame)?)));
        match begun {
            Err(fault) => self.refuse(&fault, Some(id)).await,
            Ok((_place, filter)) => {
                listen::serve(&self.shard, cell, filter, id, Sink::Lines(self.way.out.clone())).await;
            }
        }
    }

    /// Runs a call to its end; whether it ended with a result.
    async fn drive(&self, call: Box<Call>) -> bool {
        let mut running = call.run();
        loop {
            let (call, progress) = running.await;
            match progress {
                Progress::Relay(text) => self.say(text).await,
                Progress::Paused(_) => {}
                Progress::Answer(answered) => {
                    self.say(answered.body).await;
                    return answered.ok;
                }
                Progress::Park(ticket, asked) => {
                    let asked = call.park(ticket, asked);
                    self.say(asked.body).await;
                    return asked.ok;
                }
                // Only asked for where an answer can be passed on as it comes.
                Progress::Pass(_) | Progress::End => return false,
            }
            running = call.run();
        }
    }
}
