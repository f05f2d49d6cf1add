//! The origin of a question to a client. This module must not know the question.

use std::sync::Arc;

use upstream::link::{InboxSender, OpenLink};

/// The origin of a question to a client.
#[derive(Clone)]
pub enum QuestionOrigin {
    /// An upstream, over this link.
    Link(Arc<OpenLink>),
    /// A call whose upstream sends questions as results of the call: the call's number, the question's number, and
    /// the sender for the reply.
    Call(u64, usize, InboxSender),
}

impl PartialEq for QuestionOrigin {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(a), Self::Link(b)) => a.id == b.id,
            (Self::Call(a, ..), Self::Call(b, ..)) => a == b,
            _ => false,
        }
    }
}
