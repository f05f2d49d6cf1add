//! `dragoman top`: shows the running gateway as it works, with calls per second, errors, durations and states by server.
//!
//! | file | is for |
//! |---|---|
//! | `window` | the calls of the last minute, and their figures; pure |
//! | `screen` | the terminal as one screen |

mod screen;
mod window;

use std::time::Duration;

use gateway::control::{ControlEvent, ControlEvents};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::screen::Screen;
use self::window::{CallFigures, CallWindow};
use super::running_gateway::{RunningGateway, failed};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::{cut, wrap};
use crate::output::moment::{self, brief, rfc3339};
use crate::output::options::Global;
use crate::output::table::Table;

/// The time between two updates on a terminal.
const PACE: Duration = Duration::from_secs(1);

/// The time between two requests for the states of servers.
const STATES: Duration = Duration::from_secs(2);

/// The width below which a terminal has no room for the states, in columns.
const NARROW: usize = 60;

/// The number of columns for the figures on a narrow terminal; names get the rest.
const FIGURES: usize = 32;

const EXAMPLES: &str = "\
On a terminal, press q to quit. Elsewhere, this command prints one line per server and interval.

Examples:
  dragoman top
  dragoman top --interval 10 > calls.txt
  dragoman top --json -n 1 | jq .servers          the figures of the next 5 seconds";

/// Show calls, errors and durations by server, as they happen
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The time between two updates, if stdout is not a terminal
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// End after this many updates
    #[arg(long, short = 'n', value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    number: Option<u64>,
    #[command(flatten)]
    place: StateOptions,
}

/// Shows the gateway until the user ends it.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let running = RunningGateway::find(&args.place, global, console)?;
    running.run(async |client| {
        let events = running.events("/api/events?kinds=call").await?;
        let statuses = async || client.get("/api/mcp-servers/batch-status").await.map_err(|e| failed(&e));
        let first = statuses().await?;
        let is_screen = console.out_is_terminal && !console.json;
        let screen = if is_screen { Some(Screen::open(console)?) } else { None };
        let pace = if is_screen { PACE } else { Duration::from_secs(args.interval) };
        let state =
            TopState { window: CallWindow::default(), start: Instant::now(), lost: 0, statuses: first };
        watch(state, events, statuses, screen, pace, args.number, console).await
    })
}

struct TopState {
    window: CallWindow,
    start: Instant,
    /// The number of events that were lost because they came too fast.
    lost: u64,
    statuses: Value,
}

async fn watch(
    mut state: TopState,
    mut events: ControlEvents,
    statuses: impl AsyncFn() -> Result<Value, Failure>,
    screen: Option<Screen<'_>>,
    pace: Duration,
    number: Option<u64>,
    console: &Console,
) -> Result<(), Failure> {
    let mut ticks = interval(pace);
    let mut looks = interval(STATES);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // On a terminal, the first update comes at once; elsewhere, it would be empty.
    if screen.is_none() {
        ticks.tick().await;
    }
    let (mut keys, mut key, mut has_keys) = (tokio::io::stdin(), [0; 1], screen.is_some());
    let mut shown = 0;
    loop {
        tokio::select! {
            event = events.next() => match event.map_err(|e| failed(&e))? {
                Some(event) => state.hear(&event),
                None => return Err(Failure::new("the gateway has stopped")),
            },
            _ = looks.tick() => state.statuses = statuses().await?,
            _ = ticks.tick() => {
                if !console.is_read() {
                    return Err(Failure::silent(0));
                }
                state.show(screen.as_ref(), console)?;
                shown += 1;
                if number.is_some_and(|number| shown >= number) {
                    return Ok(());
                }
            }
            read = keys.read(&mut key), if has_keys => {
                has_keys = read.is_ok_and(|count| count > 0);
                if has_keys && matches!(key[0], b'q' | b'Q') {
                    return Ok(());
                }
            }
        }
    }
}

impl TopState {
    fn hear(&mut self, event: &ControlEvent) {
        let data = if event.data["call"].is_object() { &event.data["call"] } else { &event.data };
        match event.name.as_str() {
            "call" => {
                let server = one_line(data["server"].as_str().unwrap_or("(gateway)"));
                let failed = data["outcome"] != "ok";
                let duration = data["durationUs"].as_u64().unwrap_or(0);
                self.window.add(self.start.elapsed(), &server, duration, failed);
            }
            "dropped" => self.lost += data["number"].as_u64().unwrap_or(0),
            _ => {}
        }
    }

    /// Returns the servers with their states and figures: those with the most calls first.
    fn servers(&self, now: Duration) -> Vec<(String, String, String, CallFigures)> {
        let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
        let known = self.statuses["statuses"].as_array().map_or(&[][..], Vec::as_slice);
        let mut all: Vec<(String, String, String, CallFigures)> = known
            .iter()
            .map(|one| {
                let name = text(&one["id"]);
                let figures = self.window.of(now, &name);
                (name, text(&one["state"]), text(&one["reason"]), figures)
            })
            .collect();
        for name in self.window.servers() {
            if !all.iter().any(|one| one.0 == name) {
                all.push((name.to_owned(), String::new(), String::new(), self.window.of(now, name)));
            }
        }
        all.sort_by(|one, other| other.3.calls.cmp(&one.3.calls).then_with(|| one.0.cmp(&other.0)));
        all
    }

    fn show(&mut self, screen: Option<&Screen<'_>>, console: &Console) -> Result<(), Failure> {
        let now = self.start.elapsed();
        self.window.forget(now);
        let (all, servers) = (self.window.all(now), self.servers(now));
        match screen {
            Some(screen) => {
                let (width, height) = Screen::size();
                screen.show(&self.screen_lines(all, &servers, width, height, console))
            }
            None if console.json => {
                let one = |(name, state, reason, figures): &(String, String, String, CallFigures)| {
                    let mut told = figures_json(*figures);
                    told["server"] = json!(name);
                    told["state"] = json!(state);
                    told["reason"] = json!(Some(reason).filter(|reason| !reason.is_empty()));
                    told
                };
                let servers: Vec<Value> = servers.iter().map(one).collect();
                let at = rfc3339(moment::now());
                let told = json!({"at": at, "lost": self.lost, "all": figures_json(all), "servers": servers});
                console.print(&told.to_string())
            }
            None => {
                let at = rfc3339(moment::now());
                for (name, state, _, figures) in &servers {
                    let [rate, errors, p50, p95] = cells(*figures);
                    console.print(&format!("{at}  {name:20}  {state:12}  {rate:>8}/s  {errors:>5} errors  p50 {p50:>7}  p95 {p95:>7}"))?;
                }
                Ok(())
            }
        }
    }

    fn screen_lines(
        &self,
        all: CallFigures,
        servers: &[(String, String, String, CallFigures)],
        width: usize,
        height: usize,
        console: &Console,
    ) -> Vec<String> {
        let [rate, errors, p50, p95] = cells(all);
        let lost = if self.lost > 0 { format!("; {} events were lost", self.lost) } else { String::new() };
        let head =
            format!("{rate} calls/s, {errors} errors, p50 {p50}, p95 {p95} (last minute{lost}); q quits");
        let is_narrow = width < NARROW;
        let titles: &[&str] = if is_narrow {
            &["SERVER", "/S", "ERR", "P50", "P95"]
        } else {
            &["SERVER", "CALLS/S", "ERRORS", "P50", "P95", "STATE"]
        };
        let mut table = Table::new(titles);
        for (name, state, reason, figures) in servers {
            let [rate, errors, p50, p95] = cells(*figures);
            if is_narrow {
                // There is no room for the state; `status` shows it.
                let mark = if reason.is_empty() { "" } else { "! " };
                let name = cut(&format!("{mark}{name}"), width.saturating_sub(FIGURES).max(6));
                table.row([name, rate, errors, p50, p95], figures.calls == 0);
            } else {
                let state = if reason.is_empty() { state.clone() } else { format!("{state}: {reason}") };
                table.row([cut(name, 24), rate, errors, p50, p95, cut(&state, 60)], figures.calls == 0);
            }
        }
        let head = wrap(&head, width, 0, 0);
        let mut lines: Vec<String> = head.lines().map(|line| console.out.bold(line)).collect();
        lines.push(String::new());
        lines.extend(table.lines(Some(width), console.out).lines().map(str::to_owned));
        // The last line stays free, so that nothing scrolls.
        lines.truncate(height - 1);
        lines
    }
}

fn figures_json(figures: CallFigures) -> Value {
    json!({
        "calls": figures.calls,
        "perSecond": figures.rate,
        "errors": figures.errors,
        "p50Us": figures.p50_us,
        "p95Us": figures.p95_us,
    })
}

/// Returns the rate, the errors, and the durations for people.
fn cells(figures: CallFigures) -> [String; 4] {
    let duration = |micros: u64| if figures.calls == 0 { "-".to_owned() } else { brief(micros) };
    [
        format!("{:.1}", figures.rate),
        figures.errors.to_string(),
        duration(figures.p50_us),
        duration(figures.p95_us),
    ]
}
