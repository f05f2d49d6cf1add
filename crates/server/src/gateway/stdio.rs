//! The one client over stdin and stdout: a message a line, in every era, interleaved if it likes.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use engine::Fault;
use proto::codec::line::LineDecoder;
use proto::era::{Spoken, client_hello, detect, initialize_result, negotiate, read_envelope};
use proto::mcp::Notice;
use proto::rpc::{Frame, Id, Kind as FrameKind, Message, code, error_response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use super::Shard;
use super::call::{Call, Progress};
use super::in_session::{Outcome, decide, notification, response};
use super::listen::{self, Filter, Place, Sink};
use super::session::{Birth, Face, Session};
use super::stateless::{self, Decision};
use super::views::ViewCell;

/// How many lines may wait to be written.
const LINES: usize = 1024;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

type BoxError = Box<dyn Error + Send + Sync>;

/// Serves until stdin ends or the gateway stops.
pub(super) async fn serve(shard: &Shard, profile: usize) -> Result<(), BoxError> {
    let (lines, queue) = mpsc::channel(LINES);
    let writer = tokio::spawn(write(queue));
    let client = Arc::new(Client {
        shard: shard.clone(),
        profile,
        lines,
        session: Mutex::default(),
        open: Mutex::default(),
        room: Arc::new(Semaphore::new(shard.gateway.snapshot.limits.calls_per_session)),
    });
    let mut tasks = JoinSet::new();
    let outcome = tokio::select! {
        outcome = read(&client, &mut tasks) => outcome,
        () = shard.gateway.stop.stopped() => Ok(()),
    };
    // What was asked before stdin ended is still answered, within the time that a stop gives.
    let drain = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(shard.gateway.snapshot.limits.drain_timeout, drain).await;
    tasks.shutdown().await;
    let session = client.session();
    if let Some(session) = session {
        shard.gateway.sessions.remove(&session.id);
        session.end(shard).await;
    }
    drop(client);
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), writer).await;
    Ok(outcome?)
}

struct Client {
    shard: Shard,
    profile: usize,
    lines: mpsc::Sender<Bytes>,
    session: Mutex<Option<Arc<Session>>>,
    /// Stateless requests that can be cancelled.
    open: Mutex<HashMap<Id, oneshot::Sender<Option<Frame>>>>,
    room: Arc<Semaphore>,
}

async fn read(client: &Arc<Client>, tasks: &mut JoinSet<()>) -> std::io::Result<()> {
    let limits = &client.shard.gateway.snapshot.limits;
    let mut decoder = LineDecoder::new(limits.line);
    let mut stdin = tokio::io::stdin();
    loop {
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let ended = stdin.read_buf(&mut chunk).await? == 0;
        decoder.push(chunk.freeze());
        loop {
            let line = decoder.next_line().or_else(|| if ended { decoder.finish() } else { None });
            match line {
                None => break,
                Some(Ok(line)) => client.take(line, tasks).await,
                Some(Err(e)) => {
                    let message = format!("{e} (`limits.line` in the configuration)");
                    client.say(error_response(None, code::INVALID_REQUEST, &message, None)).await;
                }
            }
        }
        while tasks.try_join_next().is_some() {}
        if ended {
            return Ok(());
        }
    }
}

async fn write(mut queue: mpsc::Receiver<Bytes>) {
    let mut stdout = tokio::io::stdout();
    let mut batch = Vec::new();
    while let Some(line) = queue.recv().await {
        batch.clear();
        append(&mut batch, &line);
        // Lines that wait already are written together.
        while batch.len() < CHUNK
            && let Ok(line) = queue.try_recv()
        {
            append(&mut batch, &line);
        }
        if stdout.write_all(&batch).await.is_err() || stdout.flush().await.is_err() {
            return;
        }
    }
}

/// Appends a message as one line. Line breaks between tokens mean nothing in JSON, and inside strings there are none.
fn append(out: &mut Vec<u8>, message: &[u8]) {
    out.extend(message.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }));
    out.push(b'\n');
}

impl Client {
    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().ok()?.clone()
    }

    async fn say(&self, message: Bytes) {
        let _ = self.lines.send(message).await;
    }

    async fn refuse(&self, fault: &Fault, id: Option<&Id>) {
        self.say(fault.response(id)).await;
    }

    async fn take(self: &Arc<Self>, line: Bytes, tasks: &mut JoinSet<()>) {
        match Message::parse(line, self.shard.gateway.frame_limits()) {
            Err(e) => self.refuse(&Fault::from(&e), e.id.as_ref()).await,
            Ok(Message::Single(frame)) => self.message(frame, tasks).await,
            Ok(Message::Batch(batch)) => {
                if !self.session().is_some_and(|session| session.kind.era.batches) {
                    let fault = Fault::client(code::INVALID_REQUEST, "send one message a line, not an array");
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
            Ok(Spoken::Stateless) => self.spawn(frame, tasks, true),
            Ok(Spoken::Session) => self.in_session(frame, tasks).await,
        }
    }

    async fn handshake(&self, frame: &Frame) {
        let Some(id) = frame.id() else {
            let fault = Fault::client(code::INVALID_REQUEST, "initialize must be a request, with an id");
            return self.refuse(&fault, None).await;
        };
        if self.session().is_some() {
            let fault = Fault::client(
                code::INVALID_REQUEST,
                "initialize was sent before; one process is one session",
            );
            return self.refuse(&fault, Some(id)).await;
        }
        let hello = match client_hello(frame) {
            Ok(hello) => hello,
            Err(e) => {
                let fault = Fault::client(code::INVALID_PARAMS, format!("initialize: {e}"));
                return self.refuse(&fault, Some(id)).await;
            }
        };
        let era = negotiate(&hello.version);
        let face = || Face::Pipe(self.lines.clone());
        let birth = Birth { id: "stdio".into(), profile: self.profile, era, hello, face: face() };
        let (newborn, view) = match Session::introduce(&self.shard, birth, face).await {
            Ok(introduced) => introduced,
            Err(fault) => return self.refuse(&fault, Some(id)).await,
        };
        let info = &self.shard.gateway.snapshot.profiles[self.profile].server_info;
        let text = initialize_result(id, newborn.kind.era, view.capabilities(), info, view.instructions());
        self.shard.gateway.sessions.add(&newborn);
        if let Ok(mut own) = self.session.lock() {
            *own = Some(newborn.keep());
        }
        self.say(text).await;
    }

    async fn in_session(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>) {
        if frame.method() == Notice::Cancelled.name()
            && let Some(call) = self.open_stateless(&frame)
        {
            // One that has just ended is past cancelling.
            let _ = call.send(Some(frame));
            return;
        }
        let Some(session) = self.session() else {
            if frame.kind() == FrameKind::Request {
                let message = "send an initialize request first, or the metadata of a stateless version in params._meta";
                self.refuse(&Fault::client(code::INVALID_REQUEST, message), frame.id()).await;
            }
            return;
        };
        match frame.kind() {
            FrameKind::Request => self.spawn(frame, tasks, false),
            FrameKind::Notification => notification(&self.shard, &session, frame).await,
            FrameKind::Response | FrameKind::Error => response(&self.shard, &session, &frame).await,
        }
    }

    /// The stateless request that a cancellation names.
    fn open_stateless(&self, notice: &Frame) -> Option<oneshot::Sender<Option<Frame>>> {
        let id = notice.param("requestId").ok().flatten().map(|span| span.share(notice.text()));
        let id = id.and_then(|id| Id::from_json(id).ok());
        self.open.lock().ok()?.remove(&id?)
    }

    /// Works on a request beside the others.
    fn spawn(self: &Arc<Self>, frame: Frame, tasks: &mut JoinSet<()>, stateless: bool) {
        let client = self.clone();
        tasks.spawn(async move {
            let Ok(_room) = client.room.clone().acquire_owned().await else { return };
            if stateless {
                client.stateless(frame).await;
            } else {
                client.request(frame).await;
            }
        });
    }

    async fn request(&self, frame: Frame) {
        let Some(session) = self.session() else { return };
        match decide(&self.shard, &session, frame).await {
            Outcome::Done(_, text) => self.say(text).await,
            Outcome::Long(pieces) => self.say(Bytes::from(pieces.concat())).await,
            Outcome::Call(call, change) => {
                let ok = self.drive(call).await;
                session.settle(&self.shard, change.as_ref(), ok);
            }
        }
    }

    async fn stateless(&self, frame: Frame) {
        if frame.kind() != FrameKind::Request {
            return;
        }
        let id = frame.id().cloned();
        let envelope = match read_envelope(&frame, None) {
            Ok(envelope) => envelope,
            Err(fault) => return self.refuse(&fault.into(), id.as_ref()).await,
        };
        let Some(id) = id else { return };
        let (cancel, mut cancelled) = oneshot::channel();
        if let Ok(mut open) = self.open.lock() {
            open.insert(id.clone(), cancel);
        }
        let decision = tokio::select! {
            decision = stateless::decide(&self.shard, self.profile, envelope, frame, None) => Some(decision),
            _ = &mut cancelled => None,
        };
        match decision {
            None => {}
            Some(Decision::Done(_, text)) => self.say(text).await,
            Some(Decision::Long(pieces)) => self.say(Bytes::from(pieces.concat())).await,
            Some(Decision::Call(mut call)) => {
                call.cancel_by(cancelled);
                self.drive(call).await;
            }
            Some(Decision::Listen(cell, frame)) => tokio::select! {
                () = self.listen(&cell, &frame, &id) => {}
                _ = cancelled => {}
            },
        }
        if let Ok(mut open) = self.open.lock() {
            open.remove(&id);
        }
    }

    async fn listen(&self, cell: &ViewCell, frame: &Frame, id: &Id) {
        let begun =
            Place::take(&self.shard).and_then(|place| Ok((place, Filter::read(&self.shard, cell, frame)?)));
        match begun {
            Err(fault) => self.refuse(&fault, Some(id)).await,
            Ok((_place, filter)) => {
                listen::serve(&self.shard, cell, filter, id, Sink::Lines(self.lines.clone())).await;
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
                // Only asked for where an answer can be passed on as it comes.
                Progress::Pass(_) | Progress::End => return false,
            }
            running = call.run();
        }
    }
}
