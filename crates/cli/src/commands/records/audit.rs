//! `dragoman audit`: shows, filters and follows the record of calls.

use std::path::Path;
use std::time::Duration;

use config::Glob;
use gateway::KeyNames;
use serde::Serialize;
use serde_json::value::RawValue;
use store::audit::{AuditEntry, CallOutcome, Log, MAX_LIMIT, Query, Recorded};

use crate::commands::configuration::state::{StateOptions, audit_file, failed};
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::{columns, wrap};
use crate::output::moment::{self, TimeArgument, brief, rfc3339};
use crate::output::options::Global;

/// The time between two checks for new entries with `--follow`.
const LOOK: Duration = Duration::from_millis(250);

const EXAMPLES: &str = "\
Patterns: `*` stands for any characters, `?` for one.

Examples:
  dragoman audit                                  show the newest calls, the newest first
  dragoman audit --since 1h --outcome error
  dragoman audit --tool 'files__*' --principal 'key:*' --limit 500
  dragoman audit --principal ci-bot               show the calls with the key of this name
  dragoman audit --follow                         show calls as they are recorded
  dragoman audit --since 7d --limit 100000 --json | jq -r .principal | sort | uniq -c";

/// Show the record of calls
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Show only calls since this time: a span before now such as 30m, 12h or 7d, or a time in UTC
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    since: Option<TimeArgument>,
    /// Show only calls until this time, in the same form
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    until: Option<TimeArgument>,
    /// Show only calls to tools whose names match
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    tool: Option<String>,
    /// Show only calls by callers whose id or whose key's name matches
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    principal: Option<String>,
    /// Show only calls through profiles whose names match
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    profile: Option<String>,
    /// Show only calls to servers whose names match
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    server: Option<String>,
    /// Show only calls with this outcome
    #[arg(long, value_name = "OUTCOME", value_enum)]
    outcome: Option<Ended>,
    /// Show at most this many calls
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    limit: u32,
    /// Keep showing new calls, the newest last, until Ctrl-C
    #[arg(long, short, conflicts_with = "until")]
    follow: bool,
    #[command(flatten)]
    place: StateOptions,
}

/// Checks a pattern by the rules for patterns in the configuration.
fn pattern(text: &str) -> Result<String, &'static str> {
    Glob::parse(text).map(|_| text.to_owned())
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Ended {
    Ok,
    Error,
    Denied,
    Unknown,
}

/// Shows the record.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let state = args.place.find(global, console)?;
    let file = audit_file(&state.folder, state.config.as_ref());
    let log = Log::open_existing(&file).map_err(|e| failed(&e))?;
    if log.is_none() {
        nothing_yet(
            &file,
            state.config.as_ref().is_some_and(|config| config.audit.is_some()),
            args,
            console,
        )?;
    }
    let names = KeyNames::read(&state.folder).map_err(|e| failed(&e))?;
    let query = names.widened(args.query(moment::now()));
    if let (Some(since), Some(until)) = (query.since_ms, query.until_ms)
        && since > until
    {
        let message = format!("--since ({}) is later than --until ({})", rfc3339(since), rfc3339(until));
        return Err(Failure::usage(message).help("a span counts back from now: --since 2h --until 1h"));
    }
    if args.follow {
        return follow(log, (&file, &state.folder), query, console);
    }
    let Some(log) = log else { return Ok(()) };
    let found = log.query(&query).map_err(|e| failed(&e))?;
    for one in &found {
        console.print(&line(one, &names, console))?;
    }
    if found.is_empty() && !console.json {
        console.note("No matching calls.");
    }
    Ok(())
}

fn nothing_yet(file: &Path, is_kept: bool, args: &Args, console: &Console) -> Result<(), Failure> {
    if args.follow || is_kept {
        console.note(&format!("Nothing has been recorded yet: there is no {}.", file.display()));
        return Ok(());
    }
    let message = format!("calls are not recorded: there is no {}", file.display());
    Err(Failure::new(message)
        .help("write `audit: true` into the configuration, or name the record's folder with --state"))
}

impl Args {
    fn query(&self, now: u64) -> Query {
        Query {
            since_ms: self.since.map(|when| when.before(now)),
            until_ms: self.until.map(|when| when.before(now)),
            principal: self.principal.clone(),
            profile: self.profile.clone(),
            upstream: self.server.clone(),
            tool: self.tool.clone(),
            outcome: self.outcome.map(|ended| match ended {
                Ended::Ok => CallOutcome::Ok,
                Ended::Error => CallOutcome::Error,
                Ended::Denied => CallOutcome::Denied,
                Ended::Unknown => CallOutcome::Unknown,
            }),
            limit: self.limit,
            ..Query::default()
        }
    }
}

/// Shows the latest calls in order, then each new one.
fn follow(
    mut log: Option<Log>,
    (file, folder): (&Path, &Path),
    mut query: Query,
    console: &Console,
) -> Result<(), Failure> {
    let mut names = KeyNames::read(folder).map_err(|e| failed(&e))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
    if let Some(log) = &log {
        // Calls that arrive in the meantime are shown below, and only once.
        query.after = Some(log.newest().map_err(|e| failed(&e))?);
        let last = Query { after: None, ..query.clone() };
        let until_now = log.query(&last).map_err(|e| failed(&e))?;
        let seen = until_now.first().map(|one| one.id);
        query.after = query.after.max(seen);
        for one in until_now.iter().rev() {
            console.print(&line(one, &names, console))?;
        }
    }
    query.limit = MAX_LIMIT;
    query.after = query.after.or(Some(0));
    runtime.block_on(async {
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = look.tick() => {}
                _ = tokio::signal::ctrl_c() => return Err(Failure::interrupted()),
            }
            if !console.is_read() {
                return Err(Failure::silent(0));
            }
            if log.is_none() {
                log = Log::open_existing(file).map_err(|e| failed(&e))?;
            }
            let Some(log) = &log else { continue };
            for one in log.query(&query).map_err(|e| failed(&e))? {
                if names.lacks(&one.entry.principal) {
                    // The key may be new.
                    names = KeyNames::read(folder).map_err(|e| failed(&e))?;
                }
                console.print(&line(&one, &names, console))?;
                query.after = Some(one.id);
            }
        }
    })
}

/// A call as a line of JSON, for scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditLine<'a> {
    id: i64,
    at: String,
    principal: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_name: Option<&'a str>,
    profile: &'a str,
    server: Option<&'a str>,
    tool: Option<&'a str>,
    method: &'a str,
    outcome: &'a str,
    code: Option<i64>,
    duration_us: u64,
    request_bytes: u64,
    response_bytes: u64,
    tries: u32,
    waited_us: u64,
    cached: bool,
    address: Option<&'a str>,
    client: Option<&'a str>,
    reason: Option<&'a str>,
    reason_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments<'a>>,
}

/// Arguments as they were recorded; as a string if they are not valid JSON, because they were truncated.
#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Whole(&'a RawValue),
    Cut(&'a str),
}

fn line(one: &Recorded, names: &KeyNames, console: &Console) -> String {
    if console.json { json(one, names) } else { row(&one.entry, names, console) }
}

fn json(one: &Recorded, names: &KeyNames) -> String {
    let Recorded { id, entry } = one;
    let line = AuditLine {
        id: *id,
        at: rfc3339(entry.at_ms),
        principal: &entry.principal,
        principal_name: names.name_of(&entry.principal),
        profile: &entry.profile,
        server: entry.upstream.as_deref(),
        tool: entry.tool.as_deref(),
        method: &entry.method,
        outcome: entry.outcome.as_str(),
        code: entry.code,
        duration_us: entry.duration_us,
        request_bytes: entry.request_bytes,
        response_bytes: entry.response_bytes,
        tries: entry.tries,
        waited_us: entry.waited_us,
        cached: entry.cached,
        address: entry.address.as_deref(),
        client: entry.client.as_deref(),
        reason: entry.reason.as_ref().map(|reason| reason.kind.as_str()),
        reason_text: entry.reason.as_ref().map(|reason| &*reason.text).filter(|text| !text.is_empty()),
        arguments: entry
            .arguments
            .as_deref()
            .map(|text| serde_json::from_str(text).map_or(Arguments::Cut(text), Arguments::Whole)),
    };
    serde_json::to_string(&line).expect("texts and numbers can be written as JSON")
}

/// The shortest wait that is shown to people, in microseconds.
const SHOWN_WAIT: u64 = 10_000;

/// Formats a call for people. The columns are aligned as long as names are short; on a narrow terminal, a call
/// continues on further lines.
fn row(entry: &AuditEntry, names: &KeyNames, console: &Console) -> String {
    let paint = console.out;
    let code = entry.code.map(|code| format!("  ({code})")).unwrap_or_default();
    let arguments =
        entry.arguments.as_deref().map(|text| format!("  {}", one_line(text))).unwrap_or_default();
    let tries = if entry.tries > 1 { format!("  ({} tries)", entry.tries) } else { String::new() };
    let cached = if entry.cached { "  (cached)" } else { "" };
    let is_long = entry.waited_us >= SHOWN_WAIT;
    let waited = if is_long { format!("  (waited {})", brief(entry.waited_us)) } else { String::new() };
    let client = [&entry.address, &entry.client].into_iter().flatten();
    let client: Vec<String> = client.map(|text| one_line(text)).collect();
    let client = if client.is_empty() { String::new() } else { format!("  [{}]", client.join(", ")) };
    let reason =
        entry.reason.as_ref().map(|reason| format!("  {}", one_line(&reason.in_words()))).unwrap_or_default();
    let outcome = entry.outcome.to_string();
    let name = one_line(entry.tool.as_deref().unwrap_or(&entry.method));
    let text = format!(
        "{}  {outcome:7}  {:>7}  {:20}  {:12}  {name}{code}{tries}{waited}{cached}{client}{reason}{arguments}",
        rfc3339(entry.at_ms),
        brief(entry.duration_us),
        one_line(&names.shown(&entry.principal)),
        one_line(&entry.profile),
    );
    let text = match console.out_width.filter(|width| columns(&text) > *width) {
        Some(width) => wrap(&text.split_whitespace().collect::<Vec<_>>().join(" "), width, 0, 4),
        None => text,
    };
    let painted = match entry.outcome {
        CallOutcome::Ok => paint.dim(&outcome),
        CallOutcome::Error => paint.red(&outcome),
        CallOutcome::Denied | CallOutcome::Unknown => paint.yellow(&outcome),
    };
    text.replacen(&outcome, &painted, 1)
}
