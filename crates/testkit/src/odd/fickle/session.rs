//! A client with a handshake: its capabilities, its stream of notifications, its open questions. This module must not
//! know any transport.

use super::call_stream::CallStream;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The highest value that the switch `forget` had when the session was opened.
    pub(super) epoch: u64,
    pub(super) capabilities: Value,
    /// The stream of notifications, while it is open.
    listener: Mutex<Option<Sender<Value>>>,
    asked: Mutex<HashMap<String, Sender<Value>>>,
    /// The resumable streams of calls.
    streams: Mutex<HashMap<u64, Arc<CallStream>>>,
}

impl Session {
    pub(super) fn new(epoch: u64, capabilities: Value) -> Self {
        Self { epoch, capabilities, ..Self::default() }
    }

    /// Opens the stream of notifications, and replaces the previous stream, if any.
    pub(super) fn listen(&self) -> Receiver<Value> {
        let (sender, receiver) = channel();
        *lock(&self.listener) = Some(sender);
        receiver
    }

    /// Sends a message over the stream of notifications; returns false if none is open.
    pub(super) fn tell(&self, message: Value) -> bool {
        lock(&self.listener).as_ref().is_some_and(|listener| listener.send(message).is_ok())
    }

    /// Keeps a new resumable stream.
    pub(super) fn keep_stream(&self, number: u64) -> Arc<CallStream> {
        Arc::clone(lock(&self.streams).entry(number).or_default())
    }

    /// The resumable stream with this number.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<CallStream>> {
        lock(&self.streams).get(&number).cloned()
    }

    /// A receiver for the answer to a question.
    pub(super) fn ask(&self, id: &str) -> Receiver<Value> {
        let (sender, receiver) = channel();
        lock(&self.asked).insert(id.to_owned(), sender);
        receiver
    }

    /// Accepts an answer of the client; returns false if there was no such question.
    pub(super) fn answered(&self, answer: Value) -> bool {
        let id = answer["id"].as_str().unwrap_or_default();
        let asked = lock(&self.asked).remove(id);
        asked.is_some_and(|asked| asked.send(answer).is_ok())
    }
}

/// Locks a mutex, even a poisoned one: a thread that panics while it holds the lock leaves no incomplete change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
