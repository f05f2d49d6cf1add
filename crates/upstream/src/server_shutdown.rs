//! The end of a server that is no longer configured. This module must not know links.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transport::net::Stop;

use crate::drain::Drain;

/// The shutdown of one server in three stages: begun, drained, complete.
pub struct ServerShutdown {
    /// Raised when the shutdown begins: running calls may finish, and the gateway no longer listens for the
    /// server's messages.
    pub begun: Stop,
    /// Signalled when a link is no longer needed; shared with per-caller upstreams.
    pub drain: Arc<Drain>,
    /// True once no more links may be opened.
    is_complete: AtomicBool,
}

impl ServerShutdown {
    pub(crate) fn new(drain: Arc<Drain>) -> Self {
        Self { begun: Stop::new(), drain, is_complete: AtomicBool::new(false) }
    }

    pub(crate) fn begin(&self) {
        self.begun.stop();
    }

    pub(crate) fn complete(&self) {
        self.begin();
        self.is_complete.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::SeqCst)
    }
}
