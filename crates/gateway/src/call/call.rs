//! One forwarded request: the engine's exchange, performed over a link.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::Fault;
use engine::access::CallPlace;
use engine::exchange::{Event, Exchange, ExchangeAnswer, Execution, Outbound, ResendPolicy, Step, Ticket};
use proto::rpc::{Frame, FrameLimits};
use tokio::sync::oneshot;
use tokio::time::timeout;
use transport::net::Body;
use transport::up::{LinkError, Owner};

use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::deliver::{Delivery, deliver};
use crate::call::late::Late;
use crate::call::record::Record;
use crate::call::relist::Rewrites;
use crate::call::side_channel::{SideChannel, next_message};
use upstream::Upstream;
use upstream::embedded::Carried;
use upstream::link::reply::{Item, Reply, ReplySource};
use upstream::link::{HeldLink, Inbound};
use upstream::pool::Lease;

/// The time for which a cancellation waits for a request that is being sent, if it is a message of its own.
const SETTLE: Duration = Duration::from_millis(250);

/// An item that a call produces.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The answer; the call is over.
    Answer(ExchangeAnswer),
    /// A long answer that is still arriving, to be passed on as it comes; the call is over.
    Pass(Body),
    /// A message for the client before the answer.
    Relay(Bytes),
    /// The upstream closed its stream and will be asked again, after this many milliseconds.
    Paused(Option<u64>),
    /// The answer asks the client something; the call waits for it under the ticket ([`Call::park`]).
    Park(Ticket, ExchangeAnswer),
    /// The call is over, without an answer.
    End,
}

/// A running call.
pub(crate) struct Call {
    pub(crate) context: Arc<CallContext>,
    pub(crate) exchange: Exchange,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) caller: Caller,
    /// The owner of messages that its upstream sends meanwhile.
    pub(crate) owner: Owner,
    pub(crate) link: Option<HeldLink>,
    pub(crate) source: Option<ReplySource>,
    pub(crate) cancelled: Option<oneshot::Receiver<Option<Frame>>>,
    pub(crate) over: bool,
    /// True if the client accepts an answer while it is still arriving.
    pub(crate) takes_long: bool,
    /// The time when the call is polled again at the latest; used for what is sent at once.
    pub(crate) attended_until: Option<Instant>,
    /// The credentials that its request carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// Its permit among its caller's calls, if the caller has no session.
    pub(crate) place: Option<CallPlace>,
    /// Its record for the audit.
    pub(crate) record: Option<Box<Record>>,
    /// The fault that its client gets instead if it fails.
    pub(crate) masked: Option<Box<Fault>>,
    /// The reasons for which its request may still be written again.
    pub(super) rewrites: Rewrites,
    /// The key of its progress notifications on its link.
    pub(crate) progress: Option<u64>,
    /// A link of its own, and the log level to set there.
    pub(crate) lease: Option<(Lease, Option<Bytes>)>,
    /// Messages that reach it beside its own stream, and their sink; only between different eras.
    pub(crate) side_channel: Option<Box<SideChannel>>,
    /// The rules for sending its request again if a link fails.
    pub(crate) resend: ResendPolicy,
    /// Its request, while it may be sent again although it may have been executed.
    pub(crate) repeatable: Option<Outbound>,
}

/// A call on its way to its next [`Progress`].
pub(crate) type Running = Pin<Box<dyn Future<Output = (Box<Call>, Progress)> + Send>>;

pub(super) enum Happened {
    Replied(Result<Reply, LinkError>),
    Came(Result<Item, LinkError>),
    SideChannel(Inbound),
    Cancelled(Option<Frame>),
    Late,
}

impl Call {
    /// Makes a stateless request cancellable by a notification, if it has no stream of its own to close.
    pub(crate) fn cancel_by(&mut self, cancelled: oneshot::Receiver<Option<Frame>>) {
        self.cancelled = Some(cancelled);
    }

    /// Runs until there is something for the client. The future owns the call, so that its waiter can do other things
    /// without interrupting it. It is built in its box, not copied there.
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
                self.fail_in_words("gave no answer".to_owned(), Execution::Unknown);
                continue;
            }
            let happened = tokio::select! {
                item = next(&mut self.source, &self.context, limits) => Happened::Came(item),
                notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
                side_channel = next_message(&mut self.side_channel) => Happened::SideChannel(side_channel),
                () = Late::new(deadline) => Happened::Late,
            };
            let progress = match self.repeats(&happened) {
                Some((outbound, pause)) => Box::pin(self.send_again(outbound, pause)).await,
                None => self.take(happened),
            };
            if let Some(progress) = progress {
                return progress;
            }
        }
    }

    /// Performs the exchange's steps until there is something for the client.
    async fn perform(&mut self, mut attended: Option<Instant>) -> Option<Progress> {
        while let Some(step) = self.exchange.poll() {
            match step {
                Step::Send(outbound) => {
                    if let Some(passing) = self.send(outbound, attended.take()).await {
                        return Some(passing);
                    }
                }
                Step::Relay(text) if self.is_unwanted(&text) => {}
                Step::Relay(text) => {
                    self.resend.speak();
                    return Some(Progress::Relay(text));
                }
                Step::Ask(question) => {
                    self.resend.speak();
                    if let Some(text) = self.ask(&question) {
                        return Some(Progress::Relay(text));
                    }
                    self.feed(Event::Answered);
                }
                Step::Put(question) => {
                    self.resend.speak();
                    if let Some(text) = self.put(&question) {
                        return Some(Progress::Relay(text));
                    }
                }
                Step::Refuse(question, why) => {
                    if let Some(link) = self.link() {
                        link.refuse(&self.context.egress, &question, &why);
                    }
                }
                Step::Tell(text) => {
                    if let Some(link) = self.link() {
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
                Step::Cancel(notice) => Box::pin(self.send_cancelled(notice)).await,
                Step::Answer(_) if self.exchange.is_header_mismatch() && Box::pin(self.relist()).await => {}
                Step::Answer(answer) => return Some(Progress::Answer(self.end_pointing(answer))),
                Step::End => {
                    self.over = true;
                    return Some(Progress::End);
                }
            }
        }
        None
    }

    /// Receives the upstream's messages while a client that was asked by a result is away. Never returns, so that the
    /// waiter can stop it at any time.
    pub(crate) async fn attend(&mut self) -> std::convert::Infallible {
        loop {
            while let Some(step) = self.exchange.poll() {
                let Some(link) = self.link().cloned() else { continue };
                match step {
                    Step::Refuse(question, why) => link.refuse(&self.context.egress, &question, &why),
                    Step::Tell(text) => link.say(&self.context.egress, text),
                    _ => {}
                }
            }
            if self.exchange.is_settled() {
                self.leave_lease();
                drop(self.lease.take());
                if let (Some(link), Some(key)) = (self.link.take(), self.progress.take()) {
                    link.link().forget_progress(key);
                }
                if let Some(source) = self.source.take() {
                    source.finish();
                }
                return std::future::pending().await;
            }
            let limits = self.context.egress.frame_limits();
            let happened = tokio::select! {
                item = next(&mut self.source, &self.context, limits) => Happened::Came(item),
                side_channel = next_message(&mut self.side_channel) => Happened::SideChannel(side_channel),
            };
            // A pause is nobody's business now.
            let _ = self.take(happened);
        }
    }

    pub(super) fn take(&mut self, happened: Happened) -> Option<Progress> {
        match happened {
            Happened::Replied(Ok(Reply::Whole(frame, status))) => self.feed(Event::Frame(frame, status)),
            Happened::Replied(Ok(Reply::Source(source))) => self.source = Some(source),
            // Read to its end before it comes here.
            Happened::Replied(Ok(Reply::Long(_))) => {}
            Happened::Came(Ok(Item::Frame(frame))) | Happened::SideChannel(Inbound::Frame(frame)) => {
                self.feed(Event::Frame(frame, None));
            }
            Happened::Came(Ok(Item::Paused(retry))) => return Some(Progress::Paused(retry)),
            Happened::Replied(Err(e)) | Happened::Came(Err(e)) => self.fail(&e),
            Happened::SideChannel(Inbound::Reply(index, frame)) => self.feed(Event::Replied(index, frame)),
            Happened::Cancelled(notice) => self.feed(Event::Cancelled(notice)),
            Happened::Late if self.link.is_none() && !self.exchange.is_waiting() => {
                self.feed(Event::Unreached);
            }
            Happened::Late => {
                self.note_silence();
                self.feed(Event::Expired);
            }
        }
        None
    }

    pub(crate) fn feed(&mut self, event: Event) {
        let context = &self.context;
        let binding = context.binding(self.caller.owner(), self.upstream.name(), self.caller.era());
        self.exchange.feed(event, context.sealer(), binding, Instant::now());
    }

    pub(super) async fn send(&mut self, outbound: Outbound, attended: Option<Instant>) -> Option<Progress> {
        let key = self.exchange.token().map(|token| token.key);
        if let (Some(old), Some(link)) = (std::mem::replace(&mut self.progress, key), self.link()) {
            link.forget_progress(old);
        }
        let mut happened = self.sent(&outbound, attended).await;
        while let Happened::Replied(Err(error)) = &happened {
            if let LinkError::OtherEra { speaks, .. } = error
                && self.rewrite(speaks)
            {
                return None;
            }
            happened = match self.pause_before_resend(error) {
                Some(pause) => Box::pin(self.sent_after(pause, &outbound)).await,
                None => break,
            };
        }
        self.keep_repeatable(outbound);
        self.take_reply(happened).await
    }

    /// Handles the beginning of a reply; a long one is passed on, or read.
    pub(super) async fn take_reply(&mut self, happened: Happened) -> Option<Progress> {
        let Happened::Replied(Ok(Reply::Long(long))) = happened else { return self.take(happened) };
        if self.takes_long
            && self.masked.is_none()
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
        let era = self.link().map_or(self.caller.era(), |link| link.era);
        let happened = tokio::select! {
            text = long.read() => {
                Happened::Replied(text.and_then(|text| Reply::of(text, Some(200), era, limits)))
            }
            notice = cancellation(&mut self.cancelled) => Happened::Cancelled(notice),
            () = Late::new(self.exchange.deadline()) => Happened::Late,
        };
        match self.repeats(&happened) {
            Some((outbound, pause)) => Box::pin(self.send_again(outbound, pause)).await,
            None => self.take(happened),
        }
    }

    /// Sends a request, and waits for the beginning of a reply.
    pub(super) async fn sent(&mut self, outbound: &Outbound, attended: Option<Instant>) -> Happened {
        let (deadline, settles) = (self.exchange.deadline(), !outbound.era.disconnect_cancels);
        let late = Late::attended(deadline, attended);
        let Self {
            context,
            upstream,
            caller,
            owner,
            link,
            cancelled,
            exchange,
            lease,
            side_channel,
            carried,
            resend,
            ..
        } = self;
        let carried = carried.as_deref();
        let (lease, side_channel) = (lease.as_ref(), side_channel.as_deref());
        let has_waited = resend.has_waited();
        let way = Delivery { upstream, caller, lease, side_channel, owner: *owner, carried, has_waited };
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
    fn failed(&self, error: &LinkError) -> ExchangeAnswer {
        let failure = self.failure(self.upstream.server.describe(error), error.execution());
        ExchangeAnswer::fault(200, failure.fault(self.upstream.name()), self.exchange.id())
    }

    /// Declares that the client accepts an answer while it is still arriving, and that its waiter polls the call again at
    /// `silent` if nothing has come by then.
    pub(crate) fn attend_until(&mut self, silent: Instant) {
        self.takes_long = true;
        self.attended_until = Some(silent);
    }
}

/// The next message of the upstream, if one may come.
async fn next(
    source: &mut Option<ReplySource>,
    context: &Arc<CallContext>,
    limits: FrameLimits,
) -> Result<Item, LinkError> {
    match source {
        Some(source) => source.next(context.egress.client(), limits).await,
        None => std::future::pending().await,
    }
}

/// Waits for the client's cancellation, if there can be one.
pub(super) async fn cancellation(cancelled: &mut Option<oneshot::Receiver<Option<Frame>>>) -> Option<Frame> {
    let Some(receiver) = cancelled else { return std::future::pending().await };
    let notice = receiver.await;
    *cancelled = None;
    notice.ok().flatten()
}
