//! `dragoman server`: lists, adds, changes and restarts the servers of the running gateway.

mod new_server;

use http::Method;
use serde_json::{Value, json};

use self::new_server::NewServer;
use super::running_gateway::{RunningGateway, encoded};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
These commands change the running gateway, which keeps the changes in its state folder. `dragoman add` and `dragoman remove` change \
the configuration file.

Examples:
  dragoman server list
  dragoman server add docs https://docs.example.com/mcp -H 'Authorization: Bearer SECRET'
  dragoman server add time --profile office -- uvx mcp-server-time
  dragoman server disable time                    it stays, but no client sees it
  dragoman server remove time
  dragoman server restart files                   end its connections and processes; the next call starts it again";

/// List, add, change and restart the servers of the running gateway
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
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
    /// Add a server
    Add(NewServer),
    /// Remove a server that no profile lists
    Remove {
        #[command(flatten)]
        one: NamedServer,
    },
    /// Show a server's items to clients again
    Enable {
        #[command(flatten)]
        one: NamedServer,
    },
    /// Close a server's connections, and hide its items from clients
    Disable {
        #[command(flatten)]
        one: NamedServer,
    },
    /// Close a server's connections, end its processes, and connect again
    Restart {
        #[command(flatten)]
        one: NamedServer,
    },
}

/// A server of the running gateway.
#[derive(Debug, clap::Args)]
struct NamedServer {
    /// The server's name
    #[arg(value_name = "SERVER")]
    server: String,
    #[command(flatten)]
    place: StateOptions,
}

impl NamedServer {
    fn path(&self, rest: &str) -> String {
        format!("/api/mcp-servers/{}{rest}", encoded(&self.server))
    }

    /// Enables or disables the server.
    fn turn(&self, is_active: bool, global: &Global, console: &Console) -> Result<(), Failure> {
        let change = json!({ "isActive": is_active });
        let running = RunningGateway::find(&self.place, global, console)?;
        let form = running.send(Method::PUT, &self.path(""), Some(&change))?;
        if console.json {
            return console.print(&form.to_string());
        }
        console.print(&format!(
            "{} is {}.",
            one_line(&self.server),
            if is_active { "enabled" } else { "disabled" }
        ))
    }

    fn remove(&self, global: &Global, console: &Console) -> Result<(), Failure> {
        RunningGateway::find(&self.place, global, console)?.send(Method::DELETE, &self.path(""), None)?;
        if console.json {
            return console.print(&json!({ "id": self.server, "removed": true }).to_string());
        }
        console.print(&format!("{} was removed.", one_line(&self.server)))
    }

    fn restart(&self, global: &Global, console: &Console) -> Result<(), Failure> {
        let running = RunningGateway::find(&self.place, global, console)?;
        let status = running.send(Method::POST, &self.path("/restart"), None)?;
        if console.json {
            return console.print(&status.to_string());
        }
        let text = |key: &str| one_line(status[key].as_str().unwrap_or_default());
        let reason = if text("reason").is_empty() { String::new() } else { format!(": {}", text("reason")) };
        let told = format!("{} was restarted; it is {}{reason}.", one_line(&self.server), text("state"));
        console.print(&console.fitted(&told))
    }
}

/// Lists or changes servers.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match &args.what {
        ServerCommand::List { place } => {
            let all = RunningGateway::find(place, global, console)?.get("/api/mcp-servers")?;
            if console.json { console.print(&all.to_string()) } else { console.print(&table(&all, console)) }
        }
        ServerCommand::Add(new) => new.add(global, console),
        ServerCommand::Remove { one } => one.remove(global, console),
        ServerCommand::Enable { one } => one.turn(true, global, console),
        ServerCommand::Disable { one } => one.turn(false, global, console),
        ServerCommand::Restart { one } => one.restart(global, console),
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
