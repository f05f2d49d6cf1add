//! `dragoman consent`: lists and revokes users' consents to servers.

use http::Method;
use serde_json::{Value, json};

use super::running_gateway::{RunningGateway, caller, encoded};
use crate::commands::configuration::state::StateOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::moment::{millis_of, until};
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
Examples:
  dragoman consent list
  dragoman consent revoke docs                    the consent that applies to all callers
  dragoman consent revoke docs --caller 'user:ann'";

/// List and revoke users' consents to servers (OAuth)
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: ConsentCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConsentCommand {
    /// List the consents that were given, and those that servers are waiting for
    List {
        #[command(flatten)]
        place: StateOptions,
    },
    /// Revoke a consent, and delete its tokens
    Revoke {
        /// The server's name
        #[arg(value_name = "SERVER")]
        server: String,
        /// The caller that gave the consent, as `dragoman consent list` shows it, or the name of its key [default: the consent for all callers]
        #[arg(long, value_name = "CALLER")]
        caller: Option<String>,
        #[command(flatten)]
        place: StateOptions,
    },
}

/// Lists or revokes consents.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match &args.what {
        ConsentCommand::List { place } => {
            let all = RunningGateway::find(place, global, console)?.get("/api/consents")?;
            if console.json { console.print(&all.to_string()) } else { show(&all, console) }
        }
        ConsentCommand::Revoke { server, caller, place } => {
            let query =
                caller.as_ref().map(|caller| format!("?caller={}", encoded(caller))).unwrap_or_default();
            let path = format!("/api/consents/{}{query}", encoded(server));
            RunningGateway::find(place, global, console)?.send(Method::DELETE, &path, None)?;
            if console.json {
                let told = json!({"server": server, "caller": caller, "revoked": true});
                return console.print(&told.to_string());
            }
            let whose =
                caller.as_ref().map_or("all callers'".to_owned(), |caller| format!("{}'s", one_line(caller)));
            console.print(&format!("Revoked {whose} consent to {}.", one_line(server)))
        }
    }
}

fn show(all: &Value, console: &Console) -> Result<(), Failure> {
    let consents = all["consents"].as_array().map_or(&[][..], Vec::as_slice);
    if consents.is_empty() {
        console.note("No server has consent or is waiting for it.");
        return Ok(());
    }
    let mut table = Table::new(&["SERVER", "CALLER", "STATE", "EXPIRES", "SCOPES"]);
    for one in consents {
        let text = |key: &str| one_line(one[key].as_str().unwrap_or_default());
        let (given, wanted) = (one["given"] == true, one["wanted"] == true);
        let state = match (given, wanted) {
            (true, false) => "given",
            (true, true) => "wanted again",
            (false, _) => "wanted",
        };
        let scopes = one["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let expires = match (one["renewable"] == true, millis_of(&one["expires"])) {
            (true, _) => "renewed".to_owned(),
            (false, Some(at)) => until(at),
            (false, None) => String::new(),
        };
        let who = || caller(&text("caller"), &text("callerName"));
        let caller = if one["caller"].is_null() { "all callers".to_owned() } else { who() };
        let scopes = one_line(&scopes.collect::<Vec<_>>().join(" "));
        table.row([text("server"), caller, state.to_owned(), expires, scopes], !given && !wanted);
    }
    console.print(&table.lines(console.out_width, console.out))
}
