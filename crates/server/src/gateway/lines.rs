//! One client whose messages come in order, and to whom all goes out in order: the lines of a pipe, or the POSTs and the
//! event stream of HTTP+SSE. It must not know which.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use engine::Fault;
use proto::era::{Spoken, detect, initialize_result, negotiate};
use proto::mcp::Method;
use proto::rpc::{Batch, Frame, FrameError, Id, Kind as FrameKind, Message, array, code, result_response};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use transport::net::Stop;

use super::Shard;
use crate::gateway::admission::identity::Identity;
use crate::gateway::call::call::{Call, Progress};
use crate::gateway::call::in_flight;
use crate::gateway::call::in_session::{Outcome, decide, is_early, notification, response};
use crate::gateway::session::newborn::introduction;
use crate::gateway::session::session::{Birth, Face, Session};

/// The number of messages that may wait to be written.
pub(super) const LINES: usize = 1024;

/// The number of stateless requests that may be under way beyond the calls: those that are answered here.
const OWN: usize = 64;

/// What carries a client's messages.
pub(super) struct Way {
    /// The id of the session that it may open.
    pub(super) id: Box<str>,
    /// The profile that it sees.
    pub(super) profile: usize,
    /// Who it is.
    pub(super) identity: Identity,
    /// Where messages for it go.
    pub(super) out: mpsc::Sender<Bytes>,
    /// Raised when it is so far behind that `out` is full. Without, it is waited for.
    pub(super) behind: Option<Stop>,
    /// True if it may be spoken to without a session.
    pub(super) stateless: bool,
    /// What it is told when it speaks before its introduction.
    pub(super) stranger: &'static str,
}

/// The client.
pub(super) struct Client {
    /// The thread, with the gateway as it was when the client came.
    first: Shard,
    pub(super) way: Way,
    session: Mutex<Option<Arc<Session>>>,
    /// Stateless requests that can be cancelled.
    pub(super) open: Mutex<HashMap<Id, oneshot::Sender<Option<Frame>>>>,
    /// Room for stateless calls and listeners; a session counts its calls itself.
    pub(super) calls: Arc<Semaphore>,
    /// Room for requests that are worked on beside the reading. Where there is none, a request is refused: to stop
    /// reading would also keep back cancellations and the answers that open calls wait for.
    pub(super) requests: Arc<Semaphore>,
}

impl Client {
    pub(super) fn new(shard: &Shard, way: Way) -> Arc<Self> {
        let calls = shard.gateway.snapshot.limits.calls_per_session;
        Arc::new(Self {
            first: shard.clone(),
            way,
            session: Mutex::default(),
            open: Mutex::default(),
            calls: Arc::new(Semaphore::new(calls)),
            requests: Arc::new(Semaphore::new(calls + OWN)),
        })
    }

    /// The gateway as it is now: a client may stay for days, and each of its messages is for itself.
    pub(super) fn shard(&self) -> Shard {
        self.first.now()
    }

    /// The fault of one more request than it may have in flight.
    pub(super) fn too_many(&self) -> Fault {
        in_flight::full_session(self.first.gateway.snapshot.limits.calls_per_session)
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().ok()?.clone()
    }

    /// Ends what it has here. Requests that are under way are cancelled.
    pub(super) async fn end(&self) {
        if let Some(session) = self.session() {
            self.shard().session.state.sessions.remove(&session.id);
            session.end(&self.shard().session).await;
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

    pub(super) async fn refuse(&self, fault: &Fault, id: Option<&Id>) {
        self.say(fault.response(id)).await;
    }

    /// Takes a message, or an array of them where there may be one. Requests that take their time become tasks, and are
    /// registered before this returns, so that their cancellations find them.
    pub(super) async fn take(self: &Arc<Self>, said: Result<Message, FrameError>, tasks: &mut JoinSet<()>) {
        match said {
            Err(e) => self.refuse(&Fault::from(&e), e.id.as_ref()).await,
            Ok(Message::Single(frame)) => self.message(frame, tasks).await,
            Ok(Message::Batch(batch)) => {
                let Some(session) = self.session().filter(|session| session.kind.era.batches) else {
                    let fault =
                        Fault::client(code::INVALID_REQUEST, "send one message at a time, not an array");
                    return self.refuse(&fault, None).await;
                };
                self.batch(&session, batch, tasks).await;
            }
        }
    }

    /// Takes the messages of an array; what its requests are answered with goes out as one array.
    async fn batch(self: &Arc<Self>, session: &Arc<Session>, batch: Batch, tasks: &mut JoinSet<()>) {
        let (sender, mut answers) = mpsc::channel::<Bytes>(batch.messages.len());
        let client = self.clone();
        tasks.spawn(async move {
            let mut all = Vec::new();
            while let Some(answer) = answers.recv().await {
                all.push(answer);
            }
            if !all.is_empty() {
                client.say(array(&all)).await;
            }
        });
        for message in batch.messages {
            let refused = match message {
                Err(e) => Fault::from(&e).response(e.id.as_ref()),
                Ok(frame) if frame.method() == Method::Initialize.name() => {
                    let fault = Fault::client(code::INVALID_REQUEST, "initialize must not stand in a batch");
                    fault.response(frame.id())
                }
                Ok(frame) => {
                    match frame.kind() {
                        FrameKind::Request => {
                            let to = Some(sender.clone());
                            self.request(session.clone(), frame, tasks, to).await;
                        }
                        _ => self.in_session(frame, tasks).await,
                    }
                    continue;
                }
            };
            let _ = sender.send(refused).await;
        }
    }

    /// Gives an answer to the client: by itself, or with the others of its array.
    async fn give(&self, to: Option<&mpsc::Sender<Bytes>>, answer: Bytes) {
        match to {
            None => self.say(answer).await,
            // There is room for an answer to each request.
            Some(array) => drop(array.send(answer).await),
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
        let hello = match introduction(frame) {
            Ok(hello) => hello,
            Err(fault) => return self.refuse(&fault, Some(id)).await,
        };
        let (era, asked) = (negotiate(&hello.version), hello.version_json.clone());
        let face = Face::Pipe(self.way.out.clone());
        let Way { id: session, profile, identity, .. } = &self.way;
        let (session, identity) = (session.clone(), identity.clone());
        let birth = Birth { id: session, profile: *profile, identity, era, hello, face };
        let shard = self.shard();
        let (newborn, view) = Session::introduce(&shard.session, birth).await;
        let info = &shard.gateway.snapshot.profiles[self.way.profile].server_info;
        let text =
            initialize_result(id, newborn.kind.era, &asked, view.capabilities(), info, view.instructions());
        shard.session.state.sessions.add(&newborn, None);
        if let Ok(mut own) = self.session.lock() {
            *own = Some(newborn.keep());
        }
        self.say(text).await;
    }

    async fn in_session(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        let Some(frame) = self.cancel_stateless(frame) else { return };
        let Some(session) = self.session() else {
            // The one thing that may be asked before the introduction (2025-11-25, lifecycle).
            if let (Some(Method::Ping), Some(id)) = (Method::from_name(&frame.method()), frame.id()) {
                return self.say(result_response(id, b"{}")).await;
            }
            if frame.kind() == FrameKind::Request {
                let fault = Fault::client(code::INVALID_REQUEST, self.way.stranger);
                self.refuse(&fault, frame.id()).await;
            }
            return;
        };
        session.keep_up(&self.shard().session);
        match frame.kind() {
            FrameKind::Request => self.request(session, frame, tasks, None).await,
            FrameKind::Notification => notification(&self.shard().call, &session, frame),
            FrameKind::Response | FrameKind::Error => response(&self.shard().call, &session, &frame),
        }
    }

    /// A request in a session. Calls are registered before the next line is read, so that their cancellations find them.
    async fn request(
        self: &Arc<Self>,
        session: Arc<Session>,
        frame: Frame,
        tasks: &mut JoinSet<()>,
        to: Option<mpsc::Sender<Bytes>>,
    ) {
        let id = frame.id().cloned();
        // A level is passed on to servers, which may take their time; others have yet to come.
        let slow = Method::from_name(&frame.method()) == Some(Method::SetLevel) || is_early(&session, &frame);
        let outcome = if slow {
            None
        } else {
            Some(decide(&self.shard().call, &session, &self.way.identity, frame.clone()).await)
        };
        let outcome = match outcome {
            Some(done @ (Outcome::Done(..) | Outcome::Long(_))) => {
                return self.finish(&session, done, to.as_ref()).await;
            }
            other => other,
        };
        let Ok(room) = self.requests.clone().try_acquire_owned() else {
            return self.give(to.as_ref(), self.too_many().response(id.as_ref())).await;
        };
        let client = self.clone();
        tasks.spawn(async move {
            let outcome = match outcome {
                Some(call) => call,
                None => decide(&client.shard().call, &session, &client.way.identity, frame).await,
            };
            client.finish(&session, outcome, to.as_ref()).await;
            drop(room);
        });
    }

    async fn finish(&self, session: &Arc<Session>, outcome: Outcome, to: Option<&mpsc::Sender<Bytes>>) {
        match outcome {
            Outcome::Done(_, text) => self.give(to, text).await,
            Outcome::Long(pieces) => self.give(to, Bytes::from(pieces.concat())).await,
            Outcome::Wait(id, subscribing) => self.give(to, subscribing.answer(&id).await.1).await,
            Outcome::Call(call, change) => {
                let ok = self.drive(call, to).await;
                session.settle(&self.shard().session, change.as_ref(), ok);
            }
        }
    }

    /// Runs a call to its end; whether it ended with a result.
    pub(super) async fn drive(&self, call: Box<Call>, to: Option<&mpsc::Sender<Bytes>>) -> bool {
        let mut running = call.run();
        loop {
            let (call, progress) = running.await;
            match progress {
                Progress::Relay(text) => self.say(text).await,
                Progress::Paused(_) => {}
                Progress::Answer(answered) => {
                    self.give(to, answered.body).await;
                    return answered.ok;
                }
                Progress::Park(ticket, asked) => {
                    let asked = call.park(&self.shard().gateway.parked, ticket, asked);
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
