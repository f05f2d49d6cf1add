//! `dragoman status`: the state of the running gateway and its servers, with reasons and what to do.

use std::time::Duration;

use gateway::control::ControlClient;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::running_gateway::{RunningGateway, encoded};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::{cut, wrap};
use crate::output::moment::{ago, bytes, millis_of, until};
use crate::output::options::Global;
use crate::output::table::Table;

/// The time limit for the figures of all profiles: a profile has no figures before the lists of its servers are
/// known.
const PATIENCE: Duration = Duration::from_secs(3);

/// The maximum length of a reason, in columns.
const LONGEST: usize = 300;

const EXAMPLES: &str = "\
Examples:
  dragoman status
  dragoman status files docs -v                   with the connections of these servers
  dragoman status --json | jq '.servers[] | select(.status == \"error\")'";

/// Show the running gateway: its servers, their states and processes, and what is wrong
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The servers to show [default: all]
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    #[command(flatten)]
    place: StateOptions,
}

/// Shows the state.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let running = RunningGateway::find(&args.place, global, console)?;
    let ids: Vec<String> = args.servers.iter().map(|name| encoded(name)).collect();
    let query = if ids.is_empty() { String::new() } else { format!("?ids={}", ids.join(",")) };
    let (health, statuses, connections, profiles) = running.run(async |client| {
        let health = running.asked(client.get("/api/health")).await?;
        let path = format!("/api/mcp-servers/batch-status{query}");
        let mut statuses = running.asked(client.get(&path)).await?;
        let statuses = statuses["statuses"].take();
        let mut connections = Vec::new();
        for one in statuses.as_array().into_iter().flatten() {
            let id = one["id"].as_str().unwrap_or_default();
            let path = format!("/api/mcp-servers/{}/connections", encoded(id));
            connections.push(running.asked(client.get(&path)).await?);
        }
        let all = args.servers.is_empty();
        let profiles = if all { profile_figures(&running, client).await? } else { Vec::new() };
        Ok((health, statuses, connections, profiles))
    })?;
    if console.json {
        let told =
            json!({"gateway": health, "servers": statuses, "connections": connections, "profiles": profiles});
        return console.print(&told.to_string());
    }
    console.print(&console.fitted(&head(&health)))?;
    let empty = Vec::new();
    let statuses = statuses.as_array().unwrap_or(&empty);
    if statuses.is_empty() {
        return console.print("There are no servers. `dragoman add NAME -- COMMAND` adds one.");
    }
    console.print(&format!("\n{}", servers(statuses, &connections, console)))?;
    if !profiles.is_empty() {
        console.print(&format!("\n{}", profile_table(&profiles, console)))?;
    }
    if console.verbose > 0 {
        console.print(&format!("\n{}", connection_table(&connections, console)))?;
    }
    refusals(statuses, console)?;
    findings(&health, console)
}

/// Returns the number of each profile's tools and the number of their tokens. A profile whose servers do not answer in time has
/// no numbers.
async fn profile_figures(
    running: &RunningGateway<'_>,
    client: &ControlClient,
) -> Result<Vec<Value>, Failure> {
    let all = running.asked(client.get("/api/profiles")).await?;
    let (deadline, mut found) = (Instant::now() + PATIENCE, Vec::new());
    for one in all["profiles"].as_array().into_iter().flatten() {
        let path = format!("/api/profiles/{}/status", encoded(one["slug"].as_str().unwrap_or_default()));
        let figures = match timeout_at(deadline, running.asked(client.get(&path))).await {
            Ok(figures) => figures?,
            Err(_) => json!({"id": one["slug"], "mode": null, "listed": null, "searchable": null}),
        };
        found.push(figures);
    }
    Ok(found)
}

/// Returns the table of the profiles, with the tools and tokens that a client's model reads.
fn profile_table(profiles: &[Value], console: &Console) -> String {
    let mut table = Table::new(&["PROFILE", "TOOLS", "TOKENS", "FOUND BY SEARCHING"]);
    for one in profiles {
        let number = |key: &str| one["listed"][key].as_u64().map(|number| number.to_string());
        let found = &one["searchable"];
        let found = found["tools"].as_u64().map(|tools| format!("{tools} ({} tokens)", found["tokens"]));
        let cells = [
            one_line(one["id"].as_str().unwrap_or_default()),
            number("tools").unwrap_or_else(|| "not known yet".to_owned()),
            number("tokens").unwrap_or_default(),
            found.unwrap_or_default(),
        ];
        table.row(cells, false);
    }
    table.lines(console.out_width, console.out)
}

/// Prints a line for each family of clients that refuses tools of a server.
fn refusals(statuses: &[Value], console: &Console) -> Result<(), Failure> {
    for server in statuses {
        let name = one_line(server["id"].as_str().unwrap_or_default());
        let all = server["refusals"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for (at, one) in all.enumerate() {
            let line = format!("note: server {name}: {}", cut(&one_line(one), LONGEST));
            let line = console.out_width.map_or(line.clone(), |width| wrap(&line, width, 0, 2));
            let gap = if at == 0 { "\n" } else { "" };
            console.print(&format!("{gap}{line}"))?;
        }
    }
    Ok(())
}

fn head(health: &Value) -> String {
    let text = |key: &str| one_line(health[key].as_str().unwrap_or_default());
    let addresses: Vec<String> = health["addresses"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(one_line)
        .collect();
    let since = millis_of(&health["started"]).map(ago).unwrap_or_default();
    let at = if addresses.is_empty() { String::new() } else { format!(" at {}", addresses.join(" and ")) };
    format!("Dragoman {} is serving{at}, up for {since} (pid {})", text("version"), health["pid"])
}

fn servers(statuses: &[Value], connections: &[Value], console: &Console) -> String {
    let mut table = Table::new(&["SERVER", "STATE", "SINCE", "TOOLS", "TOKENS", "PROCESSES", "REASON"]);
    for (one, connections) in statuses.iter().zip(connections) {
        let text = |key: &str| one_line(one[key].as_str().unwrap_or_default());
        let next = millis_of(&one["nextTry"]).map(|at| format!("next try {}", until(at)));
        let reason = Some(text("reason")).filter(|reason| !reason.is_empty());
        let reason: Vec<String> = reason.into_iter().chain(next).collect();
        let cells = [
            text("id"),
            text("state"),
            millis_of(&one["since"]).map(ago).unwrap_or_default(),
            one["tools"].to_string(),
            one["tokens"].to_string(),
            processes(connections),
            cut(&reason.join("; "), LONGEST),
        ];
        table.row(cells, matches!(one["state"].as_str(), Some("disabled" | "resting")));
    }
    table.lines(console.out_width, console.out)
}

/// Returns the number of processes of a server, and the memory that they occupy.
fn processes(connections: &Value) -> String {
    let all = connections["connections"].as_array().into_iter().flatten();
    let processes: Vec<&Value> =
        all.map(|one| &one["process"]).filter(|process| process.is_object()).collect();
    let resident: u64 = processes.iter().filter_map(|process| process["residentBytes"].as_u64()).sum();
    match processes.len() {
        0 => String::new(),
        count if resident == 0 => count.to_string(),
        count => format!("{count} ({})", bytes(resident)),
    }
}

fn connection_table(connections: &[Value], console: &Console) -> String {
    let mut table = Table::new(&["SERVER", "CONNECTION", "VERSION", "OPENED", "IDLE", "PID", "MEMORY"]);
    for server in connections {
        for one in server["connections"].as_array().into_iter().flatten() {
            let text = |key: &str| one_line(one[key].as_str().unwrap_or_default());
            let kind = match (one["isOfOneCaller"] == true, one["isDedicated"] == true) {
                (true, _) => "of one caller",
                (false, true) => "dedicated",
                (false, false) => "shared",
            };
            let process = &one["process"];
            let idle = one["idleSeconds"].as_u64().map(|idle| format!("{idle} s")).unwrap_or_default();
            let cells = [
                one_line(server["id"].as_str().unwrap_or_default()),
                format!("{kind}, {}", text("transport")),
                text("era"),
                millis_of(&one["opened"]).map(ago).unwrap_or_default(),
                if one["isUsed"] == true { "in use".to_owned() } else { idle },
                process["pid"].as_u64().map(|pid| pid.to_string()).unwrap_or_default(),
                process["residentBytes"].as_u64().map(bytes).unwrap_or_default(),
            ];
            table.row(cells, false);
        }
    }
    table.lines(console.out_width, console.out)
}

/// Prints everything that an operator should look at.
fn findings(health: &Value, console: &Console) -> Result<(), Failure> {
    for one in health["findings"].as_array().into_iter().flatten() {
        let text = |key: &str| cut(&one_line(one[key].as_str().unwrap_or_default()), LONGEST);
        let word = text("severity");
        let line = format!("{word}: {}: {}", text("subject"), text("message"));
        let line = console.out_width.map_or(line.clone(), |width| wrap(&line, width, 0, 2));
        let paint = if word == "error" { console.out.red(&word) } else { console.out.yellow(&word) };
        console.print(&format!("\n{}", line.replacen(&word, &paint, 1)))?;
        console.print(&console.fitted(&format!("  = help: {}", text("help"))))?;
    }
    Ok(())
}
