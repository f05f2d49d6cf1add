//! `dragoman man`: the manual pages, made from the command line's own descriptions.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use clap::Command;
use clap_mangen::Man;

use crate::output::console::Console;
use crate::output::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  dragoman man | man -l -
  dragoman man --save ~/.local/share/man/man1     write a page for every command";

/// Print the manual page, or write the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command whose page to print [default: the page of dragoman itself]
    #[arg(value_name = "COMMAND", conflicts_with = "save")]
    command: Option<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
}

/// Prints or writes the pages of a command line.
pub(crate) fn run(args: &Args, command_line: Command, console: &Console) -> Result<(), Failure> {
    let mut root = command_line.disable_help_subcommand(true);
    root.build();
    if let Some(folder) = &args.save {
        let cannot = |e: std::io::Error| Failure::new(format!("cannot write to {}: {e}", folder.display()));
        fs::create_dir_all(folder).map_err(cannot)?;
        let mut count = 0;
        write_all(&root, folder, &mut count).map_err(cannot)?;
        if console.json {
            let written = json!({ "folder": folder.display().to_string(), "pages": count });
            return console.print(&written.to_string());
        }
        console.note(&format!("Wrote {count} pages to {}.", folder.display()));
        return Ok(());
    }
    let wanted = match &args.command {
        None => &root,
        Some(name) => root.get_subcommands().find(|one| one.get_name() == name).ok_or_else(|| {
            let names: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
            let help = format!("the commands are {}", names.join(", "));
            Failure::usage(format!("there is no command {name:?}")).help(help)
        })?,
    };
    let page = page(wanted).map_err(|e| Failure::new(format!("cannot generate the page: {e}")))?;
    if console.json {
        return console.print(&json!({ "page": String::from_utf8_lossy(&page) }).to_string());
    }
    console.write(&page)
}

fn write_all(command: &Command, folder: &Path, count: &mut usize) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fs::write(folder.join(format!("{name}.1")), page(command)?)?;
    *count += 1;
    command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .try_for_each(|one| write_all(one, folder, count))
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).manual("Dragoman").render(&mut page)?;
    Ok(page)
}
