//! One client whose messages arrive in order and whose answers leave in one stream: the lines of a pipe, or the POSTs
//! and the event stream of HTTP+SSE. This module must not know which of the two it serves.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use engine::Fault;
use proto::era::{EraEvidence, detect};
use proto::mcp::Method;
use proto::rpc::{Batch, Frame, FrameError, FrameKind, Id, Message, array, code, result_response};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use transport::net::Stop;

use crate::admission::identity::Identity;
use crate::call::call::Call;
use crate::call::decide::{Decision, decide, is_early};
use crate::call::drive::{CallEnd, ClientSink, drive};
use crate::call::in_flight;
use crate::call::in_session::{notification, response};
use crate::call::requester::Requester;
use crate::process::Shard;
use crate::session::handshake::{self, AdmittedSession, SessionOpening};
use crate::session::session::{ClientChannel, Session};

/// The maximum number of messages to a client that wait to be written.
pub(crate) const LINES: usize = 1024;

/// The maximum number of concurrent stateless requests that are answered here, in addition to calls.
const OWN: usize = 64;

/// The transport of a client's messages, and the properties of the client that depend on the transport.
pub(crate) struct LineTransport {
    /// The id of the session that the client may open.
    pub(crate) id: Box<str>,
    /// The profile that the client sees.
    pub(crate) profile: usize,
    /// The client's identity.
    pub(crate) identity: Identity,
    /// The channel for messages to the client.
    pub(crate) out: mpsc::Sender<Bytes>,
    /// Raised when the client is so far behind that `out` is full; `None` if senders wait in this case.
    pub(crate) behind: Option<Stop>,
    /// True if the client may send requests without a session.
    pub(crate) stateless: bool,
    /// The error message for a client that sends anything before its introduction.
    pub(crate) stranger: &'static str,
}

/// A client, with its running requests.
pub(crate) struct Client {
    /// The thread, with the gateway that was in force when the client connected.
    first: Arc<Shard>,
    pub(crate) way: LineTransport,
    session: Mutex<Option<Arc<Session>>>,
    /// Running stateless requests that can be cancelled.
    pub(crate) open: Mutex<HashMap<Id, oneshot::Sender<Option<Frame>>>>,
    /// Permits for stateless calls and listeners; a session counts its own calls.
    pub(crate) calls: Arc<Semaphore>,
    /// Permits for requests that run while further messages are read. A request without a permit is refused. If
    /// reading paused instead, cancellations and answers that running calls wait for would be held up.
    pub(crate) requests: Arc<Semaphore>,
}

impl Client {
    pub(crate) fn new(shard: &Arc<Shard>, way: LineTransport) -> Arc<Self> {
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

    /// Returns the current gateway. A client may stay connected for days, and each message uses the configuration
    /// in force when it arrives.
    pub(crate) fn shard(&self) -> Arc<Shard> {
        self.first.now()
    }

    /// Returns the fault for a request above the limit.
    pub(crate) fn too_many(&self) -> Fault {
        in_flight::full_session(self.first.gateway.snapshot.limits.calls_per_session)
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().ok()?.clone()
    }

    /// Ends the client. Running requests are cancelled.
    pub(crate) async fn end(&self) {
        if let Some(session) = self.session() {
            self.shard().session.state.sessions.remove(&session.id);
            session.end(&self.shard().session).await;
        }
    }

    pub(crate) async fn say(&self, message: Bytes) {
        let Some(behind) = &self.way.behind else {
            let _ = self.way.out.send(message).await;
            return;
        };
        if let Err(TrySendError::Full(_)) = self.way.out.try_send(message)
            && !behind.is_stopped()
        {
            tracing::info!("disconnected a client with {LINES} unread messages");
            behind.stop();
        }
    }

    pub(crate) async fn refuse(&self, fault: &Fault, id: Option<&Id>) {
        self.say(fault.response(id)).await;
    }

    /// Processes a message, or an array of messages if the client's version supports arrays. Slow requests become
    /// tasks, which are registered before this function returns, so that cancellations can find them.
    pub(crate) async fn take(self: &Arc<Self>, said: Result<Message, FrameError>, tasks: &mut JoinSet<()>) {
        match said {
            Err(e) => self.refuse(&Fault::from(&e), e.id.as_ref()).await,
            Ok(Message::Single(frame)) => self.message(frame, tasks).await,
            Ok(Message::Batch(batch)) => {
                let Some(session) = self.session().filter(|session| session.era().batches) else {
                    let fault =
                        Fault::client(code::INVALID_REQUEST, "send one message at a time, not an array");
                    return self.refuse(&fault, None).await;
                };
                self.batch(&session, batch, tasks).await;
            }
        }
    }

    /// Processes the messages of an array; the answers to its requests are sent as one array.
    async fn batch(self: &Arc<Self>, session: &Arc<Session>, batch: Batch, tasks: &mut JoinSet<()>) {
        let (sender, mut answers) = mpsc::channel::<Bytes>(batch.messages.len());
        let client = self.clone();
        tasks.spawn(transport::task::boxed(async move {
            let mut all = Vec::new();
            while let Some(answer) = answers.recv().await {
                all.push(answer);
            }
            if !all.is_empty() {
                client.say(array(&all)).await;
            }
        }));
        for message in batch.messages {
            let refused = match message {
                Err(e) => Fault::from(&e).response(e.id.as_ref()),
                Ok(frame) if frame.method() == Method::Initialize.name() => {
                    let fault =
                        Fault::client(code::INVALID_REQUEST, "initialize must not be part of a batch");
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

    /// Sends an answer to the client: alone, or together with the other answers to the same array.
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
            Ok(EraEvidence::Handshake) => self.handshake(&frame).await,
            Ok(EraEvidence::Stateless) if self.way.stateless => self.stateless(frame, tasks).await,
            Ok(EraEvidence::Stateless) => self.refuse_stateless(&frame).await,
            Ok(EraEvidence::Session) => self.in_session(frame, tasks).await,
        }
    }

    async fn refuse_stateless(&self, frame: &Frame) {
        if frame.kind() == FrameKind::Request {
            let message = "the message is for a protocol version that has no sessions; send it over Streamable HTTP, not to the \
                           address of a session";
            self.refuse(&Fault::client(code::INVALID_REQUEST, message), frame.id()).await;
        }
    }

    async fn handshake(&self, frame: &Frame) {
        if self.session().is_some() {
            let fault = Fault::client(
                code::INVALID_REQUEST,
                "initialize was already sent; a session is opened only once",
            );
            return self.refuse(&fault, frame.id()).await;
        }
        let (shard, LineTransport { id: own, profile, identity, .. }) = (self.shard(), &self.way);
        let channel = ClientChannel::Pipe(self.way.out.clone());
        let opening = SessionOpening { profile: *profile, identity: identity.clone(), channel };
        let admit = |_| Ok(AdmittedSession { id: own.clone(), key: None, permit: None });
        match handshake::handshake(&shard.session, frame, opening, admit).await {
            Err(fault) => self.refuse(&fault, frame.id()).await,
            Ok((session, text)) => {
                if let Ok(mut own) = self.session.lock() {
                    *own = Some(session);
                }
                self.say(text).await;
            }
        }
    }

    async fn in_session(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        let Some(frame) = self.cancel_stateless(frame) else { return };
        let Some(session) = self.session() else {
            // A ping is the only request allowed before the introduction (2025-11-25, lifecycle).
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

    /// Processes a request in a session. Calls are registered before the next line is read, so that cancellations can
    /// find them.
    async fn request(
        self: &Arc<Self>,
        session: Arc<Session>,
        frame: Frame,
        tasks: &mut JoinSet<()>,
        to: Option<mpsc::Sender<Bytes>>,
    ) {
        let id = frame.id().cloned();
        // A log level is passed on to servers, which may take a while; other slow requests wait for servers that are
        // not available yet.
        let slow = Method::from_name(&frame.method()) == Some(Method::SetLevel) || is_early(&session, &frame);
        let decision = if slow { None } else { Some(self.decide(&session, frame.clone()).await) };
        let decision = match decision {
            Some(done @ (Decision::Done(..) | Decision::Long(_))) => {
                return self.finish(&session, done, to.as_ref()).await;
            }
            other => other,
        };
        let Ok(room) = self.requests.clone().try_acquire_owned() else {
            return self.give(to.as_ref(), self.too_many().response(id.as_ref())).await;
        };
        let client = self.clone();
        let mut running = transport::task::boxed(async move {
            let decision = match decision {
                Some(decision) => decision,
                None => client.decide(&session, frame).await,
            };
            client.finish(&session, decision, to.as_ref()).await;
            drop(room);
        });
        // The request begins here: if a task began the request, the client's cancellation could be read before the
        // request is registered.
        if poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await.is_pending() {
            tasks.spawn(running);
        }
    }

    async fn decide(&self, session: &Arc<Session>, frame: Frame) -> Decision {
        let shard = self.shard();
        let requester = Requester::in_session(session, &self.way.identity);
        decide(&shard.call, &shard.gateway.process.parked, requester, frame).await
    }

    async fn finish(&self, session: &Arc<Session>, decision: Decision, to: Option<&mpsc::Sender<Bytes>>) {
        match decision {
            Decision::Done(_, text) => self.give(to, text).await,
            Decision::Long(pieces) => self.give(to, Bytes::from(pieces.concat())).await,
            Decision::Wait(id, subscribing) => self.give(to, subscribing.answer(&id).await.1).await,
            Decision::Call(call, change) => {
                let ok = self.drive(call, to).await;
                session.settle(&self.shard().session, change.as_ref(), ok);
            }
            // Clients with a session receive notifications by other means.
            Decision::Cancelled | Decision::Listen(..) | Decision::Elsewhere(_) => {}
        }
    }

    /// Runs a call to its end; returns true if it ended with a result.
    pub(crate) async fn drive(&self, call: Box<Call>, to: Option<&mpsc::Sender<Bytes>>) -> bool {
        let shard = self.shard();
        let mut sink = LineSink { client: self, to, ok: false };
        drive(call.run(), &shard.gateway.process.parked, &mut sink).await;
        sink.ok
    }
}

/// The receiver of one call's output for a client; the answer may be part of an array.
struct LineSink<'a> {
    client: &'a Client,
    to: Option<&'a mpsc::Sender<Bytes>>,
    /// True once the call has ended with a result.
    ok: bool,
}

impl ClientSink for LineSink<'_> {
    async fn relay(&mut self, call: &Call, text: Bytes) -> bool {
        // Wait for a client that reads slowly. If the client has not read by the deadline, the next message disconnects
        // the client.
        let _ = timeout_at(call.deadline().into(), self.client.way.out.reserve()).await;
        self.client.say(text).await;
        true
    }

    async fn end(&mut self, end: CallEnd) {
        // Long answers are requested only for clients to which they can be passed on as they arrive.
        if let CallEnd::Answer(answer, _) = end {
            self.client.give(self.to, answer.body).await;
            self.ok = answer.ok;
        }
    }
}
