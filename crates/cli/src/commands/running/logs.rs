//! `dragoman logs`: the running gateway's own log, what its servers write to stderr, and the changes in their states, in the
//! order of time.

use std::time::Duration;

use gateway::control::ControlClient;
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use super::running_gateway::{RunningGateway, encoded, failed};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, harmless};
use crate::output::failure::Failure;
use crate::output::layout::{columns, wrap};
use crate::output::moment::rfc3339;
use crate::output::options::Global;

mod seen_lines;

use seen_lines::{LineKind, LogLine, SeenLines, ShownLines};

/// The time between two requests for new lines.
const LOOK: Duration = Duration::from_millis(500);

/// The name in front of the gateway's own lines. No server can have this name.
const GATEWAY: &str = "(gateway)";

const EXAMPLES: &str = "\
The gateway keeps the last lines of its own log and of each server, without secrets. Its whole log goes to its stderr, or
to the journal.

Examples:
  dragoman logs
  dragoman logs -f files                          keep showing new lines and state changes, until Ctrl-C
  dragoman logs --gateway --level warn            only the warnings and errors of the gateway itself";

/// A level of the gateway's log.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Show the gateway's log, what servers write to stderr, and how their states change
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The servers to show, with the gateway's lines about them [default: all, and the gateway's whole log]
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Show the gateway's whole log; without SERVER, nothing else
    #[arg(long)]
    gateway: bool,
    /// Leave out lines of the gateway's log that are less severe
    #[arg(long, value_name = "LEVEL")]
    level: Option<LogLevel>,
    /// Show the time of each line
    #[arg(long, short)]
    timestamps: bool,
    /// Keep showing new lines until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    place: StateOptions,
}

/// Shows the lines.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let running = RunningGateway::find(&args.place, global, console)?;
    running.run(async |client| {
        let mut seen = SeenLines::new(args.shown_lines());
        let mut told = running.asked(args.look(client, &mut seen)).await?;
        let is_empty = told.is_empty();
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wide = seen.names().chain([GATEWAY]).map(columns).max().unwrap_or(0).min(32);
        loop {
            if let Some(lost) = seen.lost() {
                console.note(&format!("{lost} older lines of the gateway's log are no longer kept."));
            }
            for line in &told {
                console.print(&args.line(line, wide, console))?;
            }
            if !args.follow {
                break;
            }
            looks.tick().await;
            if !console.is_read() {
                return Err(Failure::silent(0));
            }
            told = args.look(client, &mut seen).await.map_err(|e| failed(&e))?;
        }
        if is_empty && !console.json {
            console.note("Nothing has been logged since the start.");
        }
        Ok(())
    })
}

impl Args {
    fn shown_lines(&self) -> ShownLines {
        match (self.gateway, self.servers.is_empty()) {
            (true, true) => ShownLines::Gateway,
            (false, false) => ShownLines::Servers(self.servers.clone()),
            (true, false) | (false, true) => ShownLines::All,
        }
    }

    /// Returns the lines that are new since the last look.
    async fn look(
        &self,
        client: &ControlClient,
        seen: &mut SeenLines,
    ) -> Result<Vec<LogLine>, gateway::control::ControlError> {
        let level = self.level.map_or("", |level| match level {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        });
        let limit = if seen.is_first() { 500 } else { 5_000 };
        let log = format!("/api/log?after={}&level={level}&limit={limit}", seen.last());
        let log = client.get(&log).await?;
        let statuses = match self.servers.as_slice() {
            [] if self.gateway => serde_json::Value::Null,
            [] => client.get("/api/mcp-servers/batch-status").await?,
            names => {
                let ids: Vec<String> = names.iter().map(|name| encoded(name)).collect();
                client.get(&format!("/api/mcp-servers/batch-status?ids={}", ids.join(","))).await?
            }
        };
        Ok(seen.look(&log, &statuses))
    }

    /// Formats a line.
    fn line(&self, line: &LogLine, wide: usize, console: &Console) -> String {
        let at = line.at.map(rfc3339);
        if console.json {
            return json!({
                "at": at,
                "server": line.server,
                "kind": line.kind.word(),
                "level": line.level,
                "text": line.text,
            })
            .to_string();
        }
        let is_log = matches!(line.kind, LineKind::Log);
        let source = if is_log { GATEWAY } else { line.server.as_deref().unwrap_or_default() };
        let text = match (&line.level, line.server.as_deref().filter(|_| is_log)) {
            (Some(level), Some(server)) => format!("{} {server}: {}", level.to_uppercase(), line.text),
            (Some(level), None) => format!("{} {}", level.to_uppercase(), line.text),
            (None, _) => line.text.clone(),
        };
        let time = at.filter(|_| self.timestamps).map_or(String::new(), |at| format!("{at} "));
        let space = " ".repeat(wide.saturating_sub(columns(source)));
        let lead = time.len() + columns(source) + space.len() + 3;
        let text = if console.out_is_terminal { harmless(&text).into_owned() } else { text };
        let text = console
            .out_width
            .map_or_else(|| text.clone(), |width| wrap(&text, width, lead, lead.min(width / 2)));
        let text = match (line.kind, line.level.as_deref()) {
            (LineKind::State, _) | (_, Some("warn")) => console.out.yellow(&text),
            (_, Some("error")) => console.out.red(&text),
            _ => text,
        };
        let source = if is_log { console.out.dim(source) } else { console.out.cyan(source) };
        format!("{time}{source}{space} | {text}")
    }
}
