//! How a call ends: with an answer, parked until its client comes back, or because its client is gone.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Answer, Event, Step, Ticket};
use proto::mcp::meta;
use proto::rpc::Frame;

use super::call::Call;
use super::caller::Caller;
use super::parked::Parked;
use crate::gateway::call::record::Record;
use crate::gateway::call::tasks;
use crate::gateway::session::asker::Asker;
use upstream::link::requests::{is_log, passes};
use upstream::link::wire::Wire;
use upstream::quota::QuotaError;

impl Call {
    /// Ends with an answer; the one that its client gets.
    pub(crate) fn end(&mut self, answer: Answer) -> Answer {
        self.over = true;
        let veil = self.veil.take().filter(|_| !answer.ok);
        let (era, id) = (self.caller.era(), self.exchange.id());
        let answer = veil.map_or(answer, |veil| Answer::fault(veil.http_status(era), *veil, id));
        if let Some(record) = &mut self.record {
            record.answered(&answer);
        }
        if let Some(source) = self.source.take() {
            source.finish();
        }
        match self.exchange.made() {
            Some(made) => tasks::keep(self, made, answer),
            None => answer,
        }
    }

    /// Keeps the call until its client comes back with what it was asked for; the answer that asks it.
    pub(crate) fn park(mut self: Box<Self>, parked: &Parked, ticket: Ticket, answer: Answer) -> Answer {
        // The request is answered, so its id is free again, and its place.
        (self.cancelled, self.place) = (None, None);
        let id = self.exchange.id().clone();
        match parked.keep(ticket, self) {
            Ok(()) => answer,
            Err(full) => {
                let message =
                    format!("{full} calls wait for answers of their clients; answer some, or try again soon");
                Answer::fault(200, Fault::gateway(message), &id)
            }
        }
    }
}

impl Call {
    /// Waits for its client on the link that it has for itself, if it has one.
    pub(crate) fn wait_with_lease(&mut self) -> Result<(), QuotaError> {
        let Self { lease, caller, .. } = self;
        lease.as_mut().map_or(Ok(()), |(lease, _)| lease.wait(caller.identity().holder()))
    }

    /// Returns true if a message for the client is a log message below its level, from a link whose level others may
    /// have set.
    pub(crate) fn is_unwanted(&self, text: &Bytes) -> bool {
        let Some(link) = &self.link else { return false };
        let frame = || Frame::parse(text.clone(), self.context.egress.frame_limits());
        match &self.caller {
            Caller::Session(session) => {
                !link.own && session.level().is_some() && frame().is_ok_and(|frame| !session.wants(&frame))
            }
            // Between different eras the level was seen to already; over HTTP the message came in answer to the request.
            Caller::Stateless(..) if link.era == self.caller.era() && matches!(link.wire, Wire::Pipe(_)) => {
                let request = self.exchange.request();
                let level =
                    request.meta(meta::LOG_LEVEL).ok().flatten().and_then(|span| request.string(span));
                frame()
                    .is_ok_and(|frame| is_log(&frame) && !level.is_some_and(|level| passes(&frame, &level)))
            }
            Caller::Stateless(..) => false,
        }
    }

    /// Notes on a link of the call's own whether another may have it: a server that was told to stop may have asked
    /// something just before, or goes on all the same, and its question would reach somebody else's client.
    pub(crate) fn leave_lease(&mut self) {
        if let Some((lease, _)) = &mut self.lease
            && !self.exchange.is_answered()
        {
            lease.spoil();
        }
    }
}

impl Call {
    /// What is written down of it, for whoever says to its client what it came to.
    pub(crate) fn take_record(&mut self) -> Option<Box<Record>> {
        self.record.take()
    }
}

impl Call {
    /// Tells the upstream that its answer is not wanted any more.
    pub(crate) async fn tell_cancelled(&mut self, notice: Bytes) {
        // A stateless HTTP request is cancelled by closing its stream.
        self.source = None;
        let Some(link) = self.link.as_deref().cloned() else { return };
        if !link.hears_cancellation() {
            return;
        }
        match link.notify(&self.context.egress.client, notice).await {
            Ok(()) => {
                let (context, key) = (self.context.clone(), self.exchange.key());
                tokio::spawn(async move { link.forget_cancelled(&context.egress, key).await });
            }
            Err(e) => {
                tracing::debug!(server = %self.upstream.name(), "a cancellation was not taken: {}", self.upstream.server.told(&e));
            }
        }
    }
}

impl Call {
    /// Goes over to its caller's own server, when it was refused by what callers share; `false` where it cannot.
    pub(crate) fn part(&mut self) -> bool {
        let own = self.context.view.state.upstream_of(self.upstream.server.spec.id, self.caller.identity());
        if Arc::ptr_eq(&own, &self.upstream) || self.lease.is_some() {
            return false;
        }
        self.upstream = own;
        true
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // First, because the other end would else wake this very task for nothing.
        self.cancelled = None;
        if let Caller::Session(session) = &self.caller {
            session.requests.end(self.exchange.id());
            if let Some(mail) = &self.mail {
                session.forget_questions(&Asker::Call(mail.number, 0, mail.sender.clone()));
            }
        }
        self.leave_lease();
        let Some(link) = self.link.take() else { return };
        if let Some(key) = self.progress {
            link.forget_progress(key);
        }
        // The client is gone. Where that means that it wants no answer, its upstream is told.
        if self.over || matches!(&self.caller, Caller::Session(s) if !s.kind.era.disconnect_cancels) {
            return;
        }
        self.source = None;
        self.feed(Event::Cancelled(None));
        let hears = link.hears_cancellation();
        let notices: Vec<Bytes> = std::iter::from_fn(|| self.exchange.poll())
            .filter_map(|step| match step {
                Step::Cancel(notice) if hears => Some(notice),
                Step::Tell(answer) => Some(answer),
                _ => None,
            })
            .collect();
        let (context, lease, key) = (self.context.clone(), self.lease.take(), self.exchange.key());
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && !notices.is_empty()
        {
            runtime.spawn(async move {
                link.said().await;
                for notice in notices {
                    let _ = link.notify(&context.egress.client, notice).await;
                }
                // Only now may another call have the link.
                drop(lease);
                link.forget_cancelled(&context.egress, key).await;
            });
        }
    }
}
