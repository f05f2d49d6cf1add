//! The events and steps of an exchange.

use std::time::Duration;

use bytes::Bytes;
use proto::bridge::input::Question;
use proto::json::quote;
use proto::rpc::{Frame, Id};

use super::{Execution, Outbound, Ticket};
use crate::fault::Fault;

/// Time limits of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The maximum time without an answer or progress; the time in which the upstream itself waits for the client does not
    /// count.
    pub idle: Duration,
    /// The maximum time for the whole request.
    pub overall: Duration,
    /// True if `overall` comes from the client's profile, whose time for the tool is shorter than the server's.
    pub is_profiles: bool,
}

impl Timeouts {
    /// The time limits of a server.
    pub const fn of_server(idle: Duration, overall: Duration) -> Self {
        Self { idle, overall, is_profiles: false }
    }

    /// The time limits if a profile allows at most `most` for the whole request.
    #[must_use]
    pub fn within(self, most: Duration) -> Self {
        if most >= self.overall {
            return self;
        }
        Self { idle: self.idle.min(most), overall: most, is_profiles: true }
    }
}

/// A description of a failed link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFailure {
    /// The failure, with a suggested fix.
    pub message: String,
    /// The state of the request's execution.
    pub execution: Execution,
    /// True if sending the same request again does no harm: it was not executed, or it can be repeated.
    pub retry: bool,
}

impl LinkFailure {
    /// The fault for the client: the failure, and the state of the request's execution.
    pub fn fault(self, server: &str) -> Fault {
        let Self { message, execution, retry } = self;
        let message = format!("server {server:?} {message} ({})", execution.in_words());
        let data = format!(
            "{{\"server\":{},\"retry\":{retry},\"executed\":\"{}\"}}",
            quote(server),
            execution.word()
        );
        Fault::upstream(server, retry, message).with_data(data)
    }
}

/// An event that the gateway's loop reports to an exchange.
#[derive(Debug)]
pub enum Event {
    /// A message from the upstream on this exchange's stream, and the HTTP status if the message was the whole answer.
    Frame(Frame, Option<u16>),
    /// The upstream's stream ended without an answer, or could not be opened.
    Failed(LinkFailure),
    /// The client cancelled the request; contains its notification, if there was one.
    Cancelled(Option<Frame>),
    /// The upstream's question has been answered, by the client or on its behalf. If the loop does not see the answer, the
    /// upstream's next message implies that there was one.
    Answered,
    /// The client's reply to the question with this number, which a [`Step::Put`] asked.
    Replied(usize, Frame),
    /// The deadline has passed.
    Expired,
    /// The deadline passed before the request could be sent.
    Unreached,
}

/// The next step that the gateway's loop performs for an exchange.
#[derive(Debug)]
pub enum Step {
    /// Send this message to its upstream.
    Send(Outbound),
    /// Send this notification to the client, on the stream of its request.
    Relay(Bytes),
    /// Ask the client this question from the upstream, on the stream of its request.
    Ask(Frame),
    /// Ask the client this question, which was in the upstream's result, on the stream of its request.
    Put(Question),
    /// Tell the upstream that the client cannot be asked this question, and why.
    Refuse(Frame, String),
    /// Send this response to a question from the upstream.
    Tell(Bytes),
    /// Send this answer to the client, and keep the exchange under the ticket until the client returns with its
    /// answers.
    Park(Ticket, ExchangeAnswer),
    /// Tell the client that the upstream withdraws a question, under the id that the client knows.
    Withdraw(Frame),
    /// Tell the upstream that the request is cancelled.
    Cancel(Bytes),
    /// Send this answer to the client; the exchange is over.
    Answer(ExchangeAnswer),
    /// End the exchange without an answer, because the client no longer waits for one.
    End,
}

/// A response for the client.
#[derive(Debug, Clone)]
pub struct ExchangeAnswer {
    /// The HTTP status, used over HTTP.
    pub status: u16,
    /// The JSON-RPC response.
    pub body: Bytes,
    /// True if the response is the upstream's result, and not an error from any party.
    pub ok: bool,
    /// The fault, if the answer does not come from the upstream.
    pub fault: Option<Box<Fault>>,
}

impl ExchangeAnswer {
    /// An upstream's answer; `ok` is true if it is a result.
    pub fn upstream(status: u16, body: Bytes, ok: bool) -> Self {
        Self { status, body, ok, fault: None }
    }

    /// A fault as the answer to the request with this id.
    pub fn fault(status: u16, fault: Fault, id: &Id) -> Self {
        Self { status, body: fault.response(Some(id)), ok: false, fault: Some(Box::new(fault)) }
    }
}
