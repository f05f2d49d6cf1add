//! `dragoman call`: calls a tool.

use std::io::Read as _;
use std::path::PathBuf;

use config::nearest::nearest;
use engine::catalogue::ListKind;
use proto::mcp::Method;

use super::target::{Questions, TargetOptions};
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::cut;
use crate::output::options::Global;
use crate::terminal::catalogue::{self, Tool};
use crate::terminal::connection::{Ask, Connection};
use crate::terminal::rounds::{complete, outcome};
use crate::terminal::save::Folder;
use crate::terminal::show::Show;
use crate::terminal::{ClientHandler, arguments};

/// The maximum size of a call's arguments, in bytes.
const MOST: u64 = 64 << 20;

/// The maximum number of tools that one line names.
const MANY: usize = 10;

/// The maximum length of a tool's name in a message, in columns.
const LONGEST: usize = 80;

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
pub(crate) struct Args {
    /// The server, the tool, and its arguments, or - to read the arguments from stdin as a JSON object
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
pub(crate) fn run(mut args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
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
    let questions = if stdin { Questions::WithoutStdin } else { Questions::Any };
    let result =
        args.place.visit(args.words, questions, global, console, async |connection, handler, mut words| {
            if words.is_empty() {
                return Err(Failure::usage("the tool's name is missing")
                    .help("`dragoman list TARGET tools` lists the tools"));
            }
            let name = words.remove(0);
            if whole.is_some() && !words.is_empty() {
                let message = format!("{:?} cannot be combined with arguments as JSON", words.join(" "));
                return Err(Failure::usage(message)
                    .help("pass the arguments either as JSON or as key=value, not both"));
            }
            let ToolCallResult { result, hint } = call(connection, handler, &name, whole, &words).await?;
            let shown = connection.modern(Method::ToolsCall, &result).into_owned();
            Ok((name, result, shown, hint))
        });
    let (name, result, shown, hint) = result?;
    let failed = if console.json {
        console.print(&result)?;
        serde_json::from_str::<serde_json::Value>(&shown).is_ok_and(|result| result["isError"] == true)
    } else {
        Show { console, save, name: &name }.tool_result(&shown)?
    };
    if failed {
        if !console.json && !console.quiet {
            let told = Failure::new("the tool reported an error");
            hint.map_or(Failure::new("the tool reported an error"), |hint| told.help(hint)).show(console);
        }
        return Err(Failure::silent(1));
    }
    Ok(())
}

/// The result of a call.
struct ToolCallResult {
    result: String,
    /// The likely reason for a failure: the tool is not listed, or does not list an argument.
    hint: Option<String>,
}

async fn call(
    connection: &mut Connection,
    handler: &mut ClientHandler<'_>,
    name: &str,
    whole: Option<String>,
    words: &[String],
) -> Result<ToolCallResult, Failure> {
    let catalogue = catalogue::gather(connection, &[ListKind::Tools], handler).await?;
    let listed: Vec<String> = catalogue.list(ListKind::Tools).iter().map(|item| item.key.clone()).collect();
    let tool: Option<Tool> = catalogue::tool(connection, catalogue, name);
    if tool.is_none() && whole.is_none() {
        refuse_mistyped(name, &listed)?;
    }
    let given = match whole {
        Some(json) => json,
        None => arguments::of_words(words, tool.as_ref().map(|tool| &tool.schema))?,
    };
    set_log_level(connection, handler).await?;
    let mut ask = Ask::new(Method::ToolsCall).about("name", name).with("arguments", given.as_str());
    ask.mirror.params = tool.as_ref().map(|tool| tool.headers(&given)).unwrap_or_default();
    let hint = match &tool {
        Some(tool) => arguments::unlisted(&given, &tool.schema),
        None => Some(listed_tools(name, &listed)),
    };
    match (complete(connection, &ask, handler).await, hint) {
        (Err(refused @ Failure::Refused { .. }), Some(hint)) => Err(refused.help(hint)),
        (outcome, hint) => Ok(ToolCallResult { result: outcome?.json().to_owned(), hint }),
    }
}

/// Refuses a name that resembles a listed one: a mistyped name must not call an unlisted tool that the server may have
/// under this name.
fn refuse_mistyped(name: &str, names: &[String]) -> Result<(), Failure> {
    let Some(near) = nearest(name, names.iter().map(String::as_str)) else { return Ok(()) };
    let shown = |name: &str| cut(&one_line(name), LONGEST);
    let help = format!(
        "did you mean {:?}? To call a tool that is not listed, pass its arguments with --args JSON",
        shown(near)
    );
    Err(Failure::usage(format!("the server lists no tool {:?}", shown(name))).help(help))
}

/// Returns the part of a message that names the tools: the one that was probably meant, all of them if there are few, or
/// else the first ones.
fn listed_tools(name: &str, names: &[String]) -> String {
    let shown = |name: &String| cut(&one_line(name), LONGEST);
    let list = |names: &[String]| names.iter().map(shown).collect::<Vec<_>>().join(", ");
    if let Some(near) = nearest(name, names.iter().map(String::as_str)) {
        return format!("did you mean {:?}?", shown(&near.to_owned()));
    }
    match names {
        [] => "the server lists no tools".to_owned(),
        _ if names.len() <= MANY => format!("the server lists {}", list(names)),
        _ => format!(
            "the server lists {} tools, among them {}; `dragoman list TARGET tools` shows all",
            names.len(),
            list(&names[..MANY])
        ),
    }
}

/// Requests log messages from the server, if the user asked for them and the era has a request for this.
async fn set_log_level(connection: &mut Connection, handler: &mut ClientHandler<'_>) -> Result<(), Failure> {
    let announced = proto::json::Members::of_document(&connection.hello.capabilities, proto::json::MAX_DEPTH);
    let logs =
        announced.is_ok_and(|members| members.get(&connection.hello.capabilities, "logging").is_some());
    let Some(level) = handler.log_level().filter(|_| logs && connection.era().knows(Method::SetLevel)) else {
        return Ok(());
    };
    let ask = Ask::new(Method::SetLevel).with("level", format!("\"{level}\""));
    if let Err(why) = outcome(connection.ask(&ask, handler).await?) {
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
