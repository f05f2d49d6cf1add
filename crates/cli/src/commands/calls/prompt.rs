//! `dragoman prompt`: gets a prompt.

use engine::catalogue::ListKind;
use proto::mcp::Method;

use super::target::{Questions, TargetOptions};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::terminal::arguments;
use crate::terminal::catalogue::suggested;
use crate::terminal::connection::Ask;
use crate::terminal::rounds::complete;
use crate::terminal::show::Show;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.

Examples:
  dragoman prompt demo introduce
  dragoman prompt demo introduce topic=profiles";

/// Get a prompt
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman prompt TARGET NAME [KEY=VALUE]...\n       dragoman prompt NAME [KEY=VALUE]... -- COMMAND...")]
pub(crate) struct Args {
    /// The server, the prompt, and its arguments
    #[arg(value_name = "TARGET, NAME and KEY=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    place: TargetOptions,
}

/// Gets the prompt and shows its messages.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let (name, result) = args.place.visit(
        args.words,
        Questions::Any,
        global,
        console,
        async |connection, handler, words| {
            let Some((name, given)) = words.split_first() else {
                return Err(Failure::usage("the prompt's name is missing")
                    .help("`dragoman list TARGET prompts` lists the prompts"));
            };
            let ask = Ask::new(Method::PromptsGet)
                .about("name", name)
                .with("arguments", arguments::of_texts(given)?);
            let outcome = complete(connection, &ask, handler).await;
            let outcome = suggested(outcome, connection, &[ListKind::Prompts], name, handler).await?;
            Ok((name.clone(), outcome.json().to_owned()))
        },
    )?;
    if console.json {
        console.print(&result)
    } else {
        Show { console, save: None, name: &name }.prompt(&result)
    }
}
