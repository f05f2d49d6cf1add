//! One forwarded request: the engine's exchange, performed over a link.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::Fault;
use engine::access::CallPlace;
use engine::exchange::{Answer, Event, Exchange, LinkFailure, Outbound, Step, Ticket};
use proto::bridge::input::Question;
use proto::rpc::{Frame, FrameLimits, Id, code, error_response};
use tokio::sync::oneshot;
use tokio::time::timeout;
use transport::net::Body;
use transport::up::{LinkError, Owner};

use crate::gateway::call::CallContext;
use crate::gateway::call::caller::Caller;
use crate::gateway::call::deliver::{Way, deliver};
use crate::gateway::call::late::Late;
use crate::gateway::call::mail::{Mail, letter};
use crate::gateway::call::record::Record;
use crate::gateway::session::asker::Asker;
use upstream::Upstream;
use upstream::embedded::Carried;
use upstream::link::reply::{Item, Reply, Source};
use upstream::link::{Inbound, Needed};
use upstream::pool::Lease;

/// The time for which a cancellation waits for the request on its way, where it is told by a message of its own.
const SETTLE: Duration = Duration::from_millis(250);

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
    /// The client is asked by this answer; the call waits for it under the ticket ([`Call::park`]).
    Park(Ticket, Answer),
    /// Over, without an answer.
    End,
}

/// A running call.
pub(crate) struct Call {
    pub(crate) context: Arc<CallContext>,
    pub(crate) exchange: Exchange,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) caller: Caller,
    /// Whose what its upstream says meanwhile is.
    pub(crate) owner: Owner,
    pub(crate) link: Option<Needed>,
    pub(crate) source: Option<Source>,
    pub(crate) cancelled: Option<oneshot::Receiver<Option<Frame>>>,
    pub(crate) over: bool,
    /// True if the client takes an answer while it is still coming.
    pub(crate) takes_long: bool,
    /// The time when the call is polled again at the latest, if nothing has happened by then; it counts for what is
    /// sent at once.
    pub(crate) attended_until: Option<Instant>,
    /// What its request carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// Its place among its caller's, while it runs and its caller has no session.
    pub(crate) place: Option<CallPlace>,
    /// What is written down of it.
    pub(crate) record: Option<Box<Record>>,
    /// What its client is told instead if it fails.
    pub(crate) veil: Option<Box<Fault>>,
    /// True if its upstream's lists were asked for again on its account.
    pub(crate) relisted: bool,
    /// The key under which its link tells of progress.
    pub(crate) progress: Option<u64>,
    /// A link that is this call's alone, and the log level that it is to be told.
    pub(crate) lease: Option<(Lease, Option<Bytes>)>,
    /// What reaches it beside its own stream, and where that is sent; only between different eras.
    pub(crate) mail: Option<Box<Mail>>,
}

/// A call on its way to its next [`Progress`].
pub(crate) type Running = Pin<Box<dyn Future<Output = (Box<Call>, Progress)> + Send>>;

enum Happened {
    Replied(Result<Reply, LinkError>),
    Came(Result<Item, LinkError>),
    Mail(Inbound),
    Cancelled(Option<Frame>),
    Late,
}

impl Call {
    /// Lets a stateless request be cancelled by a notification, where there is no stream of its own to close.
    pub(crate) fn cancel_by(&mut self, cancelled: oneshot::Receiver<Option<Frame>>) {
        self.cancelled = Some(cancelled);
    }

    /// Goes on until there is something for the client. The future owns the call, so that who waits for it can move on to
    /// other things without breaking off what the call does. It is made in its box, not copied there.
    pub(crate) fn run(mut self: Box<Self>) -> Running {
        let running = Box::write(Box::new_uninit(), async move {
            let attended = self.attended_until.take();
            let progress = self.step(attended).await;
            (self, progress)
        });
        Box::into_pin(running)
    }

    async fn step(&mut self, mut attended: Option<Instant>) -> Progress {
        loop {
            if let Some(progress) = self.perform(attended.take()).await {
                return progress;
            }
            if self.over {
                return Progress::End;
            }
            let limits = self.context.egress.frame_limits();
            let deadline = self.exchange.deadline();
            let waiting = self.exchange.is_waiting();
            if waiting && let Some(source) = self.source.take() {
                source.finish();
            }
            if self.source.is_none() && !waiting {
                self.feed(Event::Failed(LinkFailure { message: "gave no answer".to_owned(), retry: false }));
                continue;
            }
            let happened = tokio::select! {
                item = next(&mut self.source, &self.context, limits) => Happened::Came(item),
                notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
                mail = letter(&mut self.mail) => Happened::Mail(mail),
                () = Late::new(deadline) => Happened::Late,
            };
            if let Some(progress) = self.take(happened) {
                return progress;
            }
        }
    }

    /// Does what the exchange wants done, until there is something for the client.
    async fn perform(&mut self, mut attended: Option<Instant>) -> Option<Progress> {
        while let Some(step) = self.exchange.poll() {
            match step {
                Step::Send(outbound) => {
                    if let Some(passing) = self.send(outbound, attended.take()).await {
                        return Some(passing);
                    }
                }
                Step::Relay(text) if self.is_unwanted(&text) => {}
                Step::Relay(text) => return Some(Progress::Relay(text)),
                Step::Ask(question) => {
                    if let Some(text) = self.ask(&question) {
                        return Some(Progress::Relay(text));
                    }
                    self.feed(Event::Answered);
                }
                Step::Put(question) => {
                    if let Some(text) = self.put(&question) {
                        return Some(Progress::Relay(text));
                    }
                }
                Step::Refuse(question, why) => {
                    if let Some(link) = &self.link {
                        link.refuse(&self.context.egress, &question, &why);
                    }
                }
                Step::Tell(text) => {
                    if let Some(link) = &self.link {
                        link.say(&self.context.egress, text);
                    }
                }
                Step::Park(ticket, answer) => {
                    if let Some(record) = &mut self.record {
                        record.answered(&answer);
                    }
                    return Some(Progress::Park(ticket, answer));
                }
                Step::Withdraw(notice) => {
                    if let Some(text) = self.withdraw(&notice) {
                        return Some(Progress::Relay(text));
                    }
                }
                Step::Cancel(notice) => Box::pin(self.tell_cancelled(notice)).await,
                Step::Answer(_) if self.exchange.is_misheaded() && Box::pin(self.relist()).await => {}
                Step::Answer(answer) => return Some(Progress::Answer(self.end_pointing(answer))),
                Step::End => {
                    self.over = true;
                    return Some(Progress::End);
                }
            }
        }
        None
    }

    /// Hears what the upstream says while the client is away that was asked by a result. Never returns, so that whoever
    /// waits for the client can stop it at any time.
    pub(crate) async fn attend(&mut self) -> std::convert::Infallible {
        loop {
            while let Some(step) = self.exchange.poll() {
                let Some(link) = self.link.as_deref().cloned() else { continue };
                match step {
                    Step::Refuse(question, why) => link.refuse(&self.context.egress, &question, &why),
                    Step::Tell(text) => link.say(&self.context.egress, text),
                    _ => {}
                }
            }
            if self.exchange.is_settled() {
                self.leave_lease();
                drop(self.lease.take());
                if let Some(source) = self.source.take() {
                    source.finish();
                }
                return std::future::pending().await;
            }
            let limits = self.context.egress.frame_limits();
            let happened = tokio::select! {
                item = next(&mut self.source, &self.context, limits) => Happened::Came(item),
                mail = letter(&mut self.mail) => Happened::Mail(mail),
            };
            // A pause is nobody's business now.
            let _ = self.take(happened);
        }
    }

    fn take(&mut self, happened: Happened) -> Option<Progress> {
        match happened {
            Happened::Replied(Ok(Reply::Whole(frame, status))) => self.feed(Event::Frame(frame, status)),
            Happened::Replied(Ok(Reply::Source(source))) => self.source = Some(source),
            // Read to its end before it comes here.
            Happened::Replied(Ok(Reply::Long(_))) => {}
            Happened::Came(Ok(Item::Frame(frame))) | Happened::Mail(Inbound::Frame(frame)) => {
                self.feed(Event::Frame(frame, None));
            }
            Happened::Came(Ok(Item::Paused(retry))) => return Some(Progress::Paused(retry)),
            Happened::Replied(Err(e)) | Happened::Came(Err(e)) => {
                let message = self.upstream.server.told(&e);
                self.feed(Event::Failed(LinkFailure { message, retry: e.not_executed() }));
            }
            Happened::Mail(Inbound::Reply(index, frame)) => self.feed(Event::Replied(index, frame)),
            Happened::Cancelled(notice) => self.feed(Event::Cancelled(notice)),
            Happened::Late => self.feed(Event::Expired),
        }
        None
    }

    pub(crate) fn feed(&mut self, event: Event) {
        let context = &self.context;
        let binding = context.binding(self.caller.owner(), self.upstream.name(), self.caller.era());
        self.exchange.feed(event, context.sealer(), binding, Instant::now());
    }

    async fn send(&mut self, outbound: Outbound, attended: Option<Instant>) -> Option<Progress> {
        let key = self.exchange.token().map(|token| token.key);
        if let (Some(link), Some(old)) = (&self.link, std::mem::replace(&mut self.progress, key)) {
            link.forget_progress(old);
        }
        let spare = self.upstream.server.spec.apart.then(|| outbound.clone());
        let mut happened = self.sent(outbound, attended).await;
        if let (Happened::Replied(Err(LinkError::Unauthorized(_))), Some(outbound)) = (&happened, spare)
            && self.part()
        {
            happened = Box::pin(self.sent(outbound, None)).await;
        }
        let Happened::Replied(Ok(Reply::Long(long))) = happened else { return self.take(happened) };
        if self.takes_long
            && self.veil.is_none()
            && !(self.caller.era().batches && long.head.trim_ascii_start().starts_with(b"["))
            && let Some(swap) = self.exchange.pass(&long.head)
        {
            self.over = true;
            if let Some(record) = &mut self.record {
                record.passed(long.length());
            }
            return Some(match long.pass(swap) {
                Ok(body) => Progress::Pass(body),
                Err(e) => Progress::Answer(self.failed(&e)),
            });
        }
        let limits = self.context.egress.frame_limits();
        let era = self.link.as_ref().map_or(self.caller.era(), |link| link.era);
        let happened = tokio::select! {
            text = long.read() => {
                Happened::Replied(text.and_then(|text| Reply::of(text, Some(200), era, limits)))
            }
            notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
            () = Late::new(self.exchange.deadline()) => Happened::Late,
        };
        self.take(happened)
    }

    /// Sends a request, and waits for the beginning of a reply.
    async fn sent(&mut self, outbound: Outbound, attended: Option<Instant>) -> Happened {
        let (deadline, settles) = (self.exchange.deadline(), !outbound.era.disconnect_cancels);
        let late = Late::attended(deadline, attended);
        let Self {
            context, upstream, caller, owner, link, cancelled, exchange, lease, mail, carried, ..
        } = self;
        let carried = carried.as_deref();
        let (lease, mail) = (lease.as_ref(), mail.as_deref());
        let way = Way { upstream, caller, lease, mail, owner: *owner, carried };
        let mut delivering = pin!(deliver(context, way, link, outbound, exchange.token()));
        tokio::select! {
            // The reply first: what woke the call is nearly always that, and then no timer is set.
            biased;
            reply = &mut delivering => Happened::Replied(reply),
            notice = cancellation(cancelled) => {
                if settles {
                    // Else the notice might overtake its request, which would then run for nobody.
                    let _ = timeout(SETTLE, delivering).await;
                }
                Happened::Cancelled(notice)
            }
            () = late => Happened::Late,
        }
    }

    /// The answer to a client whose exchange is over already.
    fn failed(&self, error: &LinkError) -> Answer {
        let name = self.upstream.name();
        let fault =
            Fault::upstream(name, false, format!("server {name:?} {}", self.upstream.server.told(error)));
        Answer::fault(200, fault, self.exchange.id())
    }

    /// The client takes an answer while it is still coming, and whoever waits for the first word polls the call again at
    /// `silent` if it has not come by then.
    pub(crate) fn attend_until(&mut self, silent: Instant) {
        self.takes_long = true;
        self.attended_until = Some(silent);
    }

    /// Puts an upstream's question to the client: the text for the client's stream, if it can be asked.
    fn ask(&self, question: &Frame) -> Option<Bytes> {
        let link = self.link.as_deref()?;
        let refusal = match &self.caller {
            Caller::Session(session) if link.own => {
                match session.asks.lock().ask(Asker::Link(link.clone()), question, Instant::now()) {
                    Ok(text) => return Some(text),
                    Err(fault) => fault.to_string(),
                }
            }
            _ => "this client cannot be asked".to_owned(),
        };
        link.refuse(&self.context.egress, question, &refusal);
        None
    }

    /// Puts a question that an upstream's result had to the client: the text for the client's stream, if it can be asked.
    fn put(&mut self, question: &Question) -> Option<Bytes> {
        let limits = self.context.egress.frame_limits();
        let refusal = match (&self.caller, &self.mail) {
            (Caller::Session(session), Some(mail)) => {
                let asker = Asker::Call(mail.number, question.index, mail.sender.clone());
                match session.asks.lock().put(asker, question, limits, Instant::now()) {
                    Ok(text) => return Some(text),
                    Err(fault) => fault.to_string(),
                }
            }
            _ => "this client cannot be asked".to_owned(),
        };
        let refusal = error_response(Some(&Id::number(0)), code::INTERNAL_ERROR, &refusal, None);
        if let Ok(frame) = Frame::parse(refusal, limits) {
            self.feed(Event::Replied(question.index, frame));
        }
        None
    }

    /// Takes an upstream's question back: the text for the client's stream, if the client was asked.
    fn withdraw(&self, notice: &Frame) -> Option<Bytes> {
        let Caller::Session(session) = &self.caller else { return None };
        session.asks.lock().withdraw(&Asker::Link(self.link.as_deref()?.clone()), notice)
    }
}

/// The next message of the upstream, when one may come.
async fn next(
    source: &mut Option<Source>,
    context: &Arc<CallContext>,
    limits: FrameLimits,
) -> Result<Item, LinkError> {
    match source {
        Some(source) => source.next(&context.egress.client, limits).await,
        None => std::future::pending().await,
    }
}

/// Waits for the client's cancellation, if there can be one.
async fn cancellation(cancelled: &mut Option<oneshot::Receiver<Option<Frame>>>) -> Option<Frame> {
    let Some(receiver) = cancelled else { return std::future::pending().await };
    let notice = receiver.await;
    *cancelled = None;
    notice.ok().flatten()
}
