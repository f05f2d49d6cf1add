//! `dragoman server`: lists and restarts the servers of the running gateway.

use http::Method;
use serde_json::Value;

use super::running::{RunningGateway, encoded};
use super::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
`dragoman add` and `dragoman remove` change the configuration file.

Examples:
  dragoman server list
  dragoman server restart files                   end its connections and processes; the next call starts it again";

/// List and restart the servers of the running gateway
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: ServerCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ServerCommand {
    /// List the servers, including those that were added while the gateway runs
    List {
        #[command(flatten)]
        place: StateOptions,
    },
    /// Close a server's connections and end its processes, and open them again
    Restart {
        /// The server's name
        #[arg(value_name = "SERVER")]
        server: String,
        #[command(flatten)]
        place: StateOptions,
    },
}

/// Lists or restarts servers.
pub(super) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match &args.what {
        ServerCommand::List { place } => {
            let all = RunningGateway::find(place, global, console)?.get("/api/mcp-servers")?;
            if console.json { console.print(&all.to_string()) } else { console.print(&table(&all, console)) }
        }
        ServerCommand::Restart { server, place } => {
            let path = format!("/api/mcp-servers/{}/restart", encoded(server));
            let running = RunningGateway::find(place, global, console)?;
            let status = running.send(Method::POST, &path, None)?;
            if console.json {
                return console.print(&status.to_string());
            }
            let text = |key: &str| one_line(status[key].as_str().unwrap_or_default());
            let reason =
                if text("reason").is_empty() { String::new() } else { format!(": {}", text("reason")) };
            let told = format!("{} was restarted; it is {}{reason}.", one_line(server), text("state"));
            console.print(&console.fitted(&told))
        }
    }
}

fn table(all: &Value, console: &Console) -> String {
    let mut table = Table::new(&["SERVER", "TYPE", "FROM", "TARGET"]);
    let list = all.as_array().or_else(|| all["servers"].as_array()).or_else(|| all["mcpServers"].as_array());
    for one in list.into_iter().flatten() {
        let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
        let config = &one["config"];
        let words = config["args"].as_array().into_iter().flatten().map(text);
        let command: Vec<String> = std::iter::once(text(&config["command"])).chain(words).collect();
        let target = match (config["url"].as_str(), config["native"].as_str()) {
            (Some(url), _) => one_line(url),
            (_, Some(native)) => one_line(native),
            _ => command.join(" "),
        };
        let active = one["isActive"] != false;
        let kind = text(&one["type"]);
        let cells = [
            text(&one["id"]),
            if active { kind } else { format!("{kind} (off)") },
            text(&one["source"]),
            target,
        ];
        table.row(cells, !active);
    }
    table.lines(console.out_width, console.out)
}
