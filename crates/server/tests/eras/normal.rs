//! Messages in the form of transcripts: as on the wire, except that values which differ between runs are replaced by
//! names, numbered in order of appearance within a section.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::section::{Line, Side};

/// Members with unpredictable values, and their names.
const NAMED: &[(&str, &str)] = &[
    ("requestState", "state"),
    ("taskId", "task"),
    ("elicitationId", "elicitation"),
    ("nextCursor", "cursor"),
    ("cursor", "cursor"),
];

/// The upstream's pages, whose URLs also have unpredictable ends.
const VISIT: &str = "https://fixture.example/visit/";

/// Members that contain a time.
const TIMES: &[&str] = &["createdAt", "lastUpdatedAt"];

/// Members that identify a client or server.
const INFO: &[&str] =
    &["serverInfo", "clientInfo", "io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/clientInfo"];

/// The metadata of each stateless request.
const ENVELOPE: &[&str] = &[
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// The metadata of each stateless result.
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// The metadata that names the request of a notification.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The tool whose description changes.
const CHANGING: &str = "test_changing_tool";

/// Entries of lists that are shown; all others are counted.
const SHOWN: &[&str] = &[
    "test_simple_text",
    "json_schema_2020_12_tool",
    "test_x_mcp_header",
    CHANGING,
    "test_described_tool",
    "test_structured_content",
    "test_structured_array",
    "many_000",
    "test_prompt_with_arguments",
    "test_changing_prompt",
    "static-text",
    "many-000",
    "template",
];

/// The names of IDs, by side and sender: the gateway (or, on the client's side, the client), or its peer.
type Ids = HashMap<(Side, bool, String), String>;

/// The assigned names.
#[derive(Default)]
pub(crate) struct Names {
    /// Texts that a transcript shows in full only once.
    shown: HashMap<String, usize>,
    section: Section,
}

/// The names of one section.
#[derive(Default)]
struct Section {
    /// The entries of lists that are shown.
    shown: &'static [&'static str],
    ids: Ids,
    given: HashMap<(&'static str, String), usize>,
    counts: HashMap<&'static str, usize>,
}

impl Names {
    /// Forgets the names of the previous section; the new one is of `feature`.
    pub(crate) fn begin(&mut self, feature: &str) {
        let shown = if feature == "list-changed" { &[CHANGING] } else { SHOWN };
        self.section = Section { shown, ..Section::default() };
    }

    /// Shows the metadata that each stateless request and result repeats only once.
    fn abridge(&mut self, members: &mut Map<String, Value>) {
        if ENVELOPE.iter().all(|key| members.contains_key(*key)) {
            let envelope: Map<_, _> =
                ENVELOPE.iter().map(|key| ((*key).to_owned(), members[*key].clone())).collect();
            let (name, new) = self.once("envelope", &Value::Object(envelope));
            let rest = std::mem::take(members);
            members.insert(name, if new { json!("as follows") } else { json!("as above") });
            members.extend(rest.into_iter().filter(|(key, _)| new || !ENVELOPE.contains(&key.as_str())));
        }
        if let Some(info) = members.get_mut(SERVER) {
            let (name, new) = self.once("server", info);
            if !new {
                *info = json!(name);
            }
        }
    }

    /// The name of a value, and true if the value has not been shown yet.
    fn once(&mut self, kind: &str, value: &Value) -> (String, bool) {
        let next = self.shown.keys().filter(|known| known.starts_with(kind)).count() + 1;
        let known = self.shown.len();
        let number = *self.shown.entry(format!("{kind} {value}")).or_insert(next);
        (format!("<{kind} {number}>"), self.shown.len() > known)
    }

    /// The line in the transcript's form.
    pub(crate) fn render(&mut self, line: &Line) -> String {
        let arrow = match (line.side, line.to_server) {
            (Side::Client, true) => "C>",
            (Side::Client, false) => "C<",
            (Side::Upstream, true) => "U<",
            (Side::Upstream, false) => "U>",
        };
        let mut message = match &line.what {
            Ok(message) => message.clone(),
            Err(note) => return format!("{arrow} ({note})"),
        };
        self.ids_of(line, &mut message);
        self.values(line, &mut message);
        shorten(&mut message, self.section.shown);
        format!("{arrow} {message}")
    }

    /// The name for the ID of a new request.
    fn new_id(&mut self, line: &Line, id: &Value) -> Value {
        // The test chose the client's own IDs.
        if line.side == Side::Client && line.to_server {
            return id.clone();
        }
        let own = line.side == Side::Client || line.to_server;
        let mark = if own { "#" } else { "@" };
        let count = self.section.counts.entry(if own { side_key(line.side) } else { "theirs" }).or_default();
        *count += 1;
        let name = format!("{mark}{count}");
        self.section.ids.insert((line.side, line.to_server, id.to_string()), name.clone());
        json!(name)
    }

    /// The name of a known ID; `to_server` determines the sender.
    fn known(&self, side: Side, to_server: bool, id: &Value) -> Option<Value> {
        self.section.ids.get(&(side, to_server, id.to_string())).map(|name| json!(name))
    }

    fn ids_of(&mut self, line: &Line, message: &mut Value) {
        let Some(id) = message.get("id").cloned() else { return };
        let named = if message.get("method").is_some() {
            Some(self.new_id(line, &id))
        } else {
            self.known(line.side, !line.to_server, &id)
        };
        if let Some(named) = named {
            message["id"] = named;
        }
    }

    fn values(&mut self, line: &Line, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.values(line, item)),
            Value::Object(members) => self.members(line, members),
            _ => {}
        }
    }

    fn members(&mut self, line: &Line, members: &mut Map<String, Value>) {
        self.abridge(members);
        let is_cacheable = members.contains_key("cacheScope") && line.side == Side::Client;
        for (key, value) in members.iter_mut() {
            if TIMES.contains(&key.as_str()) && value.is_string() {
                *value = json!("<time>");
            } else if is_cacheable && key == "ttlMs" && *value != json!(0) {
                // Some milliseconds have passed by the time that a list is sent.
                *value = json!("<left>");
            } else if INFO.contains(&key.as_str()) && value.is_object() {
                if value["version"] == env!("CARGO_PKG_VERSION") {
                    value["version"] = json!("<version>");
                }
            } else if key == "protocolVersion" && line.side == Side::Upstream && line.to_server {
                // Over HTTP, the version is the client's own; over a pipe, which all clients share, it is the newest.
                *value = json!("<asked>");
            } else if key == "elicitation" && *value == json!({}) && line.side == Side::Upstream {
                // This is the same capability in the form of the newest version.
                *value = json!({"form": {}});
            } else if key == "progressToken" || key == SUBSCRIPTION {
                // A token of the gateway is the ID of its request.
                if let Some(named) = self.known(line.side, true, value) {
                    *value = named;
                } else if line.side == Side::Upstream && key == SUBSCRIPTION {
                    // That request belongs to an earlier section.
                    *value = self.new_id(&Line { to_server: true, ..line.clone() }, value);
                }
            } else if key == "requestId" {
                if let Some(named) = self.known(line.side, line.to_server, value) {
                    *value = named;
                }
            } else if let Some(id) =
                value.as_str().and_then(|text| text.strip_prefix(VISIT)).filter(|id| !id.is_empty())
            {
                *value = json!(format!("{VISIT}{}", self.name("visit", id)));
            } else if let Some((_, kind)) = NAMED.iter().find(|(name, _)| name == key)
                && let Some(text) = value.as_str().filter(|text| !is_ours(text))
            {
                *value = json!(self.name(kind, text));
            } else {
                if matches!(key.as_str(), "inputRequests" | "inputResponses") {
                    self.keys(value);
                }
                self.values(line, value);
            }
        }
    }

    /// The gateway's own keys for questions of tasks contain numbers.
    fn keys(&mut self, questions: &mut Value) {
        let Some(questions) = questions.as_object_mut() else { return };
        for (key, question) in std::mem::take(questions) {
            let own = key.strip_prefix('t').and_then(|rest| rest.split_once('-'));
            let own = own.is_some_and(|(task, number)| {
                [task, number].iter().all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            });
            let key = if own { self.name("question", &key) } else { key };
            questions.insert(key, question);
        }
    }

    fn name(&mut self, kind: &'static str, text: &str) -> String {
        let next = self.section.given.keys().filter(|(known, _)| *known == kind).count() + 1;
        let number = *self.section.given.entry((kind, text.to_owned())).or_insert(next);
        format!("<{kind} {number}>")
    }
}

fn side_key(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Upstream => "upstream",
    }
}

/// Returns true for a text of the test itself, which is the same in every run.
fn is_ours(text: &str) -> bool {
    text.starts_with("made up")
}

/// Counts the uninteresting entries of long lists.
fn shorten(message: &mut Value, shown: &[&str]) {
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        let entries = message.get_mut("result").and_then(|result| result.get_mut(list));
        let Some(entries) = entries.and_then(Value::as_array_mut) else { continue };
        let mut kept = Vec::new();
        let mut left_out = 0;
        let say = |left_out: &mut usize, kept: &mut Vec<Value>| {
            if *left_out > 0 {
                kept.push(json!(format!("… {left_out} more")));
            }
            *left_out = 0;
        };
        for entry in entries.drain(..) {
            let name = entry["name"].as_str().unwrap_or_default();
            if shown.contains(&name.strip_prefix("up__").unwrap_or(name)) {
                say(&mut left_out, &mut kept);
                kept.push(entry);
            } else {
                left_out += 1;
            }
        }
        say(&mut left_out, &mut kept);
        *entries = kept;
    }
}
