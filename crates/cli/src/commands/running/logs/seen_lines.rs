//! The lines of the running gateway that were already shown, and those that are new in its next answers. This module must not know
//! how lines are requested or formatted.

use std::collections::HashMap;

use serde_json::Value;

use crate::output::console::one_line;
use crate::output::moment::millis_of;

/// The target of the log's lines about servers' states. They are shown from the servers' status, which the log's level cannot hide.
const STATES: &str = "dragoman::state";

/// The lines to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShownLines {
    /// The lines of all requested servers, and the whole log of the gateway.
    All,
    /// Only the log of the gateway.
    Gateway,
    /// The lines of these servers, and the gateway's lines about them.
    Servers(Vec<String>),
}

/// The origin of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The gateway's own log.
    Log,
    /// A server's stderr.
    Stderr,
    /// A change in a server's state.
    State,
}

impl LineKind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Stderr => "stderr",
            Self::State => "state",
        }
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogLine {
    /// The time, in milliseconds since 1970, if it is known.
    pub(super) at: Option<u64>,
    /// The server that wrote the line, or that the gateway's line is about.
    pub(super) server: Option<String>,
    pub(super) kind: LineKind,
    /// The level of a line of the gateway.
    pub(super) level: Option<String>,
    pub(super) text: String,
}

/// A line of stderr, with its time.
type TimedLine = (Option<u64>, String);

/// The contents of the last answers.
pub(super) struct SeenLines {
    shown: ShownLines,
    /// The lines of each server's stderr, and its state.
    servers: HashMap<String, (Vec<TimedLine>, String)>,
    /// The number of the last line of the gateway's log; `None` before the first answer.
    last: Option<u64>,
    /// The number of lines that the gateway dropped before they were read.
    lost: u64,
}

impl SeenLines {
    pub(super) fn new(shown: ShownLines) -> Self {
        Self { shown, servers: HashMap::new(), last: None, lost: 0 }
    }

    pub(super) fn is_first(&self) -> bool {
        self.last.is_none()
    }

    /// Returns the number of the last line of the gateway's log.
    pub(super) fn last(&self) -> u64 {
        self.last.unwrap_or(0)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Returns the number of lines that were lost since the last call.
    pub(super) fn lost(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.lost)).filter(|lost| *lost > 0)
    }

    /// Returns the lines that are new in these answers, in the order of time.
    pub(super) fn look(&mut self, log: &Value, statuses: &Value) -> Vec<LogLine> {
        let mut new = self.of_gateway(log);
        for status in statuses["statuses"].as_array().into_iter().flatten() {
            self.of_server(status, &mut new);
        }
        self.last = Some(log["last"].as_u64().unwrap_or(0));
        // A line without a time stays behind the lines that its server wrote before it.
        let (mut times, mut latest) = (Vec::new(), HashMap::new());
        for line in &new {
            let known = latest.entry((line.kind == LineKind::Log, line.server.as_deref())).or_insert(0);
            *known = line.at.unwrap_or(*known);
            // The beginning of a state is known to the second; what a server wrote in this second led to the state.
            times.push(*known + if line.kind == LineKind::State { 999 } else { 0 });
        }
        let mut ordered: Vec<(u64, LogLine)> = times.into_iter().zip(new).collect();
        ordered.sort_by_key(|(at, _)| *at);
        ordered.into_iter().map(|(_, line)| line).collect()
    }

    fn of_gateway(&mut self, log: &Value) -> Vec<LogLine> {
        if let (Some(last), Some(oldest)) = (self.last, log["oldest"].as_u64()) {
            self.lost += oldest.saturating_sub(last + 1);
        }
        let is_shown = |line: &&Value| match &self.shown {
            ShownLines::Gateway => true,
            ShownLines::All => line["target"] != STATES,
            ShownLines::Servers(names) => {
                line["target"] != STATES && names.iter().any(|name| line["server"] == name.as_str())
            }
        };
        let shown = |line: &Value| LogLine {
            at: millis_of(&line["at"]),
            server: line["server"].as_str().map(one_line),
            kind: LineKind::Log,
            level: line["level"].as_str().map(str::to_owned),
            text: line["text"].as_str().map(one_line).unwrap_or_default(),
        };
        log["lines"].as_array().into_iter().flatten().filter(is_shown).map(shown).collect()
    }

    fn of_server(&mut self, status: &Value, new: &mut Vec<LogLine>) {
        let server = one_line(status["id"].as_str().unwrap_or_default());
        let times = status["stderrTimes"].as_array().into_iter().flatten();
        let times = times.map(millis_of).chain(std::iter::repeat(None));
        let lines = status["stderr"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let lines: Vec<TimedLine> = times.zip(lines.map(str::to_owned)).collect();
        let reason = status["reason"].as_str().filter(|reason| !reason.is_empty());
        let state = status["state"].as_str().unwrap_or_default();
        let state = reason.map_or(state.to_owned(), |reason| format!("{state}: {reason}"));
        let (old_lines, old_state) = self.servers.remove(&server).unwrap_or_default();
        let line = |at, kind, text: &str| LogLine {
            at,
            server: Some(server.clone()),
            kind,
            level: None,
            text: text.to_owned(),
        };
        new.extend(added(&old_lines, &lines).iter().map(|(at, text)| line(*at, LineKind::Stderr, text)));
        // At first, only the reason of a failure is of interest.
        let is_told = !self.is_first() || reason.is_some_and(|_| status["state"] != "disabled");
        if old_state != state && is_told {
            new.push(line(millis_of(&status["since"]), LineKind::State, &state));
        }
        self.servers.insert(server, (lines, state));
    }
}

/// Returns the lines of `new` that were added after `old` was read. Both contain the last lines of the same growing
/// text.
fn added<'l>(old: &[TimedLine], new: &'l [TimedLine]) -> &'l [TimedLine] {
    let overlap = (0..=old.len().min(new.len())).rev().find(|count| old.ends_with(&new[..*count]));
    &new[overlap.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_new_lines_are_shown() {
        let lines = |text: &str| {
            text.split_whitespace().map(|word| (None, word.to_owned())).collect::<Vec<TimedLine>>()
        };
        for (old, new, want) in [
            ("", "a b", "a b"),
            ("a b", "a b", ""),
            ("a b", "a b c", "c"),
            ("a b c", "b c d", "d"),
            ("a b", "c d", "c d"),
            ("a a", "a a a", "a"),
        ] {
            assert_eq!(added(&lines(old), &lines(new)), lines(want), "{old} -> {new}");
        }
    }

    fn seen(shown: ShownLines) -> SeenLines {
        SeenLines::new(shown)
    }

    #[test]
    fn a_change_of_the_state_is_a_line() {
        let status = |state: &str, reason: &str| json!({"statuses": [{"id": "a", "state": state, "reason": reason, "stderr": ["x"]}]});
        let log = json!({"lines": [], "last": 0, "oldest": 0});
        assert_eq!(seen(ShownLines::All).look(&log, &status("unreachable", "refused")).len(), 2);
        let mut seen = seen(ShownLines::All);
        assert_eq!(seen.look(&log, &status("ready", "")).len(), 1);
        assert!(seen.look(&log, &status("ready", "")).is_empty());
        let told = seen.look(&log, &status("backing_off", "exited"));
        assert!(
            told.len() == 1 && told[0].kind == LineKind::State && told[0].text == "backing_off: exited",
            "{told:?}"
        );
    }

    fn log_line(number: u64, at: &str, server: Option<&str>, target: &str, text: &str) -> Value {
        json!({"number": number, "at": at, "level": "warn", "server": server, "target": target, "text": text})
    }

    #[test]
    fn lines_of_the_gateway_and_of_servers_are_merged_in_time() {
        let log = json!({"last": 9, "oldest": 1, "lines": [
            log_line(1, "2026-01-01T00:00:01Z", None, "dragoman", "one"),
            log_line(2, "2026-01-01T00:00:04Z", Some("a"), "dragoman", "four"),
            log_line(3, "2026-01-01T00:00:05Z", Some("a"), STATES, "ready"),
        ]});
        let statuses = json!({"statuses": [
            {"id": "a", "state": "ready", "stderr": ["two", "also two", "six"],
             "stderrTimes": ["2026-01-01T00:00:02Z", null, "2026-01-01T00:00:06Z"]},
            {"id": "b", "state": "failed", "reason": "no", "since": "2026-01-01T00:00:03Z", "stderr": []},
        ]});
        let texts =
            |told: &[LogLine]| told.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join(",");
        let mut all = seen(ShownLines::All);
        assert_eq!(texts(&all.look(&log, &statuses)), "one,two,also two,failed: no,four,six");
        assert_eq!((all.last(), all.lost()), (9, None));
        let later = json!({"last": 14, "oldest": 13, "lines": [log_line(14, "2026-01-01T00:00:09Z", None, "x", "new")]});
        assert_eq!(texts(&all.look(&later, &statuses)), "new");
        assert_eq!((all.lost(), all.lost()), (Some(3), None));
        assert_eq!(texts(&seen(ShownLines::Gateway).look(&log, &Value::Null)), "one,four,ready");
        let of_a = json!({"statuses": [statuses["statuses"][0]]});
        let named = seen(ShownLines::Servers(vec!["a".into()])).look(&log, &of_a);
        assert_eq!(texts(&named), "two,also two,four,six");
    }
}
