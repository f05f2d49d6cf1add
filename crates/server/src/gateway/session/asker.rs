//! Who put a question to a client. It must not know what was asked.

use std::sync::Arc;

use tokio::sync::mpsc;
use upstream::link::{Inbound, OpenLink};

/// Who put a question to a client.
#[derive(Clone)]
pub(crate) enum Asker {
    /// An upstream, over this link.
    Link(Arc<OpenLink>),
    /// A call whose upstream asks by results: the call's number, that of the question, and where the reply goes.
    Call(u64, usize, mpsc::Sender<Inbound>),
}

impl PartialEq for Asker {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(a), Self::Link(b)) => a.id == b.id,
            (Self::Call(a, ..), Self::Call(b, ..)) => a == b,
            _ => false,
        }
    }
}
