//! `dragoman logs`: what the servers of the running gateway write to stderr, and the changes in their states.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use super::running_gateway::{RunningGateway, encoded, failed};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, harmless, one_line};
use crate::output::failure::Failure;
use crate::output::layout::columns;
use crate::output::moment::{self, rfc3339};
use crate::output::options::Global;

/// The time between two requests for new lines.
const LOOK: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
The gateway keeps the last lines of each server. Its own log goes to its stderr, or to the journal.

Examples:
  dragoman logs
  dragoman logs -f files                          keep showing new lines and state changes, until Ctrl-C";

/// Show what servers write to stderr, and how their states change
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The servers to show [default: all]
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Keep showing new lines until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    place: StateOptions,
}

/// Shows the lines.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let running = RunningGateway::find(&args.place, global, console)?;
    let ids: Vec<String> = args.servers.iter().map(|name| encoded(name)).collect();
    let query = if ids.is_empty() { String::new() } else { format!("?ids={}", ids.join(",")) };
    let path = format!("/api/mcp-servers/batch-status{query}");
    running.run(async |client| {
        let mut seen = SeenLines::default();
        let mut told = seen.look(&running.asked(client.get(&path)).await?, true);
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wide = seen.servers.keys().map(|name| columns(name)).max().unwrap_or(0).min(32);
        loop {
            for line in &told {
                console.print(&line.shown(wide, console))?;
            }
            if !args.follow {
                break;
            }
            looks.tick().await;
            if !console.is_read() {
                return Err(Failure::silent(0));
            }
            told = seen.look(&client.get(&path).await.map_err(|e| failed(&e))?, false);
        }
        if told.is_empty() && !console.json {
            console.note("No server has written to stderr since it was started.");
        }
        Ok(())
    })
}

/// The last answer about each server: the kept lines, and the state.
#[derive(Default)]
struct SeenLines {
    servers: HashMap<String, (Vec<String>, String)>,
}

struct LogLine {
    server: String,
    text: String,
    /// True if the line is about a change in the server's state.
    is_state: bool,
}

impl SeenLines {
    /// Returns the lines that are new in this answer.
    fn look(&mut self, statuses: &Value, is_first: bool) -> Vec<LogLine> {
        let mut new = Vec::new();
        for one in statuses["statuses"].as_array().into_iter().flatten() {
            let server = one_line(one["id"].as_str().unwrap_or_default());
            let lines = one["stderr"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let lines: Vec<String> = lines.map(str::to_owned).collect();
            let reason = one["reason"].as_str().filter(|reason| !reason.is_empty());
            let state = one["state"].as_str().unwrap_or_default();
            let state = reason.map_or(state.to_owned(), |reason| format!("{state}: {reason}"));
            let (old_lines, old_state) = self.servers.remove(&server).unwrap_or_default();
            let line =
                |text: &String| LogLine { server: server.clone(), text: text.clone(), is_state: false };
            new.extend(added(&old_lines, &lines).iter().map(line));
            // At first, only the reason of a failure is of interest.
            let is_told = !is_first || reason.is_some_and(|_| one["state"] != "disabled");
            if old_state != state && is_told {
                new.push(LogLine { server: server.clone(), text: state.clone(), is_state: true });
            }
            self.servers.insert(server, (lines, state));
        }
        new
    }
}

/// Returns the lines of `new` that were added after `old` was read. Both contain the last lines of the same growing
/// text.
fn added<'l>(old: &[String], new: &'l [String]) -> &'l [String] {
    let overlap = (0..=old.len().min(new.len())).rev().find(|count| old.ends_with(&new[..*count]));
    &new[overlap.unwrap_or(0)..]
}

impl LogLine {
    fn shown(&self, wide: usize, console: &Console) -> String {
        if console.json {
            let kind = if self.is_state { "state" } else { "stderr" };
            let at = rfc3339(moment::now());
            return json!({"at": at, "server": self.server, "kind": kind, "text": self.text}).to_string();
        }
        let space = " ".repeat(wide.saturating_sub(columns(&self.server)));
        let lead = columns(&self.server) + space.len() + 3;
        let text = if console.out_is_terminal { harmless(&self.text) } else { self.text.as_str().into() };
        let text = console.out_width.map_or(text.to_string(), |width| {
            crate::output::layout::wrap(&text, width, lead, lead.min(width / 2))
        });
        let text = if self.is_state { console.out.yellow(&text) } else { text };
        format!("{}{space} | {text}", console.out.cyan(&self.server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_lines_are_shown() {
        let lines = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
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

    #[test]
    fn a_change_of_the_state_is_a_line() {
        let status = |state: &str, reason: &str| json!({"statuses": [{"id": "a", "state": state, "reason": reason, "stderr": ["x"]}]});
        let mut seen = SeenLines::default();
        assert_eq!(SeenLines::default().look(&status("unreachable", "refused"), true).len(), 2);
        assert_eq!(seen.look(&status("ready", ""), true).len(), 1);
        assert!(seen.look(&status("ready", ""), false).is_empty());
        let told = seen.look(&status("backing_off", "exited"), false);
        assert!(told.len() == 1 && told[0].is_state && told[0].text == "backing_off: exited");
    }
}
