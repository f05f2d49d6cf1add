//! `dragoman disconnect`: undoes the changes that `dragoman connect` made in a client's settings.

use std::path::PathBuf;

use clients::connection::{self, ConnectionRecord};
use config::changed_lines;
use serde_json::json;

use super::client_files;
use super::connect::connected;
use super::connection_records::ELSEWHERE;
use crate::commands::configuration::changed_lines::show_lines;
use crate::commands::configuration::confirmation::confirmed;
use crate::output::console::Console;
use crate::output::failure::Failure;

const EXAMPLES: &str = "\
If the settings have not changed since `dragoman connect`, they are restored byte for byte. Otherwise only Dragoman's entry
is removed, and the servers that `connect --only` removed come back.

Examples:
  dragoman disconnect cursor
  dragoman disconnect vscode --project            for the project in this folder";

/// Take Dragoman out of a client's settings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The client
    #[arg(value_name = "CLIENT")]
    client: String,
    /// The name of the entry, if it was not created with `connect`
    #[arg(long, value_name = "NAME", default_value = "dragoman")]
    name: String,
    /// Edit the settings of the project in this folder instead of your own
    #[arg(long)]
    project: bool,
    /// The settings file, if it is elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,
    /// Write the file without asking
    #[arg(long, short)]
    yes: bool,
    /// Show the change without writing it
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Disconnects the client.
pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let client = client_files::client(&args.client)?;
    let (file, place) = connected(client, args.project, args.file.as_ref())?;
    let now = file.text.clone().unwrap_or_default();
    let failed = |fault: config::EditFault| {
        Failure::usage(format!("{}: {}", file.shown.display(), fault.message)).help(fault.help)
    };
    let record = match place.read()? {
        Some(record) => record,
        None if clients::settings_text::servers(client, &now).map_err(failed)?.contains_key(&args.name) => {
            unrecorded(client.name, &args.name)
        }
        None => {
            let message =
                format!("{} has no entry {:?} in {}", client.title, args.name, file.shown.display());
            return Err(Failure::usage(message).help(ELSEWHERE));
        }
    };
    let restored = connection::disconnect(client, &now, &record).map_err(failed)?;
    let lines = changed_lines(&now, restored.as_deref().unwrap_or_default());
    if !console.json {
        let head = if restored.is_some() { "Change" } else { "Remove" };
        console.print(&console.fitted(&format!("{head} {}:", file.shown.display())))?;
        show_lines(&lines, console)?;
    }
    let question = format!("Write {}'s settings?", client.title);
    if !args.dry_run && !args.yes && !confirmed(&question, console)? {
        console.note("Nothing was changed.");
        return Ok(());
    }
    let mut backup = None;
    if !args.dry_run {
        match &restored {
            Some(text) => backup = file.replace(text, false)?,
            None => file.remove()?,
        }
        place.remove();
    }
    if console.json {
        return console.print(
            &json!({
                "client": client.name,
                "file": file.shown.display().to_string(),
                "backup": backup.map(|backup| backup.display().to_string()),
                "written": !args.dry_run,
                "restored": record.replaced,
            })
            .to_string(),
        );
    }
    if args.dry_run {
        return Ok(());
    }
    console.print(&format!(
        "{0} no longer uses Dragoman. Start {0} again if it does not notice the change.",
        client.title
    ))
}

/// The record for an entry that somebody wrote by hand. `disconnect` removes only this entry.
fn unrecorded(client: &str, name: &str) -> ConnectionRecord {
    ConnectionRecord {
        client: client.to_owned(),
        name: name.to_owned(),
        replaced: Vec::new(),
        before: None,
        after: String::new(),
    }
}
