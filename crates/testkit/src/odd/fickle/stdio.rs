//! The fickle upstream over pipes: one thread per request, so that a slow request delays no other.

use super::server::{Fickle, Voice};
use super::session::Session;
use crate::odd::act::pause;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

/// The beginning of the text in an answer.
const TEXT: &str = "\"text\":\"";

/// Writes lines to stdout.
struct Lines;

impl Voice for Lines {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        write_line(format!("{message}\n").as_bytes())
    }
}

fn write_line(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}

/// Serves until stdin ends.
pub(super) fn run(server: &Arc<Fickle>) -> io::Result<()> {
    let mut session = Arc::new(Session::default());
    for line in io::stdin().lock().lines() {
        while server.switches().has("hang") {
            pause(Duration::from_millis(20));
        }
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        if message["method"].is_null() {
            session.answered(message);
            continue;
        }
        if message["method"] == "initialize" {
            session = server.open(&message).1;
            tell(session.listen());
        }
        if message["method"] == "subscriptions/listen" && server.is_stateless(&message) {
            listen(server, &message)?;
            continue;
        }
        if message["id"].is_null() {
            continue;
        }
        let (server, session) = (Arc::clone(server), Arc::clone(&session));
        std::thread::spawn(move || {
            let mut message = message;
            let more = message["params"]["arguments"]["bytes"].take().as_u64().unwrap_or(0);
            let answer = server.answer(&message, &session, &mut Lines).to_string();
            // If nobody reads the pipe, the end of stdin ends this process.
            let _ = write_line(format!("{}\n", enlarged(&answer, more)).as_bytes());
        });
    }
    Ok(())
}

/// Passes messages on to stdout, in a separate thread.
fn tell(messages: std::sync::mpsc::Receiver<Value>) {
    std::thread::spawn(move || {
        while let Ok(message) = messages.recv() {
            if Lines.send(&message).is_err() {
                return;
            }
        }
    });
}

/// Adds this number of bytes to the text of an answer. A large text that is part of the answer from the beginning would
/// take a build without optimization seconds to write as JSON.
fn enlarged(answer: &str, more: u64) -> Cow<'_, str> {
    let begins = answer.find(TEXT).map(|at| at + TEXT.len()).filter(|_| more > 0);
    let ends = begins.and_then(|at| Some(at + answer[at..].find('"')?));
    let more = "x".repeat(usize::try_from(more).unwrap_or(0));
    ends.map_or(answer.into(), |at| [&answer[..at], &more, &answer[at..]].concat().into())
}

fn listen(server: &Arc<Fickle>, message: &Value) -> io::Result<()> {
    let (sender, receiver) = std::sync::mpsc::channel();
    server.follow(message["id"].clone(), sender);
    Lines.send(&acknowledged(message))?;
    tell(receiver);
    Ok(())
}

/// The first message of a stateless client's stream of notifications.
pub(super) fn acknowledged(message: &Value) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
    let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })
}
