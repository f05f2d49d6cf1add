//! The end of a call: it is answered, it is parked until its client returns, or its client is gone.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Event, ExchangeAnswer, Step, TaskEffect, Ticket};
use engine::session::QuestionText;
use engine::tasks::TaskIds;
use proto::mcp::meta;
use proto::rpc::Frame;

use super::call::Call;
use super::caller::Caller;
use super::parked::Parked;
use crate::call::in_progress::CallStage;
use crate::call::record::Record;
use crate::call::result_rules::ResultRules;
use crate::call::side_channel::SideChannel;
use crate::call::tasks::{self, StartedTask};
use crate::call::turn::CallTurn;
use transport::budget::{self, Part};
use transport::up::LinkError;
use upstream::link::requests::{is_log, passes};
use upstream::link::{HeldLink, OpenLink, Wire};
use upstream::pool::dispatch::Binding;
use upstream::pool::dormant::{Dormant, DormantWork};

impl Call {
    /// Ends the call with an answer; returns the answer for the client.
    pub(crate) fn end(&mut self, answer: ExchangeAnswer) -> ExchangeAnswer {
        (self.over, self.turn, self.entry) = (true, CallTurn::Over, None);
        let masked = self.client.masked.take().filter(|_| !answer.ok);
        let (era, id) = (self.caller.era(), self.exchange.id());
        let answer =
            masked.map_or(answer, |masked| ExchangeAnswer::fault(masked.http_status(era), *masked, id));
        let mut made = self.exchange.made();
        let answer = match self.rules.take() {
            Some(rules) => self.limited(*rules, &mut made, answer),
            None => answer,
        };
        // A translated answer, or one with another id, has a new buffer; the buffer that was read will soon be freed.
        let answer =
            ExchangeAnswer { body: budget::of_process().count(Part::Answers, answer.body), ..answer };
        if let Some(record) = &mut self.record {
            record.answered(&answer);
        }
        self.connection.finish_source();
        match made {
            Some(made) => tasks::keep(self, made, answer),
            None => answer,
        }
    }

    /// Applies the call's rules to its answer, or to the task that the call became.
    fn limited(
        &self,
        rules: ResultRules,
        made: &mut Option<TaskEffect>,
        answer: ExchangeAnswer,
    ) -> ExchangeAnswer {
        let (context, era, identity) = (&self.context, self.caller.era(), self.caller.identity());
        if let Some(TaskEffect::Outcome(outcome)) = made {
            *outcome = rules.cut(context, identity, era, std::mem::take(outcome));
            return answer;
        }
        let ids = TaskIds::new(context.sealer(), self.caller.owner(), era);
        let Some(started) = StartedTask::of_answer(&answer.body, era, ids).filter(|_| answer.ok) else {
            return rules.end(context, identity, era, answer);
        };
        let link = self.connection.held.as_ref().map(HeldLink::again);
        tasks::limit(context, (&self.upstream, link), started, rules.into_task_limits());
        answer
    }

    /// Parks the call until its client returns; returns the answer that contains the questions.
    pub(crate) fn park(
        mut self: Box<Self>,
        parked: &Parked,
        ticket: Ticket,
        answer: ExchangeAnswer,
    ) -> ExchangeAnswer {
        // The request is answered, so its id, its permit and its turn become free again.
        (self.client.cancelled, self.place, self.turn) = (None, None, CallTurn::Over);
        self.at_stage(CallStage::Asks);
        if let Some(rules) = &mut self.rules {
            rules.pause();
        }
        let id = self.exchange.id().clone();
        let questions = QuestionText::of_result(&answer.body).into();
        match parked.keep(ticket, self, questions) {
            Ok(()) => answer,
            Err(full) => {
                let message = format!(
                    "{full} calls are waiting for their clients to answer questions; answer \
                             some of these calls' questions, or try again later"
                );
                ExchangeAnswer::fault(200, Fault::gateway(message), &id)
            }
        }
    }
}

impl Call {
    /// Returns the answer for a client whose exchange is already over, after its link failed with `error`.
    pub(super) fn failed(&self, error: &LinkError) -> ExchangeAnswer {
        let failure = self.failure(self.upstream.server.describe(error), error.execution());
        ExchangeAnswer::fault(200, failure.fault(self.upstream.name()), self.exchange.id())
    }

    /// Returns the link over which the request was sent.
    pub(crate) fn link(&self) -> Option<&Arc<OpenLink>> {
        self.connection.link()
    }

    /// Marks the call's dedicated link, if there is one, as waiting for the client.
    pub(crate) fn sleep(&mut self, work: DormantWork) -> Option<Dormant> {
        self.connection.dedicated.as_mut().map(|(dedicated, _)| dedicated.wait(work))
    }

    /// Returns true if a message is a log message below the client's level. Such messages arrive on links whose
    /// level other clients may have set.
    pub(crate) fn is_unwanted(&self, text: &Bytes) -> bool {
        let Some(link) = self.link() else { return false };
        let frame = || Frame::parse(text.clone(), self.context.egress.frame_limits());
        match &self.caller {
            Caller::Session(session) => {
                !link.own && session.level().is_some() && frame().is_ok_and(|frame| !session.wants(&frame))
            }
            // If the eras differ, the level has been checked already; over HTTP, the message came in the response to the
            // request.
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

    /// Marks the call's dedicated link as unfit for other calls if the server may still use it. The server may have asked
    /// something just before a cancellation, or may continue to work after it; its questions would reach another client.
    pub(crate) fn leave_dedicated_link(&mut self) {
        if let Some((dedicated, _)) = &mut self.connection.dedicated
            && !self.exchange.is_answered()
        {
            dedicated.spoil();
        } else if let (None, Some(link)) = (&self.connection.dedicated, self.link())
            && link.own
            && !self.exchange.is_answered()
        {
            self.upstream.links.dedicated.bind(link, Binding::Owner);
        }
    }
}

impl Call {
    /// Takes the call's record, for the code that reports the result to the client.
    pub(crate) fn take_record(&mut self) -> Option<Box<Record>> {
        self.record.take()
    }
}

impl Call {
    /// Notifies the upstream that the call is cancelled.
    pub(crate) async fn send_cancelled(&mut self, notice: Bytes) {
        // A stateless HTTP request is cancelled by closing its stream.
        self.connection.source = None;
        let Some(link) = self.link().cloned() else { return };
        if !link.hears_cancellation() {
            return;
        }
        match link.notify(self.context.egress.client(), notice).await {
            Ok(()) => {
                let (context, key) = (self.context.clone(), self.exchange.key());
                transport::task::spawn(async move { link.forget_cancelled(&context.egress, key).await });
            }
            Err(e) => {
                tracing::debug!(server = %self.upstream.name(), "a cancellation was not delivered: the server {}", self.upstream.server.describe(&e));
            }
        }
    }
}

impl Call {
    /// Switches to the caller's own upstream after the shared one refused the request; returns `false` if that is not
    /// possible.
    pub(crate) fn switch_to_own_server(&mut self) -> bool {
        let own = self.context.view.state.upstream_of(self.upstream.server.spec.id, self.caller.identity());
        if Arc::ptr_eq(&own, &self.upstream) || self.connection.dedicated.is_some() {
            return false;
        }
        self.upstream = own;
        true
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Drop this receiver first, because otherwise its sender would wake this very task for nothing.
        self.client.cancelled = None;
        if let Caller::Session(session) = &self.caller {
            session.requests.end(self.exchange.id());
            if let Some(origin) = self.side_channel.as_ref().and_then(SideChannel::asked) {
                session.forget_questions(&origin);
            }
        }
        self.leave_dedicated_link();
        let Some(held) = self.connection.held.take() else { return };
        let link = held.link();
        if let Some(key) = self.connection.progress {
            link.recipients.forget_progress(key);
        }
        // The client is gone. If a lost connection means that the client wants no answer, notify the call's upstream.
        if self.over || matches!(&self.caller, Caller::Session(s) if !s.era().disconnect_cancels) {
            return;
        }
        self.connection.source = None;
        self.feed(Event::Cancelled(None));
        let hears = link.hears_cancellation();
        let notices: Vec<Bytes> = std::iter::from_fn(|| self.exchange.poll())
            .filter_map(|step| match step {
                Step::Cancel(notice) if hears => Some(notice),
                Step::Tell(answer) => Some(answer),
                _ => None,
            })
            .collect();
        let (context, dedicated, key) =
            (self.context.clone(), self.connection.dedicated.take(), self.exchange.key());
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && !notices.is_empty()
        {
            runtime.spawn(transport::task::boxed(async move {
                let link = held.link();
                link.flushed().await;
                for notice in notices {
                    let _ = link.notify(context.egress.client(), notice).await;
                }
                // Only now may another call use the link.
                drop(dedicated);
                link.forget_cancelled(&context.egress, key).await;
            }));
        }
    }
}
