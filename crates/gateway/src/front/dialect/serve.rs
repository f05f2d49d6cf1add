//! Handles one message from a client at an endpoint with a dialect, from bytes to reply.

use std::sync::Arc;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{
    Dialect, DialectFault, DialectMessage, DialectOutcome, DialectReply, DialectRequest, DialectStep, Facts,
    begin, finish, gather, given_up, rate_headers, read,
};
use engine::rate::Verdict;
use http::HeaderMap;
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;

use super::front::Front;
use super::outcome::{RecordedOutcome, forward};
use super::target::{TargetLookup, named};
use super::telemetry::LoggedRequest;
use crate::admission::audit::ReasonKind;
use crate::admission::rates::rate;
use crate::admission::{Identity, client_label};
use crate::call::record::Record;
use crate::call::{in_flight, stateless};
use crate::dialect_session::sessions::Session;
use crate::dialect_session::subscribed::{self, Change};
use crate::process::Shard;
use crate::session::open_requests::HeldRequest;

/// The outcome of a message.
pub(crate) enum MessageOutcome {
    /// The reply to the message; `true` if it begins a session.
    Reply(DialectReply, bool),
    /// The message requires the standard protocol. The value is the verdict of the rate limit, if one applies.
    Standard(Option<Verdict>),
}

/// Returns the reply to a caller that is not admitted.
pub(crate) fn refuse(row: &Dialect, fault: &DialectFault) -> DialectReply {
    engine::dialect::refuse(row, None, fault)
}

/// Returns the reply to a request for a profile that does not exist, with the message's id if it has one. The request
/// is counted like any other.
pub(crate) async fn refuse_message(
    shard: &Arc<Shard>,
    row: &Dialect,
    (identity, headers): (&Identity, &HeaderMap),
    text: Option<&Bytes>,
    fault: &DialectFault,
) -> DialectReply {
    let ask = text.and_then(|text| asked(shard, row, text));
    let rates = &shard.gateway.rates;
    let counted = ask.as_ref().map(|ask| rates.nowhere(ask.frame(), || false));
    let verdict = rates.check(identity, headers, NO_PROFILE, counted.as_ref()).await;
    let too_soon = verdict.as_ref().filter(|verdict| !verdict.allowed).map(too_soon);
    let mut reply = engine::dialect::refuse(row, ask.as_ref(), too_soon.as_ref().unwrap_or(fault));
    if let Some(verdict) = verdict.filter(|verdict| verdict.allowed) {
        reply.headers.extend(rate_headers(row, rate(&verdict)));
    }
    reply
}

/// Returns the request in a message.
fn asked(shard: &Arc<Shard>, row: &Dialect, text: &Bytes) -> Option<DialectRequest> {
    match read(row, text, shard.gateway.frame_limits()) {
        DialectMessage::Ask(ask) => Some(ask),
        _ => None,
    }
}

/// Returns the reply to a message that cannot be served, with the id of the request in the message.
pub(crate) fn refuse_text(
    shard: &Arc<Shard>,
    row: &Dialect,
    text: &Bytes,
    fault: &DialectFault,
) -> DialectReply {
    engine::dialect::refuse(row, asked(shard, row, text).as_ref(), fault)
}

/// The profile name under which all requests for unknown profiles are counted.
pub(crate) const NO_PROFILE: &str = "";

/// Returns the fault for a request that a rate limit rejects.
pub(crate) fn too_soon(verdict: &Verdict) -> DialectFault {
    DialectFault {
        rate: Some(rate(verdict)),
        ..DialectFault::new(Condition::RateLimited, "too many requests")
    }
}

/// Processes a message, or an array of messages.
pub(crate) async fn take(
    shard: &Arc<Shard>,
    front: &Front,
    identity: &Identity,
    session: Option<&Arc<Session>>,
    headers: Option<&HeaderMap>,
    text: &Bytes,
) -> MessageOutcome {
    let introduced = session
        .and_then(|session| session.program())
        .map(|program| Identity { client_label: Some(program.clone()), ..identity.clone() });
    let identity = introduced.as_ref().unwrap_or(identity);
    let asking = DialectExchange { shard, front, identity, session, headers, text, refused: None };
    asking.all().await
}

/// Refuses a message, or an array of messages, from a client that is not admitted. The message is still logged and
/// recorded.
pub(crate) async fn take_refused(
    shard: &Arc<Shard>,
    front: &Front,
    text: &Bytes,
    fault: &DialectFault,
) -> MessageOutcome {
    let (identity, refused) = (&Identity::anyone(None), Some(fault));
    DialectExchange { shard, front, identity, session: None, headers: None, text, refused }.all().await
}

struct DialectExchange<'a> {
    shard: &'a Arc<Shard>,
    front: &'a Front,
    identity: &'a Identity,
    session: Option<&'a Arc<Session>>,
    /// The request's headers; `None` over a pipe, which has neither headers nor rate limits.
    headers: Option<&'a HeaderMap>,
    /// The whole message.
    text: &'a Bytes,
    /// The reason why the client is not admitted.
    refused: Option<&'a DialectFault>,
}

impl DialectExchange<'_> {
    async fn all(&self) -> MessageOutcome {
        let row = &self.front.row;
        match read(row, self.text, self.shard.gateway.frame_limits()) {
            DialectMessage::Batch(all) => {
                let mut replies = Vec::with_capacity(all.len());
                for one in all {
                    // An array is not split between the dialect and the standard protocol.
                    if let MessageOutcome::Reply(reply, _) = Box::pin(self.one(one)).await {
                        replies.push(reply);
                    }
                }
                MessageOutcome::Reply(gather(row, replies), false)
            }
            one => self.one(one).await,
        }
    }

    /// Counts a message, and answers it unless a limit rejects it.
    async fn one(&self, reading: DialectMessage) -> MessageOutcome {
        let frame = match &reading {
            DialectMessage::Ask(ask) | DialectMessage::Notified(_, Some(ask)) => Some(ask.frame()),
            _ => None,
        };
        let profile = &self.shard.gateway.snapshot.profiles[self.front.profile].slug;
        let rates = &self.shard.gateway.rates;
        // Rate limits do not apply to notifications, or to messages that are neither executed nor answered.
        let counted = match &reading {
            DialectMessage::Notified(_, ask) => ask.as_ref().is_some_and(|ask| !ask.is_notice()),
            _ => true,
        };
        let headers = self.headers.filter(|_| counted);
        let verdict = match (headers, frame) {
            (None, _) => None,
            (Some(headers), None) => rates.check(self.identity, headers, profile, None).await,
            (Some(headers), Some(frame)) => {
                let place = (self.front.profile, self.front.row.era);
                let counted = stateless::counted(&self.shard.call, rates, place, self.identity, frame).await;
                rates.check(self.identity, headers, profile, Some(&counted)).await
            }
        };
        let Some(verdict) = verdict else { return self.taken(reading).await };
        let row = &self.front.row;
        if !verdict.allowed {
            if let Some(told) = LoggedRequest::read(&reading, self.text) {
                told.refused();
            }
            let fault = too_soon(&verdict);
            let record = frame.and_then(|frame| self.record(frame));
            let reply = match &reading {
                DialectMessage::Ask(ask) => finish(row, ask, DialectOutcome::Fault(fault)),
                _ => refuse(row, &fault),
            };
            if let Some(mut record) = record {
                record.answered_with(&reply.body);
                record.denied(None, ReasonKind::RateLimit, "");
            }
            return MessageOutcome::Reply(reply, false);
        }
        match self.taken(reading).await {
            MessageOutcome::Reply(mut reply, begins) => {
                reply.headers.extend(rate_headers(row, rate(&verdict)));
                MessageOutcome::Reply(reply, begins)
            }
            MessageOutcome::Standard(_) => MessageOutcome::Standard(Some(verdict)),
        }
    }

    async fn taken(&self, reading: DialectMessage) -> MessageOutcome {
        match reading {
            DialectMessage::Done(reply) => {
                LoggedRequest::unread(self.text).refused();
                MessageOutcome::Reply(reply, false)
            }
            DialectMessage::Notified(reply, None) => MessageOutcome::Reply(reply, false),
            DialectMessage::Notified(reply, Some(ask)) if ask.is_notice() => {
                self.give_up(&ask);
                MessageOutcome::Reply(reply, false)
            }
            DialectMessage::Notified(reply, Some(ask)) => {
                let _ = self.answer(&ask).await;
                MessageOutcome::Reply(reply, false)
            }
            DialectMessage::Ask(ask) => self.answer(&ask).await,
            // An array inside an array is not a message.
            DialectMessage::Batch(_) => {
                let fault = DialectFault::new(
                    Condition::InvalidRequest,
                    "an array must contain messages, \
                    not arrays",
                );
                MessageOutcome::Reply(refuse(&self.front.row, &fault), false)
            }
        }
    }

    /// Cancels the request that a notification names, if it is this client's own request.
    fn give_up(&self, notice: &DialectRequest) {
        let Some(session) = self.session.filter(|_| notice.method() == Notice::Cancelled.name()) else {
            return;
        };
        let frame = notice.frame();
        let member = |key| frame.param(key).ok().flatten().map(|span| span.share(frame.text()));
        let Some(id) = member("requestId") else { return };
        let mut params = [b"\"requestId\":", &*id].concat();
        if let Some(reason) = member("reason") {
            params.extend([b",\"reason\":", &*reason].concat());
        }
        let text = proto::era::notice(Notice::Cancelled.name(), &params);
        if let Ok(notice) = Frame::parse(text, self.shard.gateway.frame_limits()) {
            session.requests.cancel(notice);
        }
    }

    /// Answers a request and logs the result.
    async fn answer(&self, ask: &DialectRequest) -> MessageOutcome {
        let told = LoggedRequest::request(ask);
        let taken = self.answered(ask).await;
        told.done(&taken);
        taken
    }

    async fn answered(&self, mut ask: &DialectRequest) -> MessageOutcome {
        let row = &self.front.row;
        let inner;
        if let Some(fault) = self.refused {
            let reply = finish(row, ask, DialectOutcome::Fault(fault.clone()));
            self.note(ask, &reply, TargetLookup::Here);
            return MessageOutcome::Reply(reply, false);
        }
        if let Some(session) = self.session {
            session.note_use();
        }
        let mut under_way = self.session.and_then(|session| session.begin(ask.id()));
        let profile = &self.shard.gateway.snapshot.profiles[self.front.profile].slug;
        let initialized = self.session.is_some_and(|session| session.is_initialized());
        let facts = Facts { initialized, profile, ..Facts::default() };
        let (mut begun, mut found) = (begin(row, ask, facts), TargetLookup::Here);
        if matches!(begun, DialectStep::NeedsView) {
            let cell = stateless::view(&self.shard.call, self.front.profile, row.era, self.identity).await;
            inner = ask.inner(&cell.view());
            ask = inner.as_ref().unwrap_or(ask);
            let view = stateless::view_for(&self.shard.call, &cell, ask.frame()).await;
            let lists = ask.method() == Method::ToolsList.name();
            let ready = lists.then(|| self.shard.gateway.process.dialect_lists.tools(row, &cell, &view));
            found = TargetLookup::of(ask, &view);
            let consents = self.shard.call.consents_wanted(self.front.profile, self.identity);
            let facts = Facts { view: Some(&view), tools: ready.as_ref(), consents: &consents, ..facts };
            begun = begin(row, ask, facts);
        }
        match begun {
            DialectStep::Done(reply) => {
                self.note(ask, &reply, found);
                MessageOutcome::Reply(reply, false)
            }
            DialectStep::Introduced(reply) => {
                if let Some(session) = self.session {
                    session.initialize(client_label::program_in(ask.frame().text()));
                }
                MessageOutcome::Reply(reply, true)
            }
            DialectStep::Standard => MessageOutcome::Standard(None),
            DialectStep::Forward(frame) => {
                MessageOutcome::Reply(self.forwarded(ask, frame, under_way.as_mut()).await, false)
            }
            DialectStep::NeedsView => {
                let fault =
                    DialectFault::new(Condition::Internal, "the lists of this profile are not known yet");
                MessageOutcome::Reply(finish(row, ask, DialectOutcome::Fault(fault)), false)
            }
        }
    }

    /// Returns the reply to a request that has to be forwarded.
    async fn forwarded(
        &self,
        ask: &DialectRequest,
        frame: Frame,
        under_way: Option<&mut HeldRequest<'_>>,
    ) -> DialectReply {
        let row = &self.front.row;
        if let Some(became) = self.subscribe(ask).await {
            return self.reply_with(ask, became);
        }
        let place =
            self.session.map(|session| in_flight::place_in_session(&self.shard.call, &session.in_flight));
        let _place = match place.transpose() {
            Ok(place) => place,
            Err(full) => {
                let (identity, profile) = (self.identity, self.front.profile);
                let record = Record::refusal(&self.shard.call, identity, profile, ask.frame(), &full);
                return self.reply_with(ask, (DialectOutcome::Fault(DialectFault::from(&full)), record));
            }
        };
        let heard = (under_way.and_then(HeldRequest::cancelled), self.session.is_none());
        let became = forward(self.shard, self.front, self.identity, frame, heard).await;
        let Some((mut outcome, record)) = became else { return given_up(row) };
        if let DialectOutcome::Fault(fault) = &mut outcome
            && fault.condition == Condition::UnknownMethod
        {
            fault.subject = Some(ask.method().into_owned());
        }
        self.reply_with(ask, (outcome, record))
    }

    /// Creates the reply for an outcome, and completes the record with it.
    fn reply_with(&self, ask: &DialectRequest, (outcome, record): RecordedOutcome) -> DialectReply {
        let reply = finish(&self.front.row, ask, outcome);
        if let Some(mut record) = record {
            record.answered_with(&reply.body);
        }
        reply
    }

    fn record(&self, frame: &Frame) -> Option<Box<Record>> {
        Record::begin(&self.shard.call, self.identity, self.front.profile, frame)
    }

    /// Handles a request that changes the subscriptions of a client with an event stream. Returns `None` for any
    /// other request, and for a request that its server has to answer.
    async fn subscribe(&self, ask: &DialectRequest) -> Option<RecordedOutcome> {
        let session = self.session.filter(|session| session.has_stream())?;
        let cell =
            stateless::view(&self.shard.call, self.front.profile, self.front.row.era, self.identity).await;
        let change = Change::of(&self.shard.call, &cell, ask.frame())?;
        let mut record = self.record(ask.frame());
        if let Some(record) = &mut record {
            record.went_to(change.upstream.name());
        }
        let outcome = subscribed::change(&self.shard.call, session, change).await?;
        if let (Some(record), DialectOutcome::Result(result)) = (&mut record, &outcome) {
            record.body(result, false);
        }
        Some((outcome, record))
    }

    /// Records a request that the dialect itself refused: the caller cannot see the target, or the request is invalid.
    fn note(&self, ask: &DialectRequest, reply: &DialectReply, found: TargetLookup) {
        if named(ask).is_none() {
            return;
        }
        if let Some(mut record) = self.record(ask.frame()) {
            record.body(&reply.body, reply.failed);
            match found {
                TargetLookup::Here => {}
                TargetLookup::Away(server) => record.went_to(&server),
                TargetLookup::Hidden(server) => {
                    record.withheld(&server);
                    record.denied(None, ReasonKind::Rule, "");
                }
                TargetLookup::Nowhere => record.unknown(),
            }
        }
    }
}
