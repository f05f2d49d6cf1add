//! Sends a call's request, and chooses its link. This module must not know the answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use engine::exchange::{Outbound, ProgressToken};
use proto::bridge::input::Askable;
use proto::mcp::Method;
use proto::rpc::Frame;
use transport::up::{LinkError, Owner};

use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::record::Record;
use crate::call::side_channel::SideChannel;
use crate::session::session_links::{user, weak_user};
use upstream::Upstream;
use upstream::embedded::Carried;
use upstream::link::reply::Reply;
use upstream::link::requests::send_level;
use upstream::link::{HeldLink, LinkUser, OpenLink, RequestOrigin};
use upstream::pool::single::{LinkTurn, SingleLink};
use upstream::pool::{DedicatedLink, TurnParty};

/// The maximum number of times that a call looks for another link because its link was given to another owner.
const TRIES: usize = 8;

/// The destination of a call's request, and the call's owner.
#[derive(Clone, Copy)]
pub(crate) struct Delivery<'a> {
    pub(crate) upstream: &'a Arc<Upstream>,
    pub(crate) caller: &'a Caller,
    pub(crate) dedicated: Option<&'a (DedicatedLink, Option<Bytes>)>,
    pub(crate) side_channel: Option<&'a SideChannel>,
    /// The owner of the messages that the server sends during the call.
    pub(crate) owner: Owner,
    /// The credentials that the request carries for the site behind an embedded server.
    pub(crate) carried: Option<&'a Carried>,
    /// True if the dialect of the client's endpoint documents the form of failures.
    pub(crate) documented: bool,
    /// True if the request has waited for its server to become available again, perhaps together with many others.
    pub(crate) has_waited: bool,
    /// Set to true once the request is being sent.
    pub(crate) is_sending: &'a AtomicBool,
}

impl<'a> Delivery<'a> {
    fn origin(&self) -> RequestOrigin<'a> {
        RequestOrigin { owner: self.owner, carried: self.carried, documented: self.documented }
    }
}

/// The outcome of a delivery.
pub(crate) enum DeliveryOutcome {
    /// The beginning of the server's reply.
    Reply(Reply),
    /// The request was not sent: the server asks the client for its roots first.
    AsksFirst(Frame),
}

/// Sends a request over the caller's link. If the request was certainly not executed, sends it again over a new
/// link.
pub(crate) async fn deliver(
    context: &Arc<CallContext>,
    way: Delivery<'_>,
    (used, record): (&mut Option<HeldLink>, &mut Option<Box<Record>>),
    outbound: &Outbound,
    token: Option<ProgressToken>,
) -> Result<DeliveryOutcome, LinkError> {
    if way.upstream.server.health.is_held_back() {
        return Err(LinkError::HeldBack(way.upstream.server.health.report().cause.detail));
    }
    let limits = context.egress.frame_limits();
    let turn = match way.upstream.links.single() {
        None => None,
        Some(single) => Some(Box::pin(way.turn(context, single, record)).await?),
    };
    let turn = turn.as_ref();
    // The link is nearly always open. The future that opens one is boxed, because otherwise every call would carry the
    // space for it.
    let link = if let Some(link) = way.ready() {
        link
    } else {
        waits(record);
        Box::pin(way.open(context)).await?
    };
    if way.has_waited {
        Box::pin(way.upstream.server.health.turn()).await;
    }
    let link = way.enter(context, (used, turn), link, outbound, token.as_ref()).await?;
    if let Some(question) = way.roots_question(&link).await {
        return Ok(DeliveryOutcome::AsksFirst(question));
    }
    way.send_state(context, &link).await;
    if link.is_sending() {
        Box::pin(link.flushed()).await;
    }
    note_sent(record, outbound);
    way.is_sending.store(true, Ordering::Relaxed);
    let sent = match link.send(context.egress.client(), outbound.clone(), limits, way.origin()).await {
        Err(e @ (LinkError::SessionGone | LinkError::Foreign(_))) => {
            tracing::info!(server = %way.upstream.name(), "the server {}; opening another link", way.upstream.server.describe(&e));
            link.bury();
            // A server that has forgotten one session has nearly always forgotten all of them.
            way.upstream.links.dedicated.shed(&context.egress, Duration::ZERO);
            *used = None;
            waits(record);
            let link = Box::pin(way.open(context)).await?;
            let link = way.enter(context, (used, turn), link, outbound, token.as_ref()).await?;
            if let Some(question) = way.roots_question(&link).await {
                return Ok(DeliveryOutcome::AsksFirst(question));
            }
            way.send_state(context, &link).await;
            note_sent(record, outbound);
            let origin = way.origin();
            Box::pin(link.send(context.egress.client(), outbound.clone(), limits, origin)).await
        }
        other => other,
    };
    sent.map(DeliveryOutcome::Reply)
}

fn note_sent(record: &mut Option<Box<Record>>, outbound: &Outbound) {
    if let Some(record) = record {
        record.sent();
        record.capture_sent(outbound.era, &outbound.body);
    }
}

fn waits(record: &mut Option<Box<Record>>) {
    if let Some(record) = record {
        record.waits();
    }
}

/// Checks that a link uses the version in which the request was written. If it does not, the caller of this
/// function rewrites the request.
fn check(link: &Arc<OpenLink>, outbound: &Outbound) -> Result<(), LinkError> {
    if link.era == outbound.era {
        return Ok(());
    }
    Err(LinkError::OtherEra { expected: outbound.era.version, speaks: link.era.version })
}

/// Sends the call's log level and other clients' subscriptions over the call's dedicated link.
async fn send_state(
    context: &Arc<CallContext>,
    upstream: &Upstream,
    link: &Arc<OpenLink>,
    level: Option<&Bytes>,
) {
    if let Some(level) = level
        && link.era.knows(Method::SetLevel)
        && link.announced.note_level(level)
    {
        send_level(&context.egress, link, level).await;
    }
    if link.era.has_sessions() {
        upstream.announce_topics(&context.egress, link).await;
    }
}

impl Delivery<'_> {
    /// Returns the question for roots that the server has asked before the first call over this link, if the client can answer
    /// it. Many servers ask as soon as a link is open, and would execute the call without the client's roots.
    async fn roots_question(&self, link: &Arc<OpenLink>) -> Option<Frame> {
        // Nearly always, the link has carried calls before.
        if !link.own || link.roots.is_over() {
            return None;
        }
        let askable = match (self.dedicated, self.caller) {
            (Some((dedicated, _)), _) => dedicated.class,
            (None, Caller::Session(session)) => session.client.class().askable,
            (None, Caller::Stateless(..)) => return None,
        };
        if !askable.has_roots() {
            return None;
        }
        let (question, is_news) = Box::pin(link.first_roots_question()).await;
        if is_news {
            self.upstream.catalogue.save();
        }
        question
    }

    /// Sends the state that a call needs on its link to the server.
    async fn send_state(&self, context: &Arc<CallContext>, link: &Arc<OpenLink>) {
        match (self.dedicated, self.caller) {
            (Some((_, level)), _) if link.own => {
                Box::pin(send_state(context, self.upstream, link, level.as_ref())).await;
            }
            (None, Caller::Session(session)) if session.needs_level(link) => {
                Box::pin(session.send_level(&context.egress, link)).await;
            }
            _ => {}
        }
        if self.dedicated.is_none() && self.upstream.is_behind(link) {
            Box::pin(self.upstream.announce_topics(&context.egress, link)).await;
        }
    }

    /// Waits for the call's turn on a server's only link. If the owner can answer questions, the link declares the
    /// matching capabilities to the server.
    async fn turn(
        &self,
        context: &Arc<CallContext>,
        single: &Arc<SingleLink>,
        record: &mut Option<Box<Record>>,
    ) -> Result<LinkTurn, LinkError> {
        let class = match (self.dedicated, self.caller) {
            (Some((dedicated, _)), _) => dedicated.class,
            (None, Caller::Session(session)) => session.client.class().askable,
            (None, Caller::Stateless(..)) => Askable::NOTHING,
        };
        let class = class.without_roots();
        let party = if class.is_nothing() { TurnParty::Unaskable } else { TurnParty::Askable(self.owner) };
        let turn = if let Some(turn) = single.join(party) {
            turn
        } else {
            waits(record);
            let patience = context.egress.snapshot().calls(&self.upstream.server.spec).usual.timeouts.idle;
            let holder = self.caller.identity().holder();
            single.wait(party, &holder, patience).await.map_err(LinkError::unsent)?
        };
        if !class.is_nothing() {
            let cell = self.upstream.shared_link(self.caller.era());
            cell.widen(&context.egress, class).await;
        }
        Ok(turn)
    }

    /// Returns the session that receives the server's questions during the call's turn on the server's only link.
    fn asked_session(&self) -> Option<Weak<dyn LinkUser>> {
        match self.caller {
            Caller::Session(session) => Some(weak_user(session)),
            Caller::Stateless(..) => None,
        }
    }

    fn ready(&self) -> Option<Arc<OpenLink>> {
        match (self.dedicated, self.caller) {
            (Some((dedicated, _)), _) => dedicated.cell.current(),
            (None, Caller::Session(session)) => session.ready_link(self.upstream),
            (None, Caller::Stateless(view, _)) => self.upstream.shared_link(view.clients.era).current(),
        }
    }

    /// Returns an open link. If this fails, the request was not sent.
    async fn open(&self, context: &Arc<CallContext>) -> Result<Arc<OpenLink>, LinkError> {
        self.opened(context).await.map_err(LinkError::unsent)
    }

    async fn opened(&self, context: &Arc<CallContext>) -> Result<Arc<OpenLink>, LinkError> {
        match (self.dedicated, self.caller) {
            (Some((dedicated, _)), caller) => match dedicated.cell.get(&context.egress).await {
                Err(LinkError::Busy(_)) if dedicated.class.is_roots_alone() => {
                    self.upstream.links.dedicated.tell_without_roots();
                    self.upstream.shared_link(caller.era()).get(&context.egress).await
                }
                opened => opened,
            },
            (None, Caller::Session(session)) => session.link(&context.egress, self.upstream).await,
            (None, Caller::Stateless(view, _)) => {
                self.upstream.shared_link(view.clients.era).get(&context.egress).await
            }
        }
    }

    /// Records the link that a call uses, and registers the call on it for messages outside the call's own stream.
    /// If a dedicated link has just been given to another owner, the call waits for another link.
    async fn enter(
        &self,
        context: &Arc<CallContext>,
        (used, turn): (&mut Option<HeldLink>, Option<&LinkTurn>),
        mut link: Arc<OpenLink>,
        outbound: &Outbound,
        token: Option<&ProgressToken>,
    ) -> Result<Arc<OpenLink>, LinkError> {
        let mut tries = 0;
        let needed = loop {
            check(&link, outbound)?;
            match self.need(context, &link, turn) {
                Some(needed) => break needed,
                None if tries == TRIES => return Err(LinkError::Busy(tries)),
                None => {}
            }
            tries += 1;
            link = Box::pin(self.open(context)).await?;
        };
        self.register(&link, token);
        *used = Some(needed);
        Ok(link)
    }

    /// Returns a hold on a link; `None` if it is a dedicated link that has been given to another owner.
    fn need(
        &self,
        context: &Arc<CallContext>,
        link: &Arc<OpenLink>,
        turn: Option<&LinkTurn>,
    ) -> Option<HeldLink> {
        if !link.own {
            let hold = turn.map(|turn| turn.on(&context.egress, link, self.asked_session()));
            return Some(HeldLink::new(link.clone(), hold));
        }
        let cell = match (self.dedicated, self.caller) {
            (Some((dedicated, _)), _) => Some(dedicated.cell.clone()),
            (None, Caller::Session(session)) => session.own_cell(self.upstream.server.spec.id),
            (None, Caller::Stateless(..)) => None,
        };
        cell?.need(&context.egress, link)
    }

    fn register(&self, link: &Arc<OpenLink>, token: Option<&ProgressToken>) {
        if let (Caller::Session(session), Some(token)) = (self.caller, token) {
            link.recipients.expect_progress(&user(session), token.clone());
        }
        let is_its_own = link.own || link.recipients.turn() == Some(self.owner);
        if let (Some(_), Some(side_channel)) = (self.dedicated.filter(|_| is_its_own), self.side_channel) {
            link.recipients.set_inbox(Some(side_channel.inbox.sender()));
        }
    }
}
