//! Questions from a call's server to its client. This module must not know how the client answers.

use std::time::Instant;

use bytes::Bytes;
use engine::exchange::Event;
use proto::bridge::input::Question;
use proto::mcp::Method;
use proto::rpc::{Frame, FrameKind, Id, code, error_response};
use upstream::link::{DOUBTFUL, Wire};

use super::call::Call;
use super::caller::Caller;
use super::capture::Lane;
use super::in_progress::CallStage;
use super::side_channel::SideChannel;
use crate::session::question_origin::QuestionOrigin;

/// The reason that a server receives if it asks for roots on a link that several clients share.
const SHARED: &str = "several clients share this connection, so nobody is asked for roots on it";

/// The reason that a server receives if the client cannot answer its question.
const UNASKABLE: &str = "the client of this call cannot answer questions from servers";

impl Call {
    /// Registers an upstream's question; returns the text for the client's stream, if the client can answer questions.
    pub(super) fn ask(&self, question: &Frame) -> Option<Bytes> {
        let link = self.link()?;
        let refusal = match &self.caller {
            Caller::Session(session)
                if link.own || link.recipients.turn() == Some(session.links.attribution) =>
            {
                match session.asks.lock().ask(QuestionOrigin::Link(link.clone()), question, Instant::now()) {
                    Ok(text) => {
                        self.at_stage(CallStage::Asks);
                        return Some(text);
                    }
                    Err(fault) => fault.to_string(),
                }
            }
            _ => UNASKABLE.to_owned(),
        };
        link.refuse(&self.context.egress, question, &refusal);
        None
    }

    /// Refuses a question for roots on a link that clients share, and a question on a pipe that clients share in turn, if it may
    /// belong to another client's abandoned call. Returns `false` for any other message.
    pub(super) fn refuses_doubtful(&self, frame: &Frame) -> bool {
        let Some(link) = self.link().filter(|_| frame.kind() == FrameKind::Request) else { return false };
        // The server would take the roots of this client for those of every client on the link.
        if !link.own && frame.method() == Method::RootsList.name() {
            link.refuse(&self.context.egress, frame, SHARED);
            return true;
        }
        // Over HTTP, the question came on the call's own stream.
        let is_refused = !matches!(link.wire, Wire::Http(_)) && link.is_in_doubt();
        if is_refused {
            link.refuse(&self.context.egress, frame, DOUBTFUL);
        }
        is_refused
    }

    /// Registers a question from an upstream's result; returns the text for the client's stream, if the client can be
    /// asked.
    pub(super) fn put(&mut self, question: &Question) -> Option<Bytes> {
        let limits = self.context.egress.frame_limits();
        let refusal = match &self.caller {
            Caller::Session(session) => {
                let side_channel = self.side_channel.get_or_insert_with(|| SideChannel::new(&self.context));
                let origin = side_channel.asks(question.index);
                match session.asks.lock().put(origin, question, limits, Instant::now()) {
                    Ok(text) => {
                        self.at_stage(CallStage::Asks);
                        return Some(text);
                    }
                    Err(fault) => fault.to_string(),
                }
            }
            Caller::Stateless(..) => UNASKABLE.to_owned(),
        };
        let refusal = error_response(Some(&Id::number(0)), code::INTERNAL_ERROR, &refusal, None);
        if let Ok(frame) = Frame::parse(refusal, limits) {
            self.feed(Event::Replied(question.index, frame));
        }
        None
    }

    /// Withdraws an upstream's question; returns the text for the client's stream if the client was asked.
    pub(super) fn withdraw(&self, notice: &Frame) -> Option<Bytes> {
        let Caller::Session(session) = &self.caller else { return None };
        session.asks.lock().withdraw(&QuestionOrigin::Link(self.link()?.clone()), notice)
    }

    /// Sends the server a message that needs no response.
    pub(super) fn tell(&self, text: Bytes) {
        if let Some(record) = &self.record {
            record.capture(Lane::ToServer, &text);
        }
        if let Some(link) = self.link() {
            link.enqueue(&self.context.egress, text);
            if self.retries.held.is_some() {
                link.roots.answered();
            }
        }
    }
}
