//! A client with a handshake: what it declared, where it listens, what it was asked. It must not know any transport.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The value of the switch `forget` when it was opened.
    pub(super) epoch: u64,
    pub(super) capabilities: Value,
    /// The stream of notices, while one is open.
    listener: Mutex<Option<Sender<Value>>>,
    asked: Mutex<HashMap<String, Sender<Value>>>,
}

impl Session {
    pub(super) fn new(epoch: u64, capabilities: Value) -> Self {
        Self { epoch, capabilities, ..Self::default() }
    }

    /// Opens the stream of notices, in place of any other.
    pub(super) fn listen(&self) -> Receiver<Value> {
        let (sender, receiver) = channel();
        *lock(&self.listener) = Some(sender);
        receiver
    }

    /// Sends a message over the stream of notices; false when nobody listens.
    pub(super) fn tell(&self, message: Value) -> bool {
        lock(&self.listener).as_ref().is_some_and(|listener| listener.send(message).is_ok())
    }

    /// The place where the answer to a question arrives.
    pub(super) fn ask(&self, id: &str) -> Receiver<Value> {
        let (sender, receiver) = channel();
        lock(&self.asked).insert(id.to_owned(), sender);
        receiver
    }

    /// Takes an answer of the client; false when nobody asked.
    pub(super) fn answered(&self, answer: Value) -> bool {
        let id = answer["id"].as_str().unwrap_or_default();
        let asked = lock(&self.asked).remove(id);
        asked.is_some_and(|asked| asked.send(answer).is_ok())
    }
}

/// Nothing is left half done when a holder panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
