//! What happens to an exchange, and what it wants done.

use std::time::Duration;

use bytes::Bytes;
use proto::bridge::input::Question;
use proto::rpc::{Frame, Id};

use super::{Outbound, Ticket};
use crate::fault::Fault;

/// The time that an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Without an answer or a sign of progress, as long as the upstream does not itself wait for the client.
    pub idle: Duration,
    /// In all.
    pub overall: Duration,
}

/// A link that broke, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFailure {
    /// What happened and what to do.
    pub message: String,
    /// True if the request was certainly not acted on.
    pub retry: bool,
}

/// What the shell brings.
#[derive(Debug)]
pub enum Event {
    /// A message from the upstream on this exchange's stream; with its HTTP status when it was the whole answer.
    Frame(Frame, Option<u16>),
    /// The upstream's stream ended without an answer, or could not be had.
    Failed(LinkFailure),
    /// The client wants it no more, and said so. Its notification, if there was one.
    Cancelled(Option<Frame>),
    /// The upstream's question has been answered, by the client or in its place. Where the shell does not see that, the
    /// upstream's next message says so as well.
    Answered,
    /// The client's reply to the question with this number, which a [`Step::Put`] had.
    Replied(usize, Frame),
    /// The deadline has passed.
    Expired,
}

/// What the shell has to do next.
#[derive(Debug)]
pub enum Step {
    /// Send this to its upstream.
    Send(Outbound),
    /// Give this notification to the client, on the stream of its request.
    Relay(Bytes),
    /// Put this question of the upstream to the client, on the stream of its request.
    Ask(Frame),
    /// Put this question, which the upstream's result had, to the client, on the stream of its request.
    Put(Question),
    /// Tell the upstream that its question cannot be put to the client, and why.
    Refuse(Frame, String),
    /// Send this to the upstream; it is a response to a question of its own.
    Tell(Bytes),
    /// Answer the client with this, and keep the exchange under the ticket until the client comes back with answers.
    Park(Ticket, Answer),
    /// The upstream takes a question back: tell the client, under the id that it knows.
    Withdraw(Frame),
    /// Tell the upstream that the request is over.
    Cancel(Bytes),
    /// Answer the client; the exchange is over.
    Answer(Answer),
    /// The exchange is over, and nobody waits for an answer.
    End,
}

/// A response for the client.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status, where there is HTTP.
    pub status: u16,
    /// The response.
    pub body: Bytes,
    /// True if it is the upstream's result, rather than an error of anybody.
    pub ok: bool,
    /// What went wrong, where it is not the upstream that answers.
    pub fault: Option<Box<Fault>>,
}

impl Answer {
    /// What an upstream answered; `ok` when it is a result.
    pub fn said(status: u16, body: Bytes, ok: bool) -> Self {
        Self { status, body, ok, fault: None }
    }

    /// The fault as the answer to the request with this id.
    pub fn fault(status: u16, fault: Fault, id: &Id) -> Self {
        Self { status, body: fault.response(Some(id)), ok: false, fault: Some(Box::new(fault)) }
    }
}
