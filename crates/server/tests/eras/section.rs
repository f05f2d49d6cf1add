//! One feature's part of a transcript: what the client said and heard, then what the upstream heard and said.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::normal::Names;
use crate::record::Crossed;

/// Which side of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Upstream,
}

/// One message, or something that happened without one.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    /// From client to gateway, or from gateway to upstream.
    pub(crate) to_server: bool,
    pub(crate) what: Result<Value, String>,
}

impl Line {
    /// The method, of a request or a notification.
    pub(crate) fn method(&self) -> Option<&str> {
        self.what.as_ref().ok().and_then(|message| message["method"].as_str())
    }

    /// What happened at the upstream without a message.
    pub(crate) fn upstream_note(text: &str) -> Self {
        Self { side: Side::Upstream, to_server: true, what: Err(text.to_owned()) }
    }
}

/// Which of the upstream's messages belong to a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topics {
    /// Methods: of notifications, and of requests with their responses.
    pub(crate) methods: &'static [&'static str],
    /// Whether all that ever crossed counts, each message once; else what crossed during the section.
    pub(crate) ever: bool,
}

impl Topics {
    /// The messages of these topics. All responses go with their requests.
    pub(crate) fn of(self, crossed: &[Crossed], stateless: bool) -> Vec<Line> {
        let dropped = upkeep_handshakes(crossed);
        let mut open: HashMap<(bool, String), bool> = HashMap::new();
        let mut seen = HashSet::new();
        let mut lines = Vec::new();
        for (number, Crossed { to_upstream, message }) in crossed.iter().enumerate() {
            let id = message.get("id").map(Value::to_string);
            let chosen = if let Some(method) = message["method"].as_str() {
                // Over HTTP the version without a handshake gives up without a message.
                let unsaid = stateless && *to_upstream && method == "notifications/cancelled";
                let chosen = self.methods.contains(&method)
                    && !unsaid
                    && !dropped.contains(&number)
                    && (!self.ever || seen.insert((*to_upstream, without_id(message))));
                if let Some(id) = id {
                    open.insert((*to_upstream, id), chosen);
                }
                chosen
            } else {
                id.is_some_and(|id| open.remove(&(!to_upstream, id)).unwrap_or(false))
            };
            if chosen {
                lines.push(Line { side: Side::Upstream, to_server: *to_upstream, what: Ok(message.clone()) });
            }
        }
        if self.ever {
            let lines = each_with_its_answer(lines);
            // It goes over its own connection and meets the requests after it.
            let (end, mut lines): (Vec<Line>, Vec<Line>) =
                lines.into_iter().partition(|line| line.method() == Some("notifications/initialized"));
            lines.extend(end);
            return lines;
        }
        without_repetitions(answers_before_news(lines))
    }
}

/// Requests of several connections may overlap: each is shown with its answer.
fn each_with_its_answer(lines: Vec<Line>) -> Vec<Line> {
    let mut sorted: Vec<Line> = Vec::new();
    for line in lines {
        let message = line.what.as_ref().unwrap_or(&Value::Null);
        let asked = sorted.iter().rposition(|other| {
            let other_message = other.what.as_ref().unwrap_or(&Value::Null);
            message["method"].is_null()
                && other.method().is_some()
                && other.to_server != line.to_server
                && other_message["id"] == message["id"]
        });
        match asked {
            Some(at) => sorted.insert(at + 1, line),
            None => sorted.push(line),
        }
    }
    sorted
}

/// Whoever waits for a task looks as often as it likes: what it saw twice in a row is shown once.
fn without_repetitions(lines: Vec<Line>) -> Vec<Line> {
    let mut shown: Vec<Line> = Vec::new();
    let text = |line: &Line| line.what.as_ref().map(without_id).unwrap_or_default();
    for line in lines {
        shown.push(line);
        if let [.., one, two, three, four] = &shown[..]
            && three.method() == Some("tasks/get")
            && text(one) == text(three)
            && text(two) == text(four)
        {
            shown.truncate(shown.len() - 2);
        }
    }
    shown
}

/// News of what a call changed may come before or after its answer, and over each connection that the gateway has:
/// they are shown once, after it.
fn answers_before_news(lines: Vec<Line>) -> Vec<Line> {
    let mut sorted = Vec::new();
    let mut held: Vec<Line> = Vec::new();
    let mut told = HashSet::new();
    let mut calls = 0;
    for line in lines {
        let method = line.method();
        if matches!(method, Some("notifications/tools/list_changed" | "notifications/resources/updated")) {
            let new = told.insert(line.what.as_ref().map(without_marks).unwrap_or_default());
            if new {
                if calls > 0 { &mut held } else { &mut sorted }.push(line);
            }
            continue;
        }
        if line.to_server && method == Some("tools/call") {
            calls += 1;
            told.clear();
        }
        let answer = !line.to_server && method.is_none();
        sorted.push(line);
        if answer && calls > 0 {
            calls -= 1;
            sorted.append(&mut held);
        }
    }
    sorted.append(&mut held);
    sorted
}

/// A notice without what says which request it is for.
fn without_marks(message: &Value) -> String {
    let mut message = message.clone();
    if let Some(params) = message["params"].as_object_mut() {
        params.shift_remove("_meta");
    }
    message.to_string()
}

/// The requests that opened connections for the gateway's own sake: probes that were refused, and all but the last one
/// when none of them was for the client.
fn upkeep_handshakes(crossed: &[Crossed]) -> HashSet<usize> {
    let mut openings = Vec::new();
    for (number, one) in crossed.iter().enumerate() {
        if !one.is_sent("server/discover") && !one.is_sent("initialize") {
            continue;
        }
        let answer = crossed[number..].iter().find(|other| {
            !other.to_upstream
                && other.message["id"] == one.message["id"]
                && other.message["method"].is_null()
        });
        let accepted = answer.is_some_and(|answer| answer.message.get("result").is_some());
        let for_client = one.message["params"]["capabilities"].as_object().is_some_and(|all| !all.is_empty());
        openings.push((number, accepted, for_client));
    }
    let last = openings.iter().rev().find(|(_, accepted, _)| *accepted).map(|(number, ..)| *number);
    let first = openings.iter().find(|(_, accepted, for_client)| *accepted && *for_client);
    let kept = first.map(|(number, ..)| *number).or(last);
    openings.into_iter().map(|(number, ..)| number).filter(|number| Some(*number) != kept).collect()
}

/// A request without what is different whenever it is sent again.
fn without_id(message: &Value) -> String {
    let mut message = message.clone();
    if message.get("id").is_some() {
        message["id"] = json!(0);
    }
    message.to_string()
}

/// The text of a section.
pub(crate) fn render(names: &mut Names, feature: &str, reason: Option<&str>, lines: &[Line]) -> String {
    let mut text = format!("## {feature}\n");
    if let Some(reason) = reason {
        let _ = writeln!(text, "-- {reason}");
    }
    names.begin(feature);
    for line in lines {
        text.push_str(&names.render(line));
        text.push('\n');
    }
    text
}
