//! The fickle upstream over pipes: one thread per request, so that a slow request delays no other.

use super::server::{Fickle, Voice};
use super::session::Session;
use crate::odd::act::pause;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

/// Writes lines to stdout.
struct Lines;

impl Voice for Lines {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(format!("{message}\n").as_bytes())?;
        out.flush()
    }
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
            let answer = server.answer(&message, &session, &mut Lines);
            // If nobody reads the pipe, the end of stdin ends this process.
            let _ = Lines.send(&answer);
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
