//! `dragoman profile`: lists and changes the profiles of the running gateway.

use http::Method;
use serde_json::{Value, json};

use super::running_gateway::{RunningGateway, encoded};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
These commands change the running gateway, which keeps the changes in its state folder.

Examples:
  dragoman profile list
  dragoman profile add office files github        a profile with two servers, at /mcp/office
  dragoman profile show office                    its servers, and what its tools cost in context
  dragoman profile add-server office time
  dragoman profile remove office";

/// List and change the profiles of the running gateway
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: ProfileCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProfileCommand {
    /// List the profiles, including those that were added while the gateway runs
    List {
        #[command(flatten)]
        place: StateOptions,
    },
    /// Show a profile: its servers, the number of its tools, and how many tokens the tools take
    Show {
        #[command(flatten)]
        one: NamedProfile,
    },
    /// Add a profile
    Add {
        #[command(flatten)]
        one: NamedProfile,
        /// The servers, in order; all servers of the configuration if none is named
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
        /// The name that people see
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The description that people see
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Remove a profile
    Remove {
        #[command(flatten)]
        one: NamedProfile,
    },
    /// Add a server to a profile
    AddServer {
        #[command(flatten)]
        one: NamedProfile,
        /// The server's name
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Remove a server from a profile
    RemoveServer {
        #[command(flatten)]
        one: NamedProfile,
        /// The server's name
        #[arg(value_name = "SERVER")]
        server: String,
    },
}

/// A profile of the running gateway.
#[derive(Debug, clap::Args)]
struct NamedProfile {
    /// The profile's name in URLs: 3 to 50 characters from a-z 0-9 -
    #[arg(value_name = "PROFILE")]
    profile: String,
    #[command(flatten)]
    place: StateOptions,
}

/// Lists or changes profiles.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match &args.what {
        ProfileCommand::List { place } => {
            let all = RunningGateway::find(place, global, console)?.get("/api/profiles")?;
            if console.json { console.print(&all.to_string()) } else { console.print(&table(&all, console)) }
        }
        ProfileCommand::Show { one } => one.show(global, console),
        ProfileCommand::Add { one, servers, name, description } => {
            let mut wanted = json!({ "slug": one.profile });
            if !servers.is_empty() {
                wanted["servers"] = json!(servers);
            }
            for (key, value) in [("name", name), ("description", description)] {
                if let Some(value) = value {
                    wanted[key] = json!(value);
                }
            }
            let asked = (Method::POST, "/api/profiles".to_owned(), Some(&wanted));
            let told =
                format!("The profile {0} was added; clients find it at /mcp/{0}.", one_line(&one.profile));
            one.change(asked, &told, (global, console))
        }
        ProfileCommand::Remove { one } => {
            let told = format!("The profile {} was removed.", one_line(&one.profile));
            one.change((Method::DELETE, one.path(""), None), &told, (global, console))
        }
        ProfileCommand::AddServer { one, server } => {
            let wanted = json!({ "mcpServerId": server });
            let told = format!("{} was added to {}.", one_line(server), one_line(&one.profile));
            one.change((Method::POST, one.path("/servers"), Some(&wanted)), &told, (global, console))
        }
        ProfileCommand::RemoveServer { one, server } => {
            let path = one.path(&format!("/servers/{}", encoded(server)));
            let told = format!("{} was removed from {}.", one_line(server), one_line(&one.profile));
            one.change((Method::DELETE, path, None), &told, (global, console))
        }
    }
}

impl NamedProfile {
    fn path(&self, rest: &str) -> String {
        format!("/api/profiles/{}{rest}", encoded(&self.profile))
    }

    /// Sends a change, and reports it.
    fn change(
        &self,
        (method, path, body): (Method, String, Option<&Value>),
        told: &str,
        (global, console): (&Global, &Console),
    ) -> Result<(), Failure> {
        let answer = RunningGateway::find(&self.place, global, console)?.send(method, &path, body)?;
        if console.json {
            let removed = || json!({ "id": self.profile, "changed": true });
            return console.print(&if answer.is_null() { removed() } else { answer }.to_string());
        }
        console.print(&console.fitted(told))
    }

    fn show(&self, global: &Global, console: &Console) -> Result<(), Failure> {
        let running = RunningGateway::find(&self.place, global, console)?;
        let form = running.get(&self.path(""))?;
        let status = running.get(&self.path("/status"))?;
        let servers = running.get(&self.path("/servers"))?;
        if console.json {
            let all = json!({ "profile": form, "status": status, "servers": servers });
            return console.print(&all.to_string());
        }
        let listed = &status["listed"];
        let line = format!(
            "{}: {} tools, about {} tokens",
            one_line(&self.profile),
            listed["tools"].as_u64().unwrap_or(0),
            listed["tokens"].as_u64().unwrap_or(0)
        );
        console.print(&console.fitted(&line))?;
        let mut table = Table::new(&["SERVER", "STATE"]);
        let list = servers.as_array().or_else(|| servers["servers"].as_array());
        for one in list.into_iter().flatten() {
            let active = one["isActive"] != false;
            let id = one["mcpServerId"].as_str().or_else(|| one["id"].as_str()).unwrap_or_default();
            table.row([one_line(id), if active { "on" } else { "off" }.to_owned()], !active);
        }
        console.print(&table.lines(console.out_width, console.out))
    }
}

fn table(all: &Value, console: &Console) -> String {
    let mut table = Table::new(&["PROFILE", "FROM", "NAME"]);
    let list = all.as_array().or_else(|| all["profiles"].as_array());
    for one in list.into_iter().flatten() {
        let text = |key: &str| one_line(one[key].as_str().unwrap_or_default());
        table.row([text("slug"), text("source"), text("name")], false);
    }
    table.lines(console.out_width, console.out)
}
