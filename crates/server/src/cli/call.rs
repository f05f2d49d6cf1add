//! `dragoman call`: calls a tool.

use std::io::Read as _;
use std::path::PathBuf;

use engine::catalogue::ListKind;
use proto::mcp::Method;

use super::target::TargetOptions;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::terminal::catalogue::{self, Tool};
use crate::terminal::connection::{Ask, Connection};
use crate::terminal::rounds::{complete, outcome};
use crate::terminal::save::Folder;
use crate::terminal::show::Show;
use crate::terminal::{Desk, arguments};

/// The maximum size of a call's arguments, in bytes.
const MOST: u64 = 64 << 20;

/// The maximum number of tools that one line names.
const MANY: usize = 10;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.
Values are converted as the tool's schema requires: text, numbers, true, false, JSON.
Write a list as JSON, or repeat the key.
The exit code is 1 if the tool reports an error.

Examples:
  dragoman call demo add a=2 b=3
  dragoman call demo echo --args '{\"text\": \"hi\"}'
  echo '{\"a\": 1, \"b\": 2}' | dragoman call demo add -
  dragoman call get-tiny-image --save . -- npx -y @modelcontextprotocol/server-everything";

/// Call a tool
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman call TARGET TOOL [KEY=VALUE]...\n       dragoman call TOOL [KEY=VALUE]... -- COMMAND...")]
pub(super) struct Args {
    /// The server, the tool, and its arguments; - reads them from stdin as a JSON object
    #[arg(value_name = "TARGET, TOOL and KEY=VALUE")]
    words: Vec<String>,
    /// All arguments as one JSON object, or a file that contains one
    #[arg(long = "args", value_name = "JSON or @FILE")]
    whole: Option<String>,
    /// Save images, audio and resources in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    #[command(flatten)]
    place: TargetOptions,
}

/// Calls the tool and shows its result.
pub(super) fn run(mut args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let stdin = args.words.last().is_some_and(|word| word == "-");
    if stdin {
        args.words.pop();
    }
    let whole = match (&args.whole, stdin) {
        (Some(_), true) => {
            return Err(Failure::usage("both --args and - give the arguments").help("use one of them"));
        }
        (Some(text), false) => Some(given(text)?),
        (None, true) => Some(read(std::io::stdin(), "stdin")?),
        (None, false) => None,
    };
    let whole = whole.as_deref().map(arguments::of_json).transpose()?;
    let save = args.save.as_deref().map(Folder::open).transpose()?;
    let result = args.place.visit(args.words, stdin, global, console, async |connection, desk, mut words| {
        if words.is_empty() {
            return Err(Failure::usage("which tool?").help("`dragoman list TARGET tools` lists them"));
        }
        let name = words.remove(0);
        if whole.is_some() && !words.is_empty() {
            let message = format!("{:?} is given together with arguments as JSON", words.join(" "));
            return Err(
                Failure::usage(message).help("pass the arguments either as JSON or as key=value, not both")
            );
        }
        let result = call(connection, desk, &name, whole, &words).await?;
        let shown = connection.modern(Method::ToolsCall, &result).into_owned();
        Ok((name, result, shown))
    });
    let (name, result, shown) = result?;
    let failed = if console.json {
        console.print(&result)?;
        serde_json::from_str::<serde_json::Value>(&shown).is_ok_and(|result| result["isError"] == true)
    } else {
        Show { console, save, name: &name }.tool_result(&shown)?
    };
    if failed {
        console.note(&format!("{} the tool reported an error", console.err.red("error:")));
        return Err(Failure::silent(1));
    }
    Ok(())
}

async fn call(
    connection: &mut Connection,
    desk: &mut Desk<'_>,
    name: &str,
    whole: Option<String>,
    words: &[String],
) -> Result<String, Failure> {
    let catalogue = catalogue::gather(connection, &[ListKind::Tools], desk).await?;
    let listed: Vec<String> = catalogue.list(ListKind::Tools).iter().map(|item| item.key.clone()).collect();
    let tool: Option<Tool> = catalogue::tool(connection, catalogue, name);
    let given = match whole {
        Some(json) => json,
        None => arguments::of_words(words, tool.as_ref().map(|tool| &tool.schema))?,
    };
    set_log_level(connection, desk).await?;
    let mut ask = Ask::new(Method::ToolsCall).about("name", name).with("arguments", given.as_str());
    ask.mirror.params = tool.as_ref().map(|tool| tool.headers(&given)).unwrap_or_default();
    let result = complete(connection, &ask, desk).await;
    match result {
        Err(refused @ Failure::Refused { .. }) if tool.is_none() => Err(refused.help(listed_tools(&listed))),
        other => Ok(other?.json().to_owned()),
    }
}

/// Returns the part of a message that names the tools: all of them if there are few, otherwise the first ones.
fn listed_tools(names: &[String]) -> String {
    match names {
        [] => "the server lists no tools".to_owned(),
        _ if names.len() <= MANY => format!("the server lists {}", names.join(", ")),
        _ => {
            let some = names[..MANY].join(", ");
            format!(
                "the server lists {} tools, among them {some}; `dragoman list TARGET tools` shows all",
                names.len()
            )
        }
    }
}

/// Asks the server for log messages, if the user wants them and the era has a request for this.
async fn set_log_level(connection: &mut Connection, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let announced = proto::json::Members::of_document(&connection.hello.capabilities, proto::json::MAX_DEPTH);
    let logs =
        announced.is_ok_and(|members| members.get(&connection.hello.capabilities, "logging").is_some());
    let Some(level) = desk.log_level().filter(|_| logs && connection.era().knows(Method::SetLevel)) else {
        return Ok(());
    };
    let ask = Ask::new(Method::SetLevel).with("level", format!("\"{level}\""));
    if let Err(why) = outcome(connection.ask(&ask, desk).await?) {
        tracing::info!("the server did not accept the log level: {why:?}");
    }
    Ok(())
}

/// Returns the value of `--args`: JSON text, or the content of a file.
fn given(text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let file = std::fs::File::open(path).map_err(|e| Failure::usage(format!("cannot read {path}: {e}")))?;
    read(file, path)
}

fn read(from: impl std::io::Read, name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let cannot = |why: String| Failure::usage(format!("cannot read {name}: {why}"));
    from.take(MOST + 1).read_to_string(&mut text).map_err(|e| cannot(e.to_string()))?;
    if text.len() as u64 > MOST { Err(cannot(format!("it is larger than {MOST} bytes"))) } else { Ok(text) }
}
