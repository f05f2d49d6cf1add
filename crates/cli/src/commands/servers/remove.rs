//! `dragoman remove`: removes a server from the configuration file.

use config::{changed_lines, remove_server};
use serde_json::json;

use crate::commands::configuration::changed_lines::show_changes;
use crate::commands::configuration::config_file::ConfigFile;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;

const EXAMPLES: &str = "\
Examples:
  dragoman remove time
  dragoman remove time --dry-run                  show the change without writing it";

/// Remove a server from the configuration file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server's name
    #[arg(value_name = "NAME")]
    name: String,
    /// Show the change without writing it
    #[arg(long)]
    dry_run: bool,
}

/// Removes the server.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let file = ConfigFile::open(global.config.as_deref())?;
    let Some(old) = &file.text else {
        let message = format!("there is no configuration file {}", file.shown.display());
        return Err(Failure::usage(message).help("name it with --config FILE"));
    };
    file.check(old)?;
    let removal = remove_server(old, &args.name).map_err(|fault| {
        Failure::usage(format!("{}: {}", file.shown.display(), fault.message)).help(fault.help)
    })?;
    if let Err(invalid) = file.check(&removal.text) {
        if !console.json {
            let name = &args.name;
            console.complain(&format!(
                "Nothing was changed: without {name}, the file would have these errors.\n"
            ));
        }
        return Err(invalid);
    }
    let backup = if args.dry_run { None } else { file.replace(&removal.text, false)? };
    let lines = changed_lines(old, &removal.text);
    if console.json {
        let removed: Vec<&str> = lines.iter().filter(|line| !line.is_added).map(|line| &*line.text).collect();
        return console.print(
            &json!({
                "file": file.shown.display().to_string(),
                "backup": backup.map(|backup| backup.display().to_string()),
                "written": !args.dry_run,
                "server": args.name,
                "profiles": removal.profiles,
                "lines": removed,
            })
            .to_string(),
        );
    }
    let did = if args.dry_run { "Would remove" } else { "Removed" };
    show_changes(did, &args.name, &file, backup.as_deref(), &lines, console)?;
    if !removal.profiles.is_empty() {
        let would = if args.dry_run { "It would also be removed" } else { "It was also removed" };
        console.note(&format!("{would} from these profiles: {}.", removal.profiles.join(", ")));
    }
    if !args.dry_run {
        let told = "A running gateway reads the file within a second, and closes the server when its calls have ended.";
        console.note(&console.fitted_err(told, 0));
    }
    Ok(())
}
