//! One feature's part of a transcript: the messages between client and gateway, then those between gateway and
//! upstream.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::normal::Names;
use crate::order::{answers_before_news, each_with_its_answer, questions_sorted, states_once, without_id};
use crate::record::Crossed;

/// The side of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Upstream,
}

/// One message, or an event without a message.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    /// True for client to gateway, or gateway to upstream.
    pub(crate) to_server: bool,
    pub(crate) what: Result<Value, String>,
}

impl Line {
    /// The method of a request or a notification.
    pub(crate) fn method(&self) -> Option<&str> {
        self.what.as_ref().ok().and_then(|message| message["method"].as_str())
    }

    /// An event at the upstream without a message.
    pub(crate) fn upstream_note(text: &str) -> Self {
        Self { side: Side::Upstream, to_server: true, what: Err(text.to_owned()) }
    }
}

/// A selection of the upstream's messages for a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topics {
    /// Methods of notifications, and of requests with their responses.
    pub(crate) methods: &'static [&'static str],
    /// True if all messages so far count, each once; otherwise, only those of the section count.
    pub(crate) ever: bool,
    /// True if questions come in any order.
    pub(crate) at_once: bool,
}

impl Topics {
    /// The messages of the section.
    pub(crate) const fn during(methods: &'static [&'static str]) -> Self {
        Self { methods, ever: false, at_once: false }
    }

    /// All messages so far.
    pub(crate) const fn ever(methods: &'static [&'static str]) -> Self {
        Self { methods, ever: true, at_once: false }
    }

    /// The same topics, with questions in any order.
    pub(crate) const fn at_once(self) -> Self {
        Self { at_once: true, ..self }
    }

    /// The messages of these topics. All responses go with their requests.
    pub(crate) fn of(self, crossed: &[Crossed], stateless: bool) -> Vec<Line> {
        let dropped = upkeep_handshakes(crossed);
        let mut open: HashMap<(bool, String), bool> = HashMap::new();
        let mut seen = HashSet::new();
        let mut lines = Vec::new();
        for (number, Crossed { to_upstream, message }) in crossed.iter().enumerate() {
            let id = message.get("id").map(Value::to_string);
            let chosen = if let Some(method) = message["method"].as_str() {
                // Over HTTP, the version without a handshake cancels without a message.
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
            // This notification uses a separate connection and may overlap with later requests.
            let (end, mut lines): (Vec<Line>, Vec<Line>) =
                lines.into_iter().partition(|line| line.method() == Some("notifications/initialized"));
            lines.extend(end);
            return lines;
        }
        if self.methods.contains(&"tasks/get") {
            states_once(lines)
        } else if self.at_once {
            questions_sorted(lines)
        } else {
            answers_before_news(lines)
        }
    }
}

/// The requests that opened connections for the gateway itself: refused probes, and all but the last one if none was
/// for the client.
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
