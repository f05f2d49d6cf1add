//! Records that a server does not ask for its client's roots when a link opens. This module must not know links.

use bytes::Bytes;
use parking_lot::Mutex;

/// Remembers that a server does not ask for roots when a link opens. Calls to such a server need not wait for its
/// question.
#[derive(Default)]
pub struct RootsHabit {
    /// The introduction of the server program that did not ask for roots. A program with another introduction may
    /// ask.
    silent: Mutex<Option<Bytes>>,
}

impl RootsHabit {
    /// Returns true if the server program with this introduction is known not to ask for roots.
    pub fn is_silent(&self, info: &[u8]) -> bool {
        self.silent.lock().as_ref().is_some_and(|silent| silent == info)
    }

    /// Records that the server program with this introduction did not ask for roots in time.
    pub fn note_silence(&self, info: &Bytes) {
        *self.silent.lock() = Some(info.clone());
    }

    /// Records that the server has asked for roots after all; returns true if the server was known not to ask.
    pub fn forget_silence(&self) -> bool {
        self.silent.lock().take().is_some()
    }

    /// Returns the introduction of the server program that is known not to ask for roots.
    pub fn silent(&self) -> Option<Bytes> {
        self.silent.lock().clone()
    }
}
