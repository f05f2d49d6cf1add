//! `dragoman read`: reads a resource.

use std::path::PathBuf;

use engine::catalogue::ListKind;
use proto::mcp::Method;

use super::target::{Questions, TargetOptions};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::terminal::catalogue::suggested;
use crate::terminal::connection::Ask;
use crate::terminal::rounds::complete;
use crate::terminal::save::Folder;
use crate::terminal::show::Show;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.
If stdout is a file or a pipe, the resource is written to it byte for byte, even if it is not text.

Examples:
  dragoman read demo demo://welcome
  dragoman read demo demo://greeting/Ada
  dragoman read docs file:///logo.png > logo.png";

/// Read a resource
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman read TARGET URI\n       dragoman read URI -- COMMAND...")]
pub(crate) struct Args {
    /// The server, and the resource
    #[arg(value_name = "TARGET and URI")]
    words: Vec<String>,
    /// Save the resource in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    #[command(flatten)]
    place: TargetOptions,
}

/// Reads the resource and shows it.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let save = args.save.as_deref().map(Folder::open).transpose()?;
    let (uri, result) = args.place.visit(
        args.words,
        Questions::Any,
        global,
        console,
        async |connection, handler, words| {
            let [uri] = &words[..] else {
                let help = "`dragoman list TARGET resources templates` lists the resources";
                return Err(Failure::usage("only one resource can be read at a time").help(help));
            };
            let ask = Ask::new(Method::ResourcesRead).about("uri", uri);
            let outcome = complete(connection, &ask, handler).await;
            let outcome = suggested(outcome, connection, &[ListKind::Resources], uri, handler).await?;
            Ok((uri.clone(), outcome.json().to_owned()))
        },
    )?;
    if console.json { console.print(&result) } else { Show { console, save, name: &uri }.resource(&result) }
}
