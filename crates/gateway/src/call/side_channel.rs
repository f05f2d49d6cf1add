//! Messages that reach a call outside its own stream: messages from its upstream, and replies from its client. This
//! module must not know their content.

use upstream::link::{Inbound, Inbox};

use super::CallContext;
use crate::session::question_origin::QuestionOrigin;

/// The side channel of one call.
pub(crate) struct SideChannel {
    number: u64,
    pub(crate) inbox: Inbox,
    /// True if the client has been asked a question, so its reply may still arrive.
    has_asked: bool,
}

impl SideChannel {
    pub(super) fn new(context: &CallContext) -> Self {
        Self { number: context.egress.next_key(), inbox: Inbox::default(), has_asked: false }
    }

    /// Returns the origin of the call's question with this index.
    pub(crate) fn asks(&mut self, question: usize) -> QuestionOrigin {
        self.has_asked = true;
        QuestionOrigin::Call(self.number, question, self.inbox.sender())
    }

    /// Returns the origin of the call's questions, if it has asked any.
    pub(crate) fn asked(&self) -> Option<QuestionOrigin> {
        self.has_asked.then(|| QuestionOrigin::Call(self.number, 0, self.inbox.sender()))
    }
}

/// Returns the next message that reaches the call outside its own stream.
pub(crate) async fn next_message(side_channel: &mut Option<SideChannel>) -> Inbound {
    match side_channel {
        Some(side_channel) => side_channel.inbox.next().await,
        None => std::future::pending().await,
    }
}
