//! A call's request on its way: over which link it goes. It must not know what comes back.

use std::sync::Arc;

use bytes::Bytes;
use engine::exchange::{Outbound, ProgressToken};
use proto::mcp::Method;
use transport::up::{LinkError, Owner};

use crate::gateway::call::CallContext;
use crate::gateway::call::caller::Caller;
use crate::gateway::call::mail::Mail;
use crate::gateway::session::session::user;
use upstream::Upstream;
use upstream::embedded::Carried;
use upstream::link::reply::Reply;
use upstream::link::requests::tell_level;
use upstream::link::{Needed, OpenLink};
use upstream::pool::Lease;

/// Where a call's request goes, and for whom.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) upstream: &'a Arc<Upstream>,
    pub(crate) caller: &'a Caller,
    pub(crate) lease: Option<&'a (Lease, Option<Bytes>)>,
    pub(crate) mail: Option<&'a Mail>,
    /// Whose what is said meanwhile is.
    pub(crate) owner: Owner,
    /// What the request carries for the site behind an embedded server.
    pub(crate) carried: Option<&'a Carried>,
}

/// Sends a request over the caller's link; once more over a new one when it certainly was not taken.
pub(crate) async fn deliver(
    context: &Arc<CallContext>,
    way: Way<'_>,
    used: &mut Option<Needed>,
    outbound: Outbound,
    token: Option<ProgressToken>,
) -> Result<Reply, LinkError> {
    let limits = context.egress.frame_limits();
    // Nearly always the link is open. Opening is boxed, since its room would else be moved about with every call.
    let link = match way.ready() {
        Some(link) => link,
        None => Box::pin(way.open(context)).await?,
    };
    way.check(context, &link, &outbound)?;
    way.enter(used, &link, token.as_ref());
    way.tell_state(context, &link).await;
    if link.is_saying() {
        Box::pin(link.said()).await;
    }
    match link.send(&context.egress.client, outbound.clone(), limits, (way.owner, way.carried)).await {
        Err(e @ (LinkError::SessionGone | LinkError::Foreign(_))) => {
            tracing::info!(server = %way.upstream.name(), "{}; opening another link", way.upstream.server.told(&e));
            link.bury();
            let link = Box::pin(way.open(context)).await?;
            way.check(context, &link, &outbound)?;
            way.enter(used, &link, token.as_ref());
            way.tell_state(context, &link).await;
            Box::pin(link.send(&context.egress.client, outbound, limits, (way.owner, way.carried))).await
        }
        other => other,
    }
}

/// Tells an upstream, on the link that one call has for itself, which log messages the call wants and what else is listened
/// to.
async fn tell_state(
    context: &Arc<CallContext>,
    upstream: &Upstream,
    link: &Arc<OpenLink>,
    level: Option<&Bytes>,
) {
    if let Some(level) = level
        && link.era.knows(Method::SetLevel)
        && link.note_level(level)
    {
        tell_level(&context.egress, link, level).await;
    }
    if link.era.has_sessions() {
        upstream.tell_also(&context.egress, link).await;
    }
}

impl Way<'_> {
    /// Tells a link what a call wants that goes over it.
    async fn tell_state(&self, context: &Arc<CallContext>, link: &Arc<OpenLink>) {
        match (self.lease, self.caller) {
            (Some((_, level)), _) => Box::pin(tell_state(context, self.upstream, link, level.as_ref())).await,
            (None, Caller::Session(session)) if session.needs_level(link) => {
                Box::pin(session.tell_level(&context.egress, link)).await;
            }
            _ => {}
        }
        if self.lease.is_none() && self.upstream.is_behind(link) {
            Box::pin(self.upstream.tell_also(&context.egress, link)).await;
        }
    }

    fn ready(&self) -> Option<Arc<OpenLink>> {
        match (self.lease, self.caller) {
            (Some((lease, _)), _) => lease.cell.current(),
            (None, Caller::Session(session)) => session.ready_link(self.upstream),
            (None, Caller::Stateless(view, _)) => self.upstream.shared_link(&view.kind).current(),
        }
    }

    async fn open(&self, context: &Arc<CallContext>) -> Result<Arc<OpenLink>, LinkError> {
        match (self.lease, self.caller) {
            (Some((lease, _)), _) => lease.cell.get(&context.egress).await,
            (None, Caller::Session(session)) => session.link(&context.egress, self.upstream).await,
            (None, Caller::Stateless(view, _)) => {
                self.upstream.shared_link(&view.kind).get(&context.egress).await
            }
        }
    }

    /// The request was written for an era that the upstream spoke when it was last asked for its lists. If it speaks another
    /// now, it is asked for them again.
    fn check(
        &self,
        context: &Arc<CallContext>,
        link: &Arc<OpenLink>,
        outbound: &Outbound,
    ) -> Result<(), LinkError> {
        if link.era == outbound.era {
            return Ok(());
        }
        let offer = self.upstream.offer(self.caller.kind());
        if offer.is_of_another_era(link.era) {
            let (context, link) = (context.clone(), link.clone());
            tokio::spawn(async move { offer.refresh(&context.egress, &link).await });
        }
        Err(LinkError::OtherEra { expected: outbound.era.version, speaks: link.era.version })
    }

    /// Notes which link a call uses, and on it who wants to hear of what is said beside the call's own stream.
    fn enter(&self, used: &mut Option<Needed>, link: &Arc<OpenLink>, token: Option<&ProgressToken>) {
        if let (Caller::Session(session), Some(token)) = (self.caller, token) {
            link.expect_progress(&user(session), token.clone());
        }
        if let (Some(_), Some(mail)) = (self.lease, self.mail) {
            link.set_inbox(Some(mail.sender.clone()));
        }
        *used = Some(Needed::new(link.clone()));
    }
}
