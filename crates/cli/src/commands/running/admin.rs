//! `dragoman admin`: the admin pages of the running gateway.

use gateway::control::{ControlClient, ControlError};
use http::Method;

use crate::commands::configuration::state::StateOptions;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;

/// Open the admin pages of the running gateway
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: AdminCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AdminCommand {
    /// Print a link that opens the admin pages once
    Link {
        #[command(flatten)]
        place: StateOptions,
    },
}

/// Prints a link.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let Args { what: AdminCommand::Link { place } } = args;
    let folder = place.find(global, console)?.folder;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure::new(format!("cannot start: {e}")))?;
    let client = ControlClient::new(&folder);
    let link =
        runtime.block_on(client.send(Method::POST, "/api/admin/links", None)).map_err(|e| failed(&e))?;
    if console.json {
        return console.print(&link.to_string());
    }
    console.note("This link opens the admin pages once, within 15 minutes:");
    console.print(link["url"].as_str().unwrap_or_default())
}

fn failed(error: &ControlError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}
