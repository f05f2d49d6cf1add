//! The reason why a recorded call did not succeed.

use std::str::FromStr;

/// The kind of the reason why a call failed or was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasonKind {
    /// An access rule hides the item from the caller, or denies the arguments.
    Rule,
    /// A rate limit was exceeded.
    RateLimit,
    /// Too many calls ran or waited at the same time.
    TooManyCalls,
    /// Nobody has approved the definition of the tool.
    Approval,
    /// The server requires the consent of the caller.
    Consent,
    /// The time passed while the call waited for its turn at the server.
    Queue,
    /// The server did not answer in time.
    Timeout,
    /// The server, or the connection to it, ended before it answered.
    Ended,
    /// The server could not be reached.
    Unavailable,
    /// The server answered with an error.
    ServerError,
    /// The result of the tool reports a failure.
    ToolError,
    /// The request was invalid, for example its arguments.
    Request,
    /// The name does not exist.
    UnknownName,
    /// The client cancelled the call, or was gone.
    Cancelled,
    /// The client did not answer a question.
    Unanswered,
    /// The gateway could not handle the request.
    Gateway,
}

impl ReasonKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Rule,
        Self::RateLimit,
        Self::TooManyCalls,
        Self::Approval,
        Self::Consent,
        Self::Queue,
        Self::Timeout,
        Self::Ended,
        Self::Unavailable,
        Self::ServerError,
        Self::ToolError,
        Self::Request,
        Self::UnknownName,
        Self::Cancelled,
        Self::Unanswered,
        Self::Gateway,
    ];

    /// The name under which the kind is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::RateLimit => "rateLimit",
            Self::TooManyCalls => "tooManyCalls",
            Self::Approval => "approval",
            Self::Consent => "consent",
            Self::Queue => "queue",
            Self::Timeout => "timeout",
            Self::Ended => "ended",
            Self::Unavailable => "unavailable",
            Self::ServerError => "serverError",
            Self::ToolError => "toolError",
            Self::Request => "request",
            Self::UnknownName => "unknownName",
            Self::Cancelled => "cancelled",
            Self::Unanswered => "unanswered",
            Self::Gateway => "gateway",
        }
    }

    /// The meaning of the kind, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Rule => "an access rule did not allow it",
            Self::RateLimit => "a rate limit stopped the call",
            Self::TooManyCalls => "too many calls ran or waited at the same time",
            Self::Approval => "the tool awaits approval of its definition",
            Self::Consent => "the caller had not given its consent to the server",
            Self::Queue => "the call waited too long for its turn at the server",
            Self::Timeout => "the server did not answer in time",
            Self::Ended => "the server or the connection to it ended before it answered",
            Self::Unavailable => "the server could not be reached",
            Self::ServerError => "the server answered with an error",
            Self::ToolError => "the tool reported a failure in its result",
            Self::Request => "the request was invalid",
            Self::UnknownName => "the profile has nothing with this name",
            Self::Cancelled => "the client cancelled the call, or was gone",
            Self::Unanswered => "the client did not answer the question of the server",
            Self::Gateway => "the gateway could not handle the request",
        }
    }

    /// Returns true if the server is at fault, and not the caller, a rule or a limit.
    pub fn blames_server(self) -> bool {
        matches!(self, Self::Timeout | Self::Ended | Self::Unavailable | Self::ServerError | Self::ToolError)
    }
}

impl FromStr for ReasonKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(())
    }
}

/// The reason why a call failed or was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedReason {
    /// The kind of the reason.
    pub kind: ReasonKind,
    /// The beginning of the error text, without secrets; empty if there is none.
    pub text: Box<str>,
}

impl RecordedReason {
    /// Returns the reason for people: the meaning of the kind, then the error text.
    pub fn in_words(&self) -> String {
        let meaning = self.kind.in_words();
        if self.text.is_empty() { meaning.to_owned() } else { format!("{meaning}: {}", self.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in ReasonKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert_eq!("later".parse::<ReasonKind>(), Err(()));
    }
}
