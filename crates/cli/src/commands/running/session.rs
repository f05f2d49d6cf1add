//! `dragoman session`: lists and ends the sessions of the running gateway's clients.

use http::Method;
use proto::era::newest_stateless;
use serde_json::{Value, json};

use super::running_gateway::{RunningGateway, caller, encoded};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::moment::{ago, millis_of};
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
Examples:
  dragoman session list --principal 'user:ann'
  dragoman session end 3f9a12bc5d6e7f80           the client gets a clear error, and opens a new session";

/// List and end the sessions of clients
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: SessionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    /// List the open sessions, the most recently used first
    List {
        /// Show only sessions of this profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Show only sessions of this caller: its name as the list shows it, or the name of its key
        #[arg(long, value_name = "NAME")]
        principal: Option<String>,
        /// Show at most this many sessions
        #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 100)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=500))]
        limit: u64,
        #[command(flatten)]
        place: StateOptions,
    },
    /// End a session
    End {
        /// The session, as `dragoman session list` shows it
        #[arg(value_name = "SESSION")]
        session: String,
        #[command(flatten)]
        place: StateOptions,
    },
}

/// Lists or ends sessions.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match &args.what {
        SessionCommand::List { profile, principal, limit, place } => {
            let chosen = [("profile", profile), ("principal", principal)].into_iter();
            let chosen =
                chosen.filter_map(|(key, value)| Some(format!("&{key}={}", encoded(value.as_ref()?))));
            let path = format!("/api/sessions?limit={limit}{}", chosen.collect::<String>());
            let page = RunningGateway::find(place, global, console)?.get(&path)?;
            if console.json { console.print(&page.to_string()) } else { show(&page, console) }
        }
        SessionCommand::End { session, place } => {
            let path = format!("/api/sessions/{}", encoded(session));
            RunningGateway::find(place, global, console)?.send(Method::DELETE, &path, None)?;
            if console.json {
                return console.print(&json!({"id": session, "ended": true}).to_string());
            }
            console.print(&format!("The session {} has ended.", one_line(session)))
        }
    }
}

fn show(page: &Value, console: &Console) -> Result<(), Failure> {
    let sessions = page["sessions"].as_array().map_or(&[][..], Vec::as_slice);
    if sessions.is_empty() {
        let stateless = newest_stateless().version;
        console.note(&format!(
            "No client has an open session. Clients that use protocol version {stateless} need none."
        ));
        return Ok(());
    }
    let mut table =
        Table::new(&["SESSION", "PRINCIPAL", "PROFILE", "VERSION", "OPENED", "IDLE", "RUNNING", "CLIENT"]);
    for one in sessions {
        let text = |key: &str| one_line(one[key].as_str().unwrap_or_default());
        let cells = [
            text("id"),
            caller(&text("principal"), &text("principalName")),
            text("profile"),
            if one["era"].is_null() { text("kind") } else { text("era") },
            millis_of(&one["opened"]).map(ago).unwrap_or_default(),
            format!("{} s", one["idleSeconds"]),
            one["running"].to_string(),
            [text("client"), text("address")].join(" ").trim().to_owned(),
        ];
        table.row(cells, false);
    }
    console.print(&table.lines(console.out_width, console.out))?;
    let (total, shown) = (page["total"].as_u64().unwrap_or(0), sessions.len() as u64);
    if total > shown {
        console.note(&format!("{shown} of {total} sessions; --limit shows more."));
    }
    Ok(())
}
