//! The messages that a client receives, and the check that each was meant for it. This module must not know how
//! messages are transported.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The prefix of every nonce, so that a nonce in any text is found.
const MARK: &str = "n0nce-";
/// The maximum length of a text in a report, in characters: enough for all members of an error.
const SHOWN: usize = 2000;
/// The maximum number of faults that a client reports.
const FAULTS: usize = 20;

/// All messages that one client received.
#[derive(Debug)]
pub(crate) struct Hearing {
    /// The client's name, which is its answer to every question.
    name: String,
    /// The root that the client names; the client's name if no root is set.
    root: Option<String>,
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    /// The nonces of this client's calls.
    own: HashSet<String>,
    /// The number of messages of each method.
    methods: BTreeMap<String, usize>,
    /// Answers that arrived over the stream of a session, by id.
    answers: BTreeMap<u64, Value>,
    answered: HashSet<u64>,
    /// True if a stream of the session has ended.
    ended: bool,
    faults: Vec<String>,
}

impl Hearing {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), root: None, heard: Mutex::default(), news: Condvar::new() }
    }

    /// Creates the record of a client that names this root.
    pub(crate) fn with_root(name: &str, uri: &str) -> Self {
        Self { root: Some(uri.to_owned()), ..Self::new(name) }
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A nonce for the next call.
    pub(crate) fn nonce(&self) -> String {
        let mut heard = self.lock();
        let nonce = format!("{MARK}{}-{}", self.name, heard.own.len() + 1);
        heard.own.insert(nonce.clone());
        nonce
    }

    /// Records something that should not have happened.
    pub(crate) fn fault(&self, what: &str) {
        let mut heard = self.lock();
        if heard.faults.len() < FAULTS {
            heard.faults.push(format!("{}: {what}", self.name));
        }
    }

    /// All faults so far.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    /// The number of messages of a method so far.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.lock().methods.get(method).copied().unwrap_or(0)
    }

    /// The number of answers and of messages of each method so far, as text.
    pub(crate) fn summary(&self) -> String {
        let heard = self.lock();
        let answers = format!("{} answers", heard.answered.len());
        let methods = heard.methods.iter().map(|(method, count)| format!("{count} {method}"));
        std::iter::once(answers).chain(methods).collect::<Vec<_>>().join(", ")
    }

    /// Waits until more than `before` messages of a method have arrived.
    pub(crate) fn more_than(&self, before: usize, method: &str, within: Duration) -> bool {
        self.wait(within, |heard| {
            heard.methods.get(method).is_some_and(|count| *count > before).then_some(())
        })
        .is_some()
    }

    /// Waits for the answer to a request that was sent over a session's stream.
    pub(crate) fn answer(&self, id: u64, within: Duration) -> Option<Value> {
        let found = |heard: &mut Heard| match heard.answers.remove(&id) {
            None if heard.ended => Some(None),
            answer => answer.map(Some),
        };
        self.wait(within, found).flatten()
    }

    /// Records that a stream of the session has ended: in HTTP+SSE, no further answer will arrive.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.news.notify_all();
    }

    /// Waits for the end of a stream of the session.
    pub(crate) fn ends(&self, within: Duration) -> bool {
        self.wait(within, |heard| heard.ended.then_some(())).is_some()
    }

    fn wait<T>(&self, within: Duration, mut found: impl FnMut(&mut Heard) -> Option<T>) -> Option<T> {
        let until = Instant::now() + within;
        let mut heard = self.lock();
        loop {
            if let Some(found) = found(&mut heard) {
                return Some(found);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes a message as the answer to its request. The answer must not contain another client's nonce, and there
    /// must be only one answer to each request.
    pub(crate) fn take_answer(&self, message: &Value) {
        self.check_nonces("an answer", message);
        let id = message["id"].as_u64().unwrap_or_default();
        if !self.lock().answered.insert(id) {
            self.fault(&format!("a second answer to request {id}: {message}"));
        }
    }

    /// Takes a message of the server; returns the reply if it is a question.
    pub(crate) fn hear(&self, message: &Value) -> Option<Value> {
        let Some(method) = message["method"].as_str() else {
            self.take_answer(message);
            if let Some(id) = message["id"].as_u64() {
                self.lock().answers.insert(id, message.clone());
                self.news.notify_all();
            }
            return None;
        };
        self.check_nonces(method, message);
        *self.lock().methods.entry(method.to_owned()).or_default() += 1;
        self.news.notify_all();
        let id = &message["id"];
        if id.is_null() {
            return None;
        }
        Some(match self.reply(method) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not here" } }),
        })
    }

    /// The answer to a question: this client's name.
    pub(crate) fn reply(&self, method: &str) -> Option<Value> {
        let name = self.name.as_str();
        match method {
            "sampling/createMessage" => {
                let content = json!({ "type": "text", "text": name });
                Some(
                    json!({ "role": "assistant", "content": content, "model": "chaos", "stopReason": "endTurn" }),
                )
            }
            "elicitation/create" => Some(json!({ "action": "accept", "content": { "answer": name } })),
            "roots/list" => {
                let root = self.root.clone().unwrap_or_else(|| format!("file:///{name}"));
                Some(json!({ "roots": [{ "uri": root, "name": name }] }))
            }
            "ping" => Some(json!({})),
            _ => None,
        }
    }

    /// Reports each nonce in a message that does not belong to a call of this client.
    pub(crate) fn check_nonces(&self, what: &str, message: &Value) {
        let text = message.to_string();
        let foreign: Vec<&str> = {
            let heard = self.lock();
            nonces(&text).filter(|nonce| !heard.own.contains(*nonce)).collect()
        };
        for nonce in foreign {
            self.fault(&format!("{what} with the foreign nonce {nonce}: {}", short(&text)));
        }
    }
}

/// The nonces in a text.
pub(crate) fn nonces(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(MARK).map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// The beginning of a text, short enough for one line of a report.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::{Hearing, nonces};
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn nonces_are_found_in_any_text() {
        let text = r#"{"a":"read:n0nce-x-1","b":["n0nce-y-22"]}"#;
        assert_eq!(nonces(text).collect::<Vec<_>>(), ["n0nce-x-1", "n0nce-y-22"]);
    }

    #[test]
    fn foreign_and_doubled_messages_are_faults() {
        let hearing = Hearing::new("x");
        let own = hearing.nonce();
        let log = |nonce: &str| json!({ "method": "notifications/message", "params": { "data": { "nonce": nonce } } });
        assert_eq!(hearing.hear(&log(&own)), None);
        assert_eq!(hearing.faults(), Vec::<String>::new());
        hearing.hear(&log("n0nce-y-1"));
        assert!(hearing.faults()[0].contains("foreign nonce n0nce-y-1"));
        let answer = json!({ "id": 7, "result": {} });
        hearing.hear(&answer);
        assert_eq!(hearing.answer(7, Duration::ZERO), Some(answer.clone()));
        hearing.hear(&answer);
        assert!(hearing.faults()[1].contains("second answer"));
    }

    #[test]
    fn questions_are_answered_by_name() {
        let hearing = Hearing::new("ann");
        let question = json!({ "id": "q", "method": "sampling/createMessage", "params": {} });
        assert_eq!(hearing.hear(&question).unwrap()["result"]["content"]["text"], "ann");
        assert_eq!(hearing.count("sampling/createMessage"), 1);
    }
}
