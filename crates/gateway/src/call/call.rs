//! One forwarded request: the engine's exchange, performed over a link.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::access::CallPlace;
use engine::exchange::{Event, Exchange, ExchangeAnswer, Execution, Outbound, Step, Ticket};
use proto::rpc::Frame;
use tokio::time::timeout;
use transport::net::Body;
use transport::up::{LinkError, LongReply};

use crate::admission::audit::ReasonKind;
use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::capture::Lane;
use crate::call::connection::CallConnection;
use crate::call::deliver::{Delivery, deliver};
use crate::call::in_progress::CallEntry;
use crate::call::input::CallInput;
use crate::call::lazy_deadline::LazyDeadline;
use crate::call::record::Record;
use crate::call::result_rules::ResultRules;
use crate::call::retries::Retries;
use crate::call::side_channel::{SideChannel, next_message};
use crate::call::turn::CallTurn;
use crate::call::waiting_client::WaitingClient;
use upstream::Upstream;
use upstream::link::Inbound;
use upstream::link::reply::{Item, Reply};

/// The maximum time that a cancellation waits while its request is still being sent.
const SETTLE: Duration = Duration::from_millis(250);

/// A result or message that a running call produces.
#[derive(Debug)]
pub enum Progress {
    /// The answer; the call is over.
    Answer(ExchangeAnswer),
    /// A long answer that is still arriving, and that the client receives as it arrives; the call is over.
    Pass(Body),
    /// A message that the client receives before the answer.
    Relay(Bytes),
    /// The upstream closed its stream and will be asked again after this many milliseconds.
    Paused(Option<u64>),
    /// The answer contains questions for the client. The call waits under this ticket until the client sends its
    /// replies ([`Call::park`]).
    Park(Ticket, ExchangeAnswer),
    /// The call is over and has no answer.
    End,
}

/// A running call.
pub struct Call {
    pub(crate) context: Arc<CallContext>,
    pub(crate) exchange: Exchange,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) caller: Caller,
    pub(crate) connection: CallConnection,
    pub(crate) client: WaitingClient,
    pub(crate) retries: Retries,
    pub(crate) over: bool,
    /// The permit that counts the call toward its caller's limit, if the caller has no session.
    pub(crate) place: Option<CallPlace>,
    /// The call's turn at its server. The number of calls that run at one server is limited.
    pub(super) turn: CallTurn,
    /// The call's entry among the calls in progress.
    pub(super) entry: Option<CallEntry>,
    /// The call's entry in the record of calls.
    pub(crate) record: Option<Box<Record>>,
    /// The rules for the call's result and tool, if there are any.
    pub(super) rules: Option<Box<ResultRules>>,
    /// The channel for messages outside the call's own stream; needed only on a dedicated link, and for the client's
    /// replies to questions from a result.
    pub(crate) side_channel: Option<SideChannel>,
}

/// A running call; the future completes with the call's next [`Progress`].
pub(crate) type Running = Pin<Box<dyn Future<Output = (Box<Call>, Progress)> + Send>>;

impl Call {
    /// Runs until there is output for the client. The future owns the call, so the caller can do other work
    /// meanwhile without interrupting the call. The future is constructed inside its box, to avoid a copy.
    pub fn run(mut self: Box<Self>) -> Running {
        let running = Box::write(Box::new_uninit(), async move {
            let attended = self.client.attended_until.take();
            let progress = self.step(attended).await;
            if let (Some(record), Progress::Relay(text)) = (&self.record, &progress) {
                record.capture(Lane::ToClient, text);
            }
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
            if self.retries.held.is_some() && !waiting {
                match Box::pin(self.send_held()).await {
                    Some(progress) => return progress,
                    None => continue,
                }
            }
            if waiting {
                self.connection.finish_source();
            }
            if self.connection.source.is_none() && !waiting {
                self.fails_by(ReasonKind::Ended);
                self.fail_in_words("gave no answer".to_owned(), Execution::Unknown);
                continue;
            }
            let input = tokio::select! {
                item = self.connection.next_item(&self.context, limits) => CallInput::Item(item),
                notice = self.client.cancellation() => CallInput::Cancelled(notice),
                side_channel = next_message(&mut self.side_channel) => CallInput::SideChannel(side_channel),
                () = LazyDeadline::new(deadline) => CallInput::Late,
            };
            let progress = match self.repeats(&input) {
                Some((outbound, pause)) => Box::pin(self.send_again(outbound, pause)).await,
                None => self.take(input),
            };
            if let Some(progress) = progress {
                return progress;
            }
        }
    }

    /// Performs the exchange's steps until there is output for the client.
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
                    self.retries.policy.speak();
                    return Some(Progress::Relay(text));
                }
                Step::Ask(question) => {
                    self.retries.policy.speak();
                    if let Some(text) = self.ask(&question) {
                        return Some(Progress::Relay(text));
                    }
                    self.feed(Event::Answered);
                }
                Step::Put(question) => {
                    self.retries.policy.speak();
                    if let Some(text) = self.put(&question) {
                        return Some(Progress::Relay(text));
                    }
                }
                Step::Refuse(question, why) => {
                    if let Some(link) = self.link() {
                        link.refuse(&self.context.egress, &question, &why);
                    }
                }
                Step::Tell(text) => self.tell(text),
                // The server has not got the request.
                Step::Cancel(_) if self.retries.held.is_some() => {}
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

    /// Receives the upstream's messages while the client, which has received questions in a result, prepares its
    /// replies. Never returns; the waiter can drop the future at any time.
    pub(crate) async fn attend(&mut self) -> std::convert::Infallible {
        loop {
            while let Some(step) = self.exchange.poll() {
                let Some(link) = self.link().cloned() else { continue };
                match step {
                    Step::Refuse(question, why) => link.refuse(&self.context.egress, &question, &why),
                    Step::Tell(text) => link.enqueue(&self.context.egress, text),
                    _ => {}
                }
            }
            if self.exchange.is_settled() {
                self.leave_dedicated_link();
                self.connection.leave();
                return std::future::pending().await;
            }
            let limits = self.context.egress.frame_limits();
            let input = tokio::select! {
                item = self.connection.next_item(&self.context, limits) => CallInput::Item(item),
                side_channel = next_message(&mut self.side_channel) => CallInput::SideChannel(side_channel),
            };
            // Nobody waits for the progress of a parked call, so the progress is dropped.
            let _ = self.take(input);
        }
    }

    pub(super) fn take(&mut self, input: CallInput) -> Option<Progress> {
        match input {
            CallInput::Replied(Ok(Reply::Whole(frame, status))) => self.feed(Event::Frame(frame, status)),
            CallInput::Replied(Ok(Reply::Source(source))) => self.connection.source = Some(source),
            // A long reply has been read to its end before it arrives here.
            CallInput::Replied(Ok(Reply::Long(_))) => {}
            CallInput::Item(Ok(Item::Frame(frame))) | CallInput::SideChannel(Inbound::Frame(frame)) => {
                if self.refuses_doubtful(&frame) {
                    self.hear(&frame, Instant::now());
                } else {
                    self.feed(Event::Frame(frame, None));
                }
            }
            CallInput::Item(Ok(Item::Paused(retry))) => return Some(Progress::Paused(retry)),
            CallInput::Replied(Err(e)) | CallInput::Item(Err(e)) => self.fail(&e),
            CallInput::AskedFirst(question) => self.feed(Event::Frame(question, None)),
            CallInput::SideChannel(Inbound::Reply(index, frame)) => self.feed(Event::Replied(index, frame)),
            CallInput::Cancelled(notice) => self.feed(Event::Cancelled(notice)),
            CallInput::Late => self.late(),
        }
        None
    }

    /// Notes a message of the server for the call's rules and its record.
    fn hear(&mut self, frame: &Frame, now: Instant) {
        if let Some(entry) = &self.entry {
            entry.goes_on();
        }
        if let Some(rules) = &mut self.rules {
            rules.hear(frame, self.exchange.key());
        }
        if let Some(record) = &mut self.record {
            record.heard(now);
            record.capture(Lane::FromServer, frame.text());
        }
    }

    pub(crate) fn feed(&mut self, event: Event) {
        let now = Instant::now();
        if let Event::Frame(frame, _) = &event {
            self.hear(frame, now);
        }
        let context = &self.context;
        let binding = context.binding(self.caller.owner(), self.upstream.name(), self.caller.era());
        self.exchange.feed(event, context.sealer(), binding, now);
    }

    pub(super) async fn send(&mut self, outbound: Outbound, attended: Option<Instant>) -> Option<Progress> {
        if let Some(entry) = &self.entry {
            entry.goes_on();
        }
        self.connection.expect_progress(self.exchange.token().map(|token| token.key));
        let mut input = self.sent(&outbound, attended).await;
        while let CallInput::Replied(Err(error)) = &input {
            if let LinkError::OtherEra { speaks, .. } = error
                && self.rewrite(speaks)
            {
                return None;
            }
            input = match self.pause_before_resend(error) {
                Some(pause) => Box::pin(self.sent_after(pause, &outbound)).await,
                None => break,
            };
        }
        self.keep_request(outbound, &input);
        self.take_reply(input).await
    }

    /// Handles the beginning of a reply. A long reply is passed on, or read to its end.
    pub(super) async fn take_reply(&mut self, input: CallInput) -> Option<Progress> {
        let CallInput::Replied(Ok(Reply::Long(long))) = input else { return self.take(input) };
        if self.client.takes_long
            && self.client.masked.is_none()
            && self.rules.as_ref().is_none_or(|rules| rules.pass(long.length()))
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
        // Boxed, because otherwise every call would carry the space for this future.
        Box::pin(self.read_long(long)).await
    }

    /// Reads a long reply to its end.
    async fn read_long(&mut self, long: Box<LongReply>) -> Option<Progress> {
        let limits = self.context.egress.frame_limits();
        let link = self.link().cloned();
        let reply = |text| {
            let link = link.as_ref().ok_or(LinkError::Closed)?;
            Reply::of(text, Some(200), link.era, limits, &link.calls)
        };
        let input = tokio::select! {
            text = long.read() => CallInput::Replied(text.and_then(reply)),
            notice = self.client.cancellation() => CallInput::Cancelled(notice),
            () = LazyDeadline::new(self.exchange.deadline()) => CallInput::Late,
        };
        match self.repeats(&input) {
            Some((outbound, pause)) => Box::pin(self.send_again(outbound, pause)).await,
            None => self.take(input),
        }
    }

    /// Sends a request, and waits for the beginning of a reply.
    pub(super) async fn sent(&mut self, outbound: &Outbound, attended: Option<Instant>) -> CallInput {
        let mut attended = attended;
        if !self.turn.is_running() {
            if let Some(ended) = Box::pin(self.take_turn()).await {
                return ended;
            }
            attended = None;
        }
        let (deadline, settles) = (self.exchange.deadline(), !outbound.era.disconnect_cancels);
        let late = LazyDeadline::attended(deadline, attended);
        let Self {
            context,
            upstream,
            caller,
            connection,
            client,
            exchange,
            side_channel,
            retries,
            record,
            ..
        } = self;
        let CallConnection { owner, held, dedicated, carried, documented, .. } = connection;
        let (owner, documented) = (*owner, *documented);
        let (dedicated, side_channel) = (dedicated.as_ref(), side_channel.as_ref());
        let (carried, has_waited) = (carried.as_deref(), retries.policy.has_waited());
        let sending = AtomicBool::new(false);
        let is_sending = &sending;
        let way = Delivery {
            upstream,
            caller,
            dedicated,
            side_channel,
            owner,
            carried,
            documented,
            has_waited,
            is_sending,
        };
        let mut delivering = pin!(deliver(context, way, (held, record), outbound, exchange.token()));
        tokio::select! {
            // Poll the reply first: nearly always, the reply is what woke the call, so no timer has to be set.
            biased;
            delivered = &mut delivering => delivered.into(),
            notice = client.cancellation() => {
                if settles && sending.load(Ordering::Relaxed) {
                    // Without this wait, the cancellation could overtake its request, which would then run although nobody
                    // waits for it.
                    let _ = timeout(SETTLE, delivering).await;
                }
                CallInput::Cancelled(notice)
            }
            () = late => CallInput::Late,
        }
    }
}
