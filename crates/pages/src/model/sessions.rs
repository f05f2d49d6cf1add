//! Sessions, streams, and the calls that wait.

use super::{Caller, ForeignText, Millis, Paging};

/// Sessions and streams.
#[derive(Debug, Clone, Default)]
pub struct SessionsPage {
    /// The filter: a part of the caller, the client or the address. The query parameter is `q`.
    pub q: ForeignText,
    /// The sessions that match the filter, the most recently used first.
    pub sessions: Vec<SessionRow>,
    /// The position of these sessions in the whole list.
    pub paging: Paging,
    /// The open event streams.
    pub streams: Vec<StreamRow>,
    /// The calls that run, or wait for their turn, the oldest first.
    pub calls: Vec<CallNowRow>,
    /// The questions that clients have not answered, with the calls that wait for the answers.
    pub parked: Vec<ParkedRow>,
    /// The servers at which calls run or wait.
    pub queues: Vec<QueueRow>,
    /// The maximum number of sessions.
    pub limit: u64,
}

/// A session.
#[derive(Debug, Clone, Default)]
pub struct SessionRow {
    /// The id for the form that ends the session; never the id that clients send.
    pub id: String,
    /// The caller.
    pub principal: Caller,
    /// The name and version that the client claims.
    pub client: ForeignText,
    /// The protocol version.
    pub era: ForeignText,
    /// The transport: `http`, `sse`, `stdio`.
    pub transport: ForeignText,
    /// The profile.
    pub profile: ForeignText,
    /// The client's address.
    pub address: Option<ForeignText>,
    /// The time at which the session began.
    pub opened: Millis,
    /// The time of the last request.
    pub used: Millis,
    /// The number of open event streams.
    pub streams: u64,
    /// The number of running calls.
    pub calls: u64,
    /// The number of questions that the client has not answered.
    pub questions: u64,
    /// The capabilities that the client declared: `sampling`, `elicitation`.
    pub capabilities: Vec<ForeignText>,
}

/// An open event stream.
#[derive(Debug, Clone, Default)]
pub struct StreamRow {
    /// The caller.
    pub principal: Caller,
    /// The name and version that the client claims.
    pub client: ForeignText,
    /// The purpose: `subscriptions/listen`, `GET`.
    pub purpose: ForeignText,
    /// The time at which the stream was opened.
    pub opened: Millis,
}

/// A call that runs, or waits for its turn.
#[derive(Debug, Clone, Default)]
pub struct CallNowRow {
    /// The tool, or the method of another request.
    pub target: ForeignText,
    /// The server.
    pub server: ForeignText,
    /// The caller.
    pub principal: Caller,
    /// The name and version that the client claims.
    pub client: Option<ForeignText>,
    /// The time at which the call began.
    pub since: Millis,
    /// The stage of the call.
    pub stage: CallNowStage,
}

/// The stage of a call in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallNowStage {
    /// The server works on the call.
    #[default]
    Runs,
    /// The call waits until another call of the server has ended.
    Waits,
    /// The call waits until its client answers a question.
    Asks,
}

/// A question that a client has not answered, or a call that waits for the answers to several.
#[derive(Debug, Clone, Default)]
pub struct ParkedRow {
    /// The questions: the method, and the text that is asked.
    pub questions: Vec<(ForeignText, ForeignText)>,
    /// The name and version that the client claims, if they are known.
    pub client: Option<ForeignText>,
    /// The caller.
    pub principal: Caller,
    /// The tool and its server, if a call waits for its client.
    pub call: Option<(ForeignText, ForeignText)>,
    /// The time at which the question was asked.
    pub since: Millis,
    /// The time at which the gateway stops waiting, if it is known.
    pub until: Option<Millis>,
}

/// The calls at one server.
#[derive(Debug, Clone, Default)]
pub struct QueueRow {
    /// The server.
    pub server: ForeignText,
    /// The number of calls that run.
    pub running: u64,
    /// The number of calls that may run at the same time; `None` if there is no limit.
    pub limit: Option<u64>,
    /// The number of calls that wait.
    pub waiting: u64,
    /// The number of calls that may wait, of all callers and of one caller; `None` if there is no limit of running calls.
    pub queue: Option<(u64, u64)>,
    /// The reason for the wait, if the server is the reason.
    pub reason: Option<ForeignText>,
}
