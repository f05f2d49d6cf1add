//! `dragoman definitions`: shows and approves changed definitions of tools. This module must not know how definitions are compared.

use std::fmt::Write as _;

use engine::pinning::{DiffSign, visible};
use gateway::definitions::{ChangeKind, Review, ToolChange};
use serde_json::{Value, json};
use store::audit::{AuditEntry, CallOutcome, Log};
use store::definitions::{ApprovalRefused, ApprovalRequest, Definitions, RecordedServer};

use crate::commands::configuration::state::{StateFolder, StateOptions, audit_file, failed};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::moment::{self, short};
use crate::output::options::Global;

/// The principal that the record of calls shows for approvals on the command line.
const PRINCIPAL: &str = "cli";

const EXAMPLES: &str = "\
Examples:
  dragoman definitions                            list the servers with changed, new or vanished tools
  dragoman definitions files                      show what changed
  dragoman definitions approve files read_file    approve one tool
  dragoman definitions approve files --all \\
      --revision 3f9a12bc5d0e47a19b6c2f8e7d413a05
                                                  approve all, unless something changed since the review

A running gateway applies an approval within a second or two.";

/// Show and approve tools whose definitions changed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<DefinitionsCommand>,
    /// The server whose changes to show
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// Show long texts completely
    #[arg(long, requires = "server")]
    full: bool,
    #[command(flatten)]
    place: StateOptions,
}

#[derive(Debug, clap::Subcommand)]
enum DefinitionsCommand {
    /// Approve what a server lists now
    Approve(Approve),
}

#[derive(Debug, clap::Args)]
struct Approve {
    /// The server
    #[arg(value_name = "SERVER")]
    server: String,
    /// The tools, by the server's own names
    #[arg(value_name = "TOOL", required_unless_present = "all")]
    tools: Vec<String>,
    /// Approve all tools of the server
    #[arg(long, conflicts_with = "tools")]
    all: bool,
    /// Approve nothing if anything changed since the review that showed this code
    #[arg(long, value_name = "CODE")]
    revision: Option<String>,
    #[command(flatten)]
    place: StateOptions,
}

/// Shows or approves definitions.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match (args.what, args.server) {
        (Some(DefinitionsCommand::Approve(_)), server) if server.is_some() || args.place.is_given() => {
            let help = "dragoman definitions approve SERVER --all --state FOLDER";
            Err(Failure::usage("arguments precede `approve`")
                .help(format!("write them after `approve`: {help}")))
        }
        (Some(DefinitionsCommand::Approve(args)), _) => approve(&args, global, console),
        (None, Some(server)) => review(&args.place.find(global, console)?, &server, args.full, console),
        (None, None) => list(&args.place.find(global, console)?, console),
    }
}

/// Opens the record, if there is one.
fn open(state: &StateFolder) -> Result<Option<Definitions>, Failure> {
    let mut fresh = [0; 32];
    getrandom::fill(&mut fresh)
        .map_err(|e| Failure::new(format!("the operating system's random number generator failed: {e}")))?;
    Definitions::open_existing(&state.folder, &fresh).map_err(|e| failed(&e))
}

/// The server with this name, and the record.
fn find(state: &StateFolder, name: &str) -> Result<(Definitions, RecordedServer), Failure> {
    let record = open(state)?;
    let unknown = |known: &[String]| {
        let message = format!("no definitions are recorded for a server {:?}", visible(name));
        let help = if known.is_empty() {
            "a running gateway records them when it first lists the server's tools".to_owned()
        } else {
            format!("there are records for {}", known.join(", "))
        };
        Failure::new(message).help(help)
    };
    let Some(record) = record else { return Err(unknown(&[])) };
    let servers = record.servers().map_err(|e| failed(&e))?;
    let found = servers.iter().find(|one| one.name == name).cloned();
    let names = || distinct(&servers).iter().map(|one| visible(&one.name)).collect::<Vec<_>>();
    found.map_or_else(|| Err(unknown(&names())), |found| Ok((record, found)))
}

/// Returns the servers, without older servers that have the same name.
fn distinct(servers: &[RecordedServer]) -> Vec<&RecordedServer> {
    let mut all: Vec<&RecordedServer> = Vec::new();
    for one in servers {
        if !all.iter().any(|other| other.name == one.name) {
            all.push(one);
        }
    }
    all
}

fn list(state: &StateFolder, console: &Console) -> Result<(), Failure> {
    const HEAD: [&str; 4] = ["SERVER", "CHANGED", "NEW", "VANISHED"];
    let mut rows: Vec<(String, [usize; 3])> = Vec::new();
    if let Some(record) = open(state)? {
        let servers = record.servers().map_err(|e| failed(&e))?;
        for one in distinct(&servers) {
            let all = record.of_server(&one.digest, true).map_err(|e| failed(&e))?;
            let review = Review::of(&all, record.revision(&all), false);
            let kinds = [ChangeKind::Changed, ChangeKind::New, ChangeKind::Vanished];
            let counts = kinds.map(|kind| review.count(kind));
            if counts.iter().any(|count| *count > 0) {
                rows.push((one.name.clone(), counts));
            }
        }
    }
    if console.json {
        let one = |(name, [changed, new, vanished]): &(String, [usize; 3])| json!({ "id": name, "changed": changed, "new": new, "vanished": vanished });
        let all: Vec<Value> = rows.iter().map(one).collect();
        return console.print(&json!({ "servers": all }).to_string());
    }
    if rows.is_empty() {
        console.note("No definition of a tool awaits approval.");
        return Ok(());
    }
    let width = rows.iter().map(|(name, _)| visible(name).chars().count()).chain([HEAD[0].len()]).max();
    let width = width.unwrap_or(0);
    let head = format!("{:width$}  {}  {:>5}  {}", HEAD[0], HEAD[1], HEAD[2], HEAD[3]);
    let mut text = format!("{}\n", console.out.bold(&head));
    for (name, [changed, new, vanished]) in &rows {
        let _ = writeln!(text, "{:width$}  {changed:>7}  {new:>5}  {vanished:>8}", visible(name));
    }
    console.print(&text)
}

fn review(state: &StateFolder, name: &str, is_full: bool, console: &Console) -> Result<(), Failure> {
    let (record, server) = find(state, name)?;
    let all = record.of_server(&server.digest, true).map_err(|e| failed(&e))?;
    let review = Review::of(&all, record.revision(&all), is_full);
    if console.json {
        return console.print(&review.to_json(name, true).to_string());
    }
    if review.changes.is_empty() {
        console.note(&format!("No definition of a tool of {} awaits approval.", visible(name)));
        return Ok(());
    }
    let mut text = String::new();
    for one in &review.changes {
        show(&mut text, one, console);
    }
    console.print(text.trim_end())?;
    let (name, revision) = (visible(name), &review.revision);
    console.note(&format!(
        "\nTo approve all of this:\n  dragoman definitions approve {name} --all \\\n    --revision {revision}"
    ));
    Ok(())
}

fn show(text: &mut String, one: &ToolChange, console: &Console) {
    let title = format!("{}: {}", console.out.bold(&visible(&one.tool).replace('\n', " ")), one.kind);
    let _ = match one.kind {
        ChangeKind::Vanished => writeln!(
            text,
            "{title}{}\n  no longer listed, or left out because its new definition is invalid\n  (the log says which)",
            one.vanished_ms.map_or(String::new(), |at| format!(", {} UTC", short(at)))
        ),
        _ => writeln!(text, "{title}, first listed {} UTC", short(one.first_seen_ms)),
    };
    for line in &one.lines {
        let shown = match line.sign {
            DiffSign::Heading => line.to_string(),
            DiffSign::Removed => console.out.red(&line.to_string()),
            DiffSign::Added => console.out.cyan(&line.to_string()),
        };
        let _ = writeln!(text, "{shown}");
    }
    text.push('\n');
}

fn approve(args: &Approve, global: &Global, console: &Console) -> Result<(), Failure> {
    let state = args.place.find(global, console)?;
    let (mut record, server) = find(&state, &args.server)?;
    // If the record of calls cannot be opened, nothing is approved.
    let log = audit_log(&state)?;
    let request = ApprovalRequest {
        tools: (!args.all).then_some(args.tools.as_slice()),
        revision: args.revision.as_deref(),
        by: PRINCIPAL,
    };
    let made = record.approve(&server.digest, request, moment::now()).map_err(|e| failed(&e))?;
    let tools = made.map_err(|refused| {
        let name = visible(&args.server);
        let help = match refused {
            ApprovalRefused::Outdated(_) => format!("review them again: dragoman definitions {name}"),
            ApprovalRefused::Unknown(_) => {
                format!("use the tool names that this command prints: dragoman definitions {name}")
            }
            ApprovalRefused::TooMany(_) => format!(
                "approve other tools by their names; to use this one, set `definitions: warn` for {name}"
            ),
        };
        Failure::new(refused.to_string()).help(help)
    })?;
    let names: Vec<String> = tools.iter().map(|tool| visible(tool)).collect();
    if let Some(mut log) = log.filter(|_| !tools.is_empty()) {
        log.append(&[entry(&args.server, &names)]).map_err(|e| {
            let names = names.join(", ");
            Failure::new(format!("approved {names}, but the record of calls has no entry for it: {e}"))
                .help(e.help())
        })?;
    }
    if console.json {
        return console.print(&json!({ "id": args.server, "approved": tools }).to_string());
    }
    if tools.is_empty() {
        console.note(&format!("No definition of a tool of {} awaits approval.", visible(&args.server)));
        return Ok(());
    }
    console.print(&format!("Approved: {}.", names.join(", ")))
}

/// The record of calls, if calls are recorded.
fn audit_log(state: &StateFolder) -> Result<Option<Log>, Failure> {
    let file = audit_file(&state.folder, state.config.as_ref());
    let is_on = state.config.as_ref().is_some_and(|config| config.audit.is_some());
    let log = if is_on { Log::open(&file).map(Some) } else { Log::open_existing(&file) };
    log.map_err(|e| failed(&e))
}

/// The entry for an approval in the record of calls.
fn entry(server: &str, tools: &[String]) -> AuditEntry {
    /// The maximum length of an approval's description in the record of calls, in bytes.
    const LONGEST: usize = 1000;
    let mut method = format!("definitions approve: approved: {}", tools.join(", "));
    if method.len() > LONGEST {
        method.truncate(method.floor_char_boundary(LONGEST));
        method.push('…');
    }
    AuditEntry {
        at_ms: moment::now(),
        principal: PRINCIPAL.into(),
        profile: "".into(),
        upstream: Some(server.into()),
        tool: None,
        method: method.into(),
        outcome: CallOutcome::Ok,
        code: None,
        duration_us: 0,
        request_bytes: 0,
        response_bytes: 0,
        tries: 0,
        waited_us: 0,
        cached: false,
        reason: None,
        arguments: None,
        address: None,
        client: None,
    }
}
