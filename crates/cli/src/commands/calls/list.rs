//! `dragoman list`: shows a server's lists, or one entry of them in detail.

use std::fmt::Write as _;

use clap::ValueEnum as _;
use config::nearest::nearest;
use engine::access::Annotations;
use engine::catalogue::{Item, ListKind, NOTHING_KEPT, Refusals, TokenCost, UpstreamCatalogue};
use engine::tokens::tokens_of_tool;
use proto::era::ServerHello;
use serde_json::{Value, json};

use super::target::{Questions, TargetOptions};
use crate::commands::configuration::settings::Settings;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::{columns, cut, cut_words, wrap};
use crate::output::options::Global;
use crate::terminal::catalogue::gather;
use crate::terminal::detail::{self, quoted};

/// The maximum length of a name in a table, in columns.
const LONGEST_NAME: usize = 60;

/// The maximum length of a description in a table that is not on a terminal, in bytes.
const LONGEST: usize = 4096;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.

Examples:
  dragoman list demo
  dragoman list demo add                          show one tool with its arguments
  dragoman list demo tools -v                     show all tools with their arguments
  dragoman list https://example.com/mcp tools
  dragoman list tools -- npx -y @modelcontextprotocol/server-everything
  dragoman list demo --json";

/// Show what a server offers; name a tool to see its arguments
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman list TARGET [KIND|NAME]...\n       dragoman list [KIND|NAME]... -- COMMAND...")]
pub(crate) struct Args {
    /// The server, then the lists to show (tools, prompts, resources, templates), or names of entries [default: all lists]
    #[arg(value_name = "TARGET, KIND and NAME")]
    words: Vec<String>,
    #[command(flatten)]
    place: TargetOptions,
}

/// The lists of a server, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ListedKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl ListedKind {
    fn list(self) -> ListKind {
        match self {
            Self::Tools => ListKind::Tools,
            Self::Resources => ListKind::Resources,
            Self::Templates => ListKind::Templates,
            Self::Prompts => ListKind::Prompts,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Tools => "Tools",
            Self::Resources => "Resources",
            Self::Templates => "Resource templates",
            Self::Prompts => "Prompts",
        }
    }
}

/// Shows the lists, or the named entries.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let target_first = args.place_is_named();
    let typed = args.words.iter().skip(usize::from(target_first));
    let (mut kinds, mut names) = (Vec::new(), Vec::new());
    for word in typed {
        match ListedKind::from_str(word, true) {
            Ok(kind) => kinds.push(kind),
            Err(_) => names.push(word.clone()),
        }
    }
    if kinds.is_empty() {
        kinds = ListedKind::value_variants().to_vec();
    }
    let cached = args.cached_tools(global);
    let target = args.target_words();
    args.place.visit(args.words, Questions::None, global, console, async |connection, handler, _| {
        let lists: Vec<ListKind> = kinds.iter().map(|kind| kind.list()).collect();
        let catalogue = gather(connection, &lists, handler).await?;
        for note in cached.iter().filter_map(|cached| cached.note(&catalogue)) {
            console.note(&note);
        }
        if !names.is_empty() {
            let target = (target.0.as_str(), target.1.as_str());
            return console.print(&entries(&catalogue, &kinds, &names, target, console)?);
        }
        let text = if console.json {
            raw(&catalogue, &kinds)
        } else {
            let head = introduced(&connection.hello, connection.transport(), console);
            let refusals = if kinds.contains(&ListedKind::Tools) {
                refusals(&catalogue, console)
            } else {
                String::new()
            };
            format!("{head}{}{refusals}", table(&catalogue, &kinds, console))
        };
        console.print(&text)
    })
}

/// Returns the named entries in detail, or as JSON.
fn entries(
    catalogue: &UpstreamCatalogue,
    kinds: &[ListedKind],
    names: &[String],
    target: (&str, &str),
    console: &Console,
) -> Result<String, Failure> {
    let lists = || kinds.iter().map(|kind| (kind, catalogue.list(kind.list())));
    let mut found: Vec<(ListedKind, &Item)> = Vec::new();
    for name in names {
        let before = found.len();
        for (kind, list) in lists() {
            found.extend(list.iter().filter(|item| item.key == *name).map(|item| (*kind, item)));
        }
        if found.len() == before {
            return Err(unlisted(name, lists().flat_map(|(_, list)| list.iter().map(|item| &*item.key))));
        }
    }
    if console.json {
        return Ok(raw_of(kinds, |kind| found.iter().filter(|one| one.0 == kind).map(|one| one.1).collect()));
    }
    let detail = |(kind, item): &(ListedKind, &Item)| detail::of_item(kind.list(), item, target, console);
    let all: Vec<String> = found.iter().map(detail).collect();
    Ok(all.join("\n"))
}

/// Returns the failure for a name that is not in any list.
fn unlisted<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Failure {
    let kinds = ["tools", "resources", "templates", "prompts"];
    let near = nearest(name, known.chain(kinds));
    let help = near.map_or_else(
        || {
            "list tools, prompts, resources or templates, or name an entry as `dragoman list TARGET` shows it"
                .to_owned()
        },
        |near| format!("did you mean {:?}?", one_line(near)),
    );
    Failure::usage(format!("the server lists nothing named {name:?}")).help(help)
}

impl Args {
    /// Returns the target's tools for which some profile configures a cache; none if the target is not a configured
    /// server.
    fn cached_tools(&self, global: &Global) -> Vec<CachedTool> {
        let server = self.words.first().filter(|word| self.place_is_named() && !word.contains("://"));
        // Errors in the configuration are reported when the target is looked up.
        let Some((server, settings)) = server.zip(Settings::load(global.config.as_deref()).ok()) else {
            return Vec::new();
        };
        let profiles =
            settings.config.profiles.iter().filter(|(_, profile)| profile.servers.contains(server));
        let all = profiles.flat_map(|(slug, profile)| {
            let kept = profile.tools.overrides.iter().filter(|(_, own)| own.cache.is_some());
            kept.filter_map(move |(identity, _)| {
                let name = identity.strip_prefix(server.as_str())?.strip_prefix("__")?;
                Some(CachedTool { profile: slug.clone(), name: name.to_owned() })
            })
        });
        all.collect()
    }

    /// Returns the words that name the target in an example: those before the tool's name, and those at the end.
    fn target_words(&self) -> (String, String) {
        let command: Vec<String> = self.place.command().iter().map(|word| quoted(word)).collect();
        let first = self.words.first().filter(|_| self.place_is_named());
        let end = if command.is_empty() { String::new() } else { format!(" -- {}", command.join(" ")) };
        (first.map(|word| quoted(word)).unwrap_or_default(), end)
    }

    /// Returns true if the first word is the target, because no command follows `--`.
    fn place_is_named(&self) -> bool {
        !self.place.has_command()
    }
}

/// A tool for which a profile configures a cache.
struct CachedTool {
    profile: String,
    /// The server's own name for the tool.
    name: String,
}

impl CachedTool {
    /// Returns a note if the tool's results cannot be cached.
    fn note(&self, catalogue: &UpstreamCatalogue) -> Option<String> {
        let tool = catalogue.list(ListKind::Tools).iter().find(|item| item.key == self.name)?;
        let is_kept = Annotations::of_tool(&tool.text).are_repeatable();
        let (name, profile) = (one_line(&self.name), &self.profile);
        (!is_kept).then(|| format!("tool {name:?} in profile {profile:?}: {NOTHING_KEPT}\n"))
    }
}

/// Returns the lists as JSON, with the server's own text of each entry.
fn raw(catalogue: &UpstreamCatalogue, kinds: &[ListedKind]) -> String {
    let mut text = raw_of(kinds, |kind| catalogue.list(kind.list()).iter().collect());
    if kinds.contains(&ListedKind::Tools) {
        text.pop();
        let tokens = tokens(catalogue.list(ListKind::Tools));
        let _ =
            write!(text, ",\"tokens\":{tokens},\"refusals\":{}}}", Refusals::listed(&catalogue.refusals()));
    }
    text
}

fn raw_of<'c>(kinds: &[ListedKind], items: impl Fn(ListedKind) -> Vec<&'c Item>) -> String {
    let list = |kind: &ListedKind| {
        let items: Vec<_> = items(*kind).iter().map(|item| String::from_utf8_lossy(&item.text)).collect();
        format!("\"{}\":[{}]", kind.list().member(), items.join(","))
    };
    format!("{{{}}}", kinds.iter().map(list).collect::<Vec<_>>().join(","))
}

/// The estimated number of tokens of the tools: in total, and for each tool by name.
fn tokens(tools: &[Item]) -> Value {
    let each = tools.iter().map(|tool| (tool.key.clone(), tokens_of_tool(&tool.key, &tool.text).into()));
    json!({ "total": TokenCost::of(tools).tokens, "tools": each.collect::<serde_json::Map<_, _>>() })
}

/// Returns the line about the server: its name, its version, the protocol version and the transport.
fn introduced(hello: &ServerHello, transport: &str, console: &Console) -> String {
    let info: Value = serde_json::from_slice(&hello.info).unwrap_or_default();
    let field = |key: &str| one_line(info[key].as_str().unwrap_or_default());
    let name = [field("name"), field("version")].join(" ");
    let name = if name.trim().is_empty() { "A server without a name".to_owned() } else { name };
    let how = format!("(protocol {}, {transport})", hello.era);
    let name = cut(name.trim(), LONGEST_NAME);
    let fits = console.out_width.is_none_or(|width| columns(&name) + 1 + columns(&how) <= width);
    let gap = if fits { " " } else { "\n  " };
    format!("{}{gap}{}\n", console.out.bold(&name), console.out.dim(&how))
}

fn table(catalogue: &UpstreamCatalogue, kinds: &[ListedKind], console: &Console) -> String {
    let mut text = String::new();
    for kind in kinds {
        let items = catalogue.list(kind.list());
        if items.is_empty() && kinds.len() > 1 {
            continue;
        }
        let is_tools = *kind == ListedKind::Tools;
        let total = TokenCost::of(items.iter().filter(|_| is_tools)).tokens;
        let sum = if is_tools { format!(", about {total} tokens") } else { String::new() };
        let _ = writeln!(text, "\n{}", console.out.bold(&format!("{} ({}{sum})", kind.title(), items.len())));
        for line in rows(items, is_tools, console) {
            let _ = writeln!(text, "{line}");
        }
    }
    if text.is_empty() { "\nIt offers nothing.\n".to_owned() } else { text }
}

/// Returns the entries of one list, one line for each; with `-v`, the arguments of a tool or a prompt follow its
/// line.
fn rows(items: &[Item], is_tools: bool, console: &Console) -> Vec<String> {
    let names: Vec<String> = items.iter().map(|item| shown_name(&item.key)).collect();
    let most = console.out_width.map_or(48, |width| (width / 3).min(48));
    let wide = names.iter().map(|name| columns(name)).filter(|wide| *wide <= most).max().unwrap_or(0);
    let row = |(item, name): (&Item, &String)| {
        let space = " ".repeat(wide.saturating_sub(columns(name)));
        let cost =
            if is_tools { format!("{:>5}  ", tokens_of_tool(&item.key, &item.text)) } else { String::new() };
        let used = 2 + columns(name) + space.len() + 2 + cost.len();
        let about = described(item);
        let about =
            console.out_width.map_or(about.clone(), |width| cut_words(&about, width.saturating_sub(used)));
        let line = format!("  {}{space}  {}{about}", console.out.cyan(name), console.out.dim(&cost));
        let mut all = vec![line.trim_end().to_owned()];
        if console.verbose > 0 {
            all.extend(detail::parameters(item).lines(6, console.out_width, false));
        }
        all
    };
    items.iter().zip(&names).flat_map(row).collect()
}

fn shown_name(key: &str) -> String {
    cut(&one_line(&key[..key.floor_char_boundary(LONGEST)]), LONGEST_NAME)
}

/// Returns the families of clients that refuse tools, one line for each; an empty text if there are none.
fn refusals(catalogue: &UpstreamCatalogue, console: &Console) -> String {
    let all = catalogue.refusals();
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", console.out.bold("Clients that refuse tools"));
    if catalogue.list(ListKind::Tools).len() > Refusals::MOST_TOOLS {
        let limit = format!("  Only the first {} tools were examined.", Refusals::MOST_TOOLS);
        let _ = writeln!(text, "{}", console.out.dim(&wrapped(&limit, console)));
    }
    for one in all.iter() {
        let line = format!("  {}", one_line(&one.to_string()));
        let _ = writeln!(text, "{}", wrapped(&line, console));
    }
    let remedy = Refusals::remedy(&all);
    let help = format!("A profile can show these tools in a form that the clients accept: {remedy}.");
    let _ = writeln!(text, "{}", console.out.dim(&wrapped(&format!("  {help}"), console)));
    text
}

fn wrapped(line: &str, console: &Console) -> String {
    console.out_width.map_or(line.to_owned(), |width| wrap(line, width, 0, 0))
}

/// Returns the first line of an entry's description, or the entry's title if it has no description.
fn described(item: &Item) -> String {
    let text = ["description", "title", "name"].iter().find_map(|key| {
        let value: Value = serde_json::from_slice(&item.member(key)?).ok()?;
        value.as_str().map(str::trim).filter(|text| !text.is_empty() && *text != item.key).map(str::to_owned)
    });
    let text = text.unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let kept = &line[..line.floor_char_boundary(LONGEST)];
    let more = if kept.len() < line.len() { "…" } else { "" };
    format!("{}{more}", one_line(kept))
}
