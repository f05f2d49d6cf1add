//! One forwarded request: the engine's exchange, performed over a link.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Answer, Event, Exchange, Headers, LinkFailure, Outbound, Route, Start, Step};
use proto::era::Era;
use proto::rpc::{Frame, code, error_response};
use tokio::sync::oneshot;
use tokio::time::sleep_until;
use transport::net::Body;
use transport::up::LinkError;

use super::deliver::deliver;
use super::link::{Item, LinkRef, OpenLink, Reply, Source};
use super::session::Session;
use super::upstream::{Kind, Upstream};
use super::{ANYONE, Shard};

/// What comes out of a call, step by step.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The answer; the call is over.
    Answer(Answer),
    /// A long answer on its way, which must be passed on as it comes; the call is over.
    Pass(Body),
    /// A message for the client before the answer.
    Relay(Bytes),
    /// The upstream closed its stream and will be asked again, after so many milliseconds.
    Paused(Option<u64>),
    /// Over, without an answer.
    End,
}

/// Who calls.
pub(crate) enum Caller {
    /// A client of a handshake era, in its session.
    Session(Arc<Session>),
    /// A stateless client of this kind.
    Stateless(Kind),
}

impl Caller {
    fn era(&self) -> &'static Era {
        match self {
            Self::Session(session) => session.kind.era,
            Self::Stateless(kind) => kind.era,
        }
    }
}

/// A running call.
pub(crate) struct Call {
    shard: Shard,
    exchange: Exchange,
    upstream: Arc<Upstream>,
    caller: Caller,
    link: Option<Arc<OpenLink>>,
    source: Option<Source>,
    cancelled: Option<oneshot::Receiver<Option<Frame>>>,
    over: bool,
    /// Whether the client takes an answer while it is still coming.
    takes_long: bool,
}

/// A call on its way to its next [`Progress`].
pub(crate) type Running = Pin<Box<dyn Future<Output = (Box<Call>, Progress)> + Send>>;

/// What a call begins with.
pub(crate) struct Request<'a> {
    pub(crate) frame: Frame,
    pub(crate) route: Route<'a>,
    pub(crate) headers: Option<&'a dyn Headers>,
    pub(crate) server_info: &'a str,
}

enum Happened {
    Replied(Result<Reply, LinkError>),
    Came(Result<Item, LinkError>),
    Cancelled(Option<Box<Frame>>),
    Late,
}

impl Call {
    /// Checks a request and makes it ready to go.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn begin(shard: &Shard, caller: Caller, request: Request<'_>) -> Result<Self, Fault> {
        let gateway = &shard.gateway;
        let upstream = gateway.upstream(request.route.upstream).clone();
        let (era, cancelled) = match &caller {
            Caller::Stateless(kind) => (kind.era, None),
            Caller::Session(session) => {
                let cancelled =
                    request.frame.id().and_then(|id| session.begin_call(id)).ok_or_else(|| {
                        let message = "a request with this id is open, or too many are; wait for an answer";
                        Fault::client(code::INVALID_REQUEST, message)
                    })?;
                (session.kind.era, Some(cancelled))
            }
        };
        let id = request.frame.id().cloned();
        let exchange = Exchange::begin(Start {
            frame: request.frame,
            era,
            route: request.route,
            key: gateway.next_key(),
            binding: gateway.binding(ANYONE, &upstream.spec.name, era),
            sealer: &gateway.seal,
            headers: request.headers,
            timeouts: upstream.spec.timeouts,
            server_info: request.server_info,
            now: Instant::now(),
        });
        let exchange = match exchange {
            Ok(exchange) => exchange,
            Err(fault) => {
                if let (Caller::Session(session), Some(id)) = (&caller, &id) {
                    session.end_call(id);
                }
                return Err(fault);
            }
        };
        let shard = shard.clone();
        Ok(Self {
            shard,
            exchange,
            upstream,
            caller,
            link: None,
            source: None,
            cancelled,
            over: false,
            takes_long: false,
        })
    }

    /// Lets a stateless request be cancelled by a notification, where there is no stream of its own to close.
    pub(crate) fn cancel_by(&mut self, cancelled: oneshot::Receiver<Option<Frame>>) {
        self.cancelled = Some(cancelled);
    }

    /// Goes on until there is something for the client. The future owns the call, so that who waits for it can move on to
    /// other things without breaking off what the call does.
    pub(crate) fn run(mut self: Box<Self>) -> Running {
        Box::pin(async move {
            let progress = self.step().await;
            (self, progress)
        })
    }

    async fn step(&mut self) -> Progress {
        loop {
            while let Some(step) = self.exchange.poll() {
                match step {
                    Step::Send(outbound) => {
                        if let Some(passing) = self.send(outbound).await {
                            return passing;
                        }
                    }
                    Step::Relay(text) => return Progress::Relay(text),
                    Step::Ask(question) => {
                        if let Some(text) = Box::pin(self.ask(&question)).await {
                            return Progress::Relay(text);
                        }
                        self.feed(Event::Answered);
                    }
                    Step::Withdraw(notice) => {
                        if let Some(text) = self.withdraw(&notice) {
                            return Progress::Relay(text);
                        }
                    }
                    Step::Cancel(notice) => Box::pin(self.tell_cancelled(notice)).await,
                    Step::Answer(answer) => {
                        self.over = true;
                        if let Some(source) = self.source.take() {
                            source.finish();
                        }
                        return Progress::Answer(answer);
                    }
                    Step::End => {
                        self.over = true;
                        return Progress::End;
                    }
                }
            }
            if self.over {
                return Progress::End;
            }
            let limits = self.shard.gateway.frame_limits();
            let deadline = self.exchange.deadline();
            let Some(source) = &mut self.source else {
                self.feed(Event::Failed(LinkFailure { message: "gave no answer".to_owned(), retry: false }));
                continue;
            };
            let happened = tokio::select! {
                item = source.next(&self.shard.client, limits) => Happened::Came(item),
                notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
                () = sleep_until(deadline.into()) => Happened::Late,
            };
            if let Some(progress) = self.take(happened) {
                return progress;
            }
        }
    }

    fn take(&mut self, happened: Happened) -> Option<Progress> {
        match happened {
            Happened::Replied(Ok(Reply::Whole(frame, status))) => self.feed(Event::Frame(frame, status)),
            Happened::Replied(Ok(Reply::Source(source))) => self.source = Some(source),
            // Read to its end before it comes here.
            Happened::Replied(Ok(Reply::Long(_))) => {}
            Happened::Came(Ok(Item::Frame(frame))) => self.feed(Event::Frame(frame, None)),
            Happened::Came(Ok(Item::Paused(retry))) => return Some(Progress::Paused(retry)),
            Happened::Replied(Err(e)) | Happened::Came(Err(e)) => {
                let message = self.upstream.told(&e);
                self.feed(Event::Failed(LinkFailure { message, retry: e.not_executed() }));
            }
            Happened::Cancelled(notice) => self.feed(Event::Cancelled(notice)),
            Happened::Late => self.feed(Event::Expired),
        }
        None
    }

    fn feed(&mut self, event: Event) {
        let gateway = &self.shard.gateway;
        let binding = gateway.binding(ANYONE, self.upstream.name(), self.caller.era());
        self.exchange.feed(event, &gateway.seal, binding, Instant::now());
    }

    async fn send(&mut self, outbound: Outbound) -> Option<Progress> {
        let deadline = self.exchange.deadline();
        let Self { shard, upstream, caller, link, cancelled, exchange, .. } = self;
        let happened = tokio::select! {
            reply = deliver(shard, upstream, caller, link, outbound, exchange.token()) => Happened::Replied(reply),
            notice = cancellation(cancelled) => Happened::Cancelled(notice),
            () = sleep_until(deadline.into()) => Happened::Late,
        };
        let Happened::Replied(Ok(Reply::Long(long))) = happened else { return self.take(happened) };
        if self.takes_long
            && !(self.caller.era().batches && long.head.trim_ascii_start().starts_with(b"["))
            && let Some(swap) = self.exchange.pass(&long.head)
        {
            self.over = true;
            return Some(match long.pass(swap) {
                Ok(body) => Progress::Pass(body),
                Err(e) => Progress::Answer(self.failed(&e)),
            });
        }
        let (limits, era) = (self.shard.gateway.frame_limits(), self.caller.era());
        let happened = tokio::select! {
            text = long.read() => {
                Happened::Replied(text.and_then(|text| Reply::of(text, Some(200), era, limits)))
            }
            notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
            () = sleep_until(deadline.into()) => Happened::Late,
        };
        self.take(happened)
    }

    /// The answer to a client whose exchange is over already.
    fn failed(&self, error: &LinkError) -> Answer {
        let name = self.upstream.name();
        let fault = Fault::upstream(name, false, format!("server {name:?} {}", self.upstream.told(error)));
        Answer { status: 200, body: fault.response(Some(self.exchange.id())), ok: false }
    }

    /// The client takes an answer while it is still coming.
    pub(crate) fn take_long(&mut self) {
        self.takes_long = true;
    }

    /// Puts an upstream's question to the client: the text for the client's stream, if it can be asked.
    async fn ask(&self, question: &Frame) -> Option<Bytes> {
        let link = self.link.as_ref()?;
        let refusal = match &self.caller {
            Caller::Session(session) if link.own => {
                match session.asks.lock().ask(LinkRef(link.clone()), question, Instant::now()) {
                    Ok(text) => return Some(text),
                    Err(fault) => fault.to_string(),
                }
            }
            _ => "this client cannot be asked".to_owned(),
        };
        refuse_question(&self.shard, link, question, &refusal).await;
        None
    }

    /// Takes an upstream's question back: the text for the client's stream, if the client was asked.
    fn withdraw(&self, notice: &Frame) -> Option<Bytes> {
        let Caller::Session(session) = &self.caller else { return None };
        session.asks.lock().withdraw(&LinkRef(self.link.clone()?), notice)
    }

    async fn tell_cancelled(&mut self, notice: Bytes) {
        // A stateless HTTP request is cancelled by closing its stream.
        self.source = None;
        let Some(link) = &self.link else { return };
        if link.hears_cancellation()
            && let Err(e) = link.notify(&self.shard.client, notice).await
        {
            tracing::debug!(server = %self.upstream.name(), "a cancellation was not taken: {}", self.upstream.told(&e));
        }
    }
}

/// Waits for the client's cancellation, if there can be one.
async fn cancellation(cancelled: &mut Option<oneshot::Receiver<Option<Frame>>>) -> Option<Box<Frame>> {
    let Some(receiver) = cancelled else { return std::future::pending().await };
    let notice = receiver.await;
    *cancelled = None;
    notice.ok().flatten().map(Box::new)
}

/// Answers an upstream's question in the place of a client that cannot be asked.
pub(crate) async fn refuse_question(shard: &Shard, link: &OpenLink, question: &Frame, why: &str) {
    let text = error_response(question.id(), code::METHOD_NOT_FOUND, why, None);
    if let Err(e) = link.notify(&shard.client, text).await {
        tracing::debug!(server = %link.upstream.name(), "a refusal was not taken: {}", link.upstream.told(&e));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Caller::Session(session) = &self.caller {
            session.end_call(self.exchange.id());
        }
        let Some(link) = self.link.take() else { return };
        if let Some(token) = self.exchange.token() {
            link.forget_progress(token.key);
        }
        // The client is gone. Where that means that it wants no answer, its upstream is told.
        if self.over || !link.era.disconnect_cancels || !link.hears_cancellation() {
            return;
        }
        self.feed(Event::Cancelled(None));
        let notices: Vec<Bytes> = std::iter::from_fn(|| self.exchange.poll())
            .filter_map(|step| if let Step::Cancel(notice) = step { Some(notice) } else { None })
            .collect();
        let shard = self.shard.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for notice in notices {
                    let _ = link.notify(&shard.client, notice).await;
                }
            });
        }
    }
}
