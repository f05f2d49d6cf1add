//! Sends a failed request a second time. This module must not know when that is safe; the engine's policy decides that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::exchange::{Event, Execution, LinkFailure, Outbound};
use proto::rpc::Frame;
use tokio::time::sleep;
use transport::up::LinkError;
use upstream::negotiation::wire::Wire;

use super::call::{Call, Progress};
use super::input::CallInput;
use super::lazy_deadline::LazyDeadline;
use super::retries::{HeldRequest, LOST_SESSIONS};
use super::side_channel::next_message;

/// The pause before a second attempt.
#[derive(Clone, Copy)]
pub(super) struct Pause {
    length: Duration,
    /// True if the server itself asked for this pause; nothing then ends the pause early.
    is_asked_for: bool,
}

/// The maximum size, in bytes, of a request that is kept for a second attempt while its answer may be arriving.
const KEPT: usize = 64 << 10;

/// The time that a client has to answer a question before its request is sent without the answer.
const ANSWERED: Duration = Duration::from_millis(500);

impl Call {
    /// Returns the pause before a failed request is sent again; `None` if it is not sent again.
    pub(super) fn pause_before_resend(&mut self, error: &LinkError) -> Option<Pause> {
        // The caller needs a link with its own credentials from now on.
        if matches!(error, LinkError::Unauthorized(_)) {
            let again = Pause { length: Duration::ZERO, is_asked_for: false };
            return (self.upstream.server.spec.own_consent && self.switch_to_own_server()).then_some(again);
        }
        let (now, deadline) = (Instant::now(), self.exchange.deadline());
        if let LinkError::TooMany(refusal) = error {
            let length = self.retries.policy.after_refusal(refusal.after, now, deadline)?;
            return Some(Pause { length, is_asked_for: true });
        }
        let execution = match error {
            LinkError::SessionGone | LinkError::SessionNotKept { .. } => {
                self.retries.rewrites.lost_sessions += 1;
                (self.retries.rewrites.lost_sessions <= LOST_SESSIONS).then_some(Execution::NotExecuted)
            }
            // Such a refusal may also be permanent.
            LinkError::Ambiguous(_) if std::mem::replace(&mut self.retries.rewrites.was_ambiguous, true) => {
                None
            }
            error => error.passing(),
        };
        let execution = execution.filter(|_| self.upstream.server.may_be_restarting())?;
        let spread = self.context.egress.next_key();
        let length = self.retries.policy.after(execution, (now, deadline), error.earliest(), spread)?;
        Some(Pause { length, is_asked_for: false })
    }

    /// Sends a request after a pause, unless the call ends or times out first.
    pub(super) async fn sent_after(&mut self, pause: Pause, outbound: &Outbound) -> CallInput {
        let (deadline, name) = (self.exchange.deadline(), self.upstream.name().clone());
        let Pause { length, is_asked_for } = pause;
        if let Some(record) = &mut self.record {
            record.waits();
        }
        tracing::debug!(server = %name, pause = ?length, "resending a request that could not be delivered");
        let server = Arc::clone(&self.upstream);
        let pausing = async {
            if is_asked_for {
                sleep(length).await;
            } else {
                server.server.health.pause(length).await;
            }
        };
        tokio::select! {
            notice = self.client.cancellation() => return CallInput::Cancelled(notice),
            () = LazyDeadline::new(deadline) => return CallInput::Late,
            () = pausing => {}
        }
        self.sent(outbound, None).await
    }

    /// Ends the call because its link failed. If the server refused the request with a message, the message is passed on.
    pub(super) fn fail(&mut self, error: &LinkError) {
        let (message, status) = match error {
            LinkError::TooMany(refusal) => (refusal.message.clone(), 429),
            LinkError::Ambiguous(refusal) => (refusal.message.clone(), refusal.status),
            _ => (None, 0),
        };
        if let Some(text) = message
            && let Ok(frame) = Frame::parse(text, self.context.egress.frame_limits())
        {
            return self.feed(Event::Frame(frame, Some(status)));
        }
        if let Some(record) = &mut self.record {
            record.link_failed(error);
        }
        self.fail_in_words(self.upstream.server.describe(error), error.execution());
    }

    /// Ends the call with the failure that `message` describes.
    pub(super) fn fail_in_words(&mut self, message: String, execution: Execution) {
        let failure = self.failure(message, execution);
        self.feed(Event::Failed(failure));
    }

    /// Returns the failure in the form that the call's client expects.
    pub(super) fn failure(&self, message: String, execution: Execution) -> LinkFailure {
        let execution = self.retries.policy.overall(execution);
        LinkFailure { message, execution, retry: self.retries.policy.is_harmless(execution) }
    }

    /// Checks whether a server that did not answer in time is alive. If it is not, the silence is recorded as a
    /// failure of the server. Does nothing if the call waits for its client.
    pub(super) fn note_silence(&self) {
        let Some(link) = self.link().filter(|_| !self.exchange.is_waiting()) else { return };
        let (link, egress) = (Arc::clone(link), self.context.egress.clone());
        transport::task::spawn(async move {
            if let Err(why) = link.check_alive(&egress).await {
                link.server.note_failed(&why);
            }
        });
    }

    /// Keeps a request that was sent or, because the server has asked a question first, was not sent yet.
    pub(super) fn keep_request(&mut self, outbound: Outbound, input: &CallInput) {
        if matches!(input, CallInput::AskedFirst(_)) {
            self.retries.held =
                Some(Box::new(HeldRequest { outbound, until: tokio::time::Instant::now() + ANSWERED }));
        } else {
            self.keep_repeatable(outbound);
        }
    }

    /// Waits until the client has answered the question that the server asked first, for a short time, and then sends the
    /// request.
    pub(super) async fn send_held(&mut self) -> Option<Progress> {
        let (link, deadline) = (self.link().cloned(), self.exchange.deadline());
        let until = self.retries.held.as_ref().map(|held| held.until);
        let answered = async {
            if let (Some(link), Some(until)) = (&link, until) {
                link.roots_answered(until).await;
                link.roots.end();
            }
        };
        let input = tokio::select! {
            () = answered => None,
            notice = self.client.cancellation() => Some(CallInput::Cancelled(notice)),
            message = next_message(&mut self.side_channel) => Some(CallInput::SideChannel(message)),
            () = LazyDeadline::new(deadline) => Some(CallInput::Late),
        };
        match (input, self.retries.held.take()) {
            (None, Some(held)) => Box::pin(self.send(held.outbound, None)).await,
            (None, None) => None,
            (Some(input), held) => {
                self.retries.held = held;
                self.take(input)
            }
        }
    }

    /// Keeps a request whose answer is arriving, if it may be sent again after an interruption. Also keeps a
    /// request in the queue of a shared stream, because it may turn out that the request was never sent.
    pub(super) fn keep_repeatable(&mut self, outbound: Outbound) {
        let may_be_queued = self.link().is_some_and(|link| matches!(link.wire, Wire::Pipe(_) | Wire::Sse(_)));
        let is_kept = (may_be_queued || self.retries.policy.is_repeatable()) && outbound.body.len() <= KEPT;
        self.retries.repeatable = is_kept.then_some(outbound);
    }

    /// Returns the request to send again because its answer was interrupted, and the pause before that.
    pub(super) fn repeats(&mut self, input: &CallInput) -> Option<(Outbound, Pause)> {
        let (CallInput::Item(Err(error)) | CallInput::Replied(Err(error))) = input else { return None };
        let outbound = self.retries.repeatable.take()?;
        let pause = self.pause_before_resend(error)?;
        Some((outbound, pause))
    }

    /// Sends a request again because its answer was interrupted.
    pub(super) async fn send_again(&mut self, outbound: Outbound, pause: Pause) -> Option<Progress> {
        self.connection.source = None;
        if let Some(link) = self.link()
            && !link.is_alive()
        {
            self.connection.held = None;
        }
        match self.sent_after(pause, &outbound).await {
            // The server came back with another version; the exchange sends the request anew in this version.
            CallInput::Replied(Err(LinkError::OtherEra { speaks, .. })) if self.rewrite(speaks) => None,
            CallInput::Replied(Err(error)) => match self.pause_before_resend(&error) {
                Some(pause) => Box::pin(self.send_again(outbound, pause)).await,
                None => self.take(CallInput::Replied(Err(error))),
            },
            input => {
                self.keep_request(outbound, &input);
                self.take_reply(input).await
            }
        }
    }
}
