//! The tools: listing and calling them. Each call contains a nonce, which is repeated in every message that the
//! call causes.

use super::server::{Fickle, LEVEL, Voice, capabilities, die};
use super::session::Session;
use super::switches::Switches;
use crate::odd::act::pause;
use serde_json::{Value, json};
use std::time::Duration;

/// The longest time that a question waits for its answer.
const ANSWER: Duration = Duration::from_secs(20);
/// The levels of the schema of the tool `deep`.
const DEPTH: usize = 200;

/// Tools with their descriptions; the first ones are read-only.
const READING: [(&str, &str); 4] = [
    ("read", "Returns the nonce."),
    ("talk", "Sends {notes} log messages and progress notes, then returns the nonce."),
    ("late", "Returns the nonce after {ms} milliseconds."),
    ("payload", "Returns the nonce and {bytes} further bytes."),
];
const WRITING: [(&str, &str); 3] = [
    ("write", "Returns the nonce; must never run twice."),
    ("ask", "Asks the client's model over the call's stream, or with {aside} over the stream of notices."),
    ("crash", "Ends the server in the middle of the call."),
];

/// The tools that are listed for a client with these capabilities.
pub(super) fn list(switches: &Switches, capabilities: &Value) -> Vec<Value> {
    let tool = |(name, description): (&str, &str)| json!({ "name": name, "description": description, "inputSchema": schema() });
    let mut tools: Vec<Value> = WRITING.into_iter().map(tool).collect();
    let more = switches.all("tool").map(|name| (name, "One more tool."));
    tools.extend(READING.into_iter().chain(more).map(|named| {
        let mut tool = tool(named);
        tool["annotations"] = json!({ "readOnlyHint": true, "idempotentHint": true });
        tool
    }));
    if switches.has("gate") && capabilities["sampling"].is_object() {
        tools.push(tool(("gated", "Only for clients that can be asked.")));
    }
    if switches.has("malformed") {
        tools.push(json!({ "name": "malformed", "description": 7, "inputSchema": "none" }));
    }
    if switches.has("deep") {
        let mut deep = json!({ "type": "string" });
        for _ in 0..DEPTH {
            deep = json!({ "type": "object", "properties": { "inner": deep } });
        }
        tools.push(json!({ "name": "deep", "inputSchema": deep }));
    }
    tools
}

/// A tool of realistic size that no client calls; there may be many of them.
pub(super) fn filler(number: usize) -> Value {
    let text = |what: &str| json!({ "type": "string", "description": format!("The {what} that entry {number} concerns.") });
    json!({
        "name": format!("filler_{number}"),
        "description": format!("Returns the entry {number} of the register, with its history and everything that refers to it."),
        "inputSchema": {
            "type": "object",
            "properties": { "id": text("entry"), "language": text("language"), "since": text("first day") },
            "required": ["id"],
        },
        "annotations": { "readOnlyHint": true },
    })
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "nonce": { "type": "string" } }, "required": ["nonce"] })
}

/// A call in progress.
pub(super) struct Call<'a> {
    pub(super) server: &'a Fickle,
    pub(super) session: &'a Session,
    pub(super) request: &'a Value,
    pub(super) stateless: bool,
    pub(super) switches: &'a Switches,
}

impl Call<'_> {
    /// Executes the call; returns a result or an error object.
    pub(super) fn run(&self, voice: &mut dyn Voice) -> Result<Value, Value> {
        let params = &self.request["params"];
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = &params["arguments"];
        let number = |key: &str| arguments[key].as_u64().unwrap_or(0);
        let nonce = arguments["nonce"].as_str().unwrap_or_default();
        if nonce.is_empty() {
            return Err(json!({ "code": -32602, "message": "every call needs a nonce" }));
        }
        let named = format!("{name}:{nonce}");
        match name {
            "ask" => return Ok(self.ask(voice, nonce)),
            "read" | "write" | "gated" => {}
            "late" => {
                self.server.executed(name, nonce);
                pause(Duration::from_millis(number("ms")));
                return Ok(content(&named));
            }
            "talk" => self.talk(voice, nonce, number("notes")),
            "payload" => {
                let bytes = usize::try_from(number("bytes")).unwrap_or(0);
                self.server.executed(name, nonce);
                return Ok(content(&format!("{named}:{}", "x".repeat(bytes))));
            }
            "crash" => {
                self.server.executed(name, nonce);
                die();
            }
            name if self.switches.all("tool").any(|more| more == name) => {}
            _ => return Err(json!({ "code": -32602, "message": format!("no tool {name}") })),
        }
        self.server.executed(name, nonce);
        Ok(content(&named))
    }

    /// Sends log messages and progress notifications; a disconnected client does not stop the call.
    fn talk(&self, voice: &mut dyn Voice, nonce: &str, notes: u64) {
        let meta = &self.request["params"]["_meta"];
        let (token, logs) = (&meta["progressToken"], !self.stateless || meta[LEVEL].is_string());
        for note in 1..=notes {
            if logs {
                let params =
                    json!({ "level": "error", "logger": "fickle", "data": { "nonce": nonce, "note": note } });
                let _ = voice
                    .send(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }));
            }
            if !token.is_null() {
                let params =
                    json!({ "progressToken": token, "progress": note, "total": notes, "message": nonce });
                let _ = voice
                    .send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
            }
        }
    }

    /// Asks the client's model who it is, and returns its answer.
    fn ask(&self, voice: &mut dyn Voice, nonce: &str) -> Value {
        if !capabilities(self.request, self.session)["sampling"].is_object() {
            self.server.executed("ask", nonce);
            return content(&format!("ask:{nonce}:nobody"));
        }
        let text = json!({ "type": "text", "text": format!("nonce {nonce}") });
        let question = json!({ "messages": [{ "role": "user", "content": text }], "maxTokens": 10 });
        let method = "sampling/createMessage";
        let answer = if self.stateless {
            match &self.request["params"]["inputResponses"]["who"] {
                Value::Null => {
                    let asked = json!({ "who": { "method": method, "params": question } });
                    return json!({ "resultType": "input_required", "inputRequests": asked, "requestState": nonce });
                }
                answer => answer.clone(),
            }
        } else {
            let id = format!("fickle-asks-{}", self.server.number());
            let answer = self.session.ask(&id);
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": question });
            let aside = self.request["params"]["arguments"]["aside"] == true;
            if !aside || !self.session.tell(message.clone()) {
                let _ = voice.send(&message);
            }
            let answer = answer.recv_timeout(ANSWER).unwrap_or_default();
            pause(Duration::from_millis(self.request["params"]["arguments"]["ms"].as_u64().unwrap_or(0)));
            answer["result"].clone()
        };
        self.server.executed("ask", nonce);
        let said = answer["content"]["text"].as_str().unwrap_or("nobody");
        content(&format!("ask:{nonce}:{said}"))
    }
}

fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}
