//! `dragoman list`: shows a server's lists.

use std::fmt::Write as _;

use clap::ValueEnum as _;
use engine::access::Annotations;
use engine::catalogue::{Item, ListKind, NOTHING_KEPT, Refusals, TokenCost, UpstreamCatalogue};
use engine::tokens::tokens_of_tool;
use proto::era::ServerHello;
use serde_json::{Value, json};

use super::settings::Settings;
use super::target::TargetOptions;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::terminal::catalogue::gather;

/// The maximum length of a description on a terminal, in characters.
const MOST: usize = 88;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.

Examples:
  dragoman list demo
  dragoman list https://example.com/mcp tools
  dragoman list tools -- npx -y @modelcontextprotocol/server-everything
  dragoman list demo --json";

/// Show what a server offers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman list TARGET [KIND]...\n       dragoman list [KIND]... -- COMMAND...")]
pub(super) struct Args {
    /// The server, then the lists to show: tools, prompts, resources, templates [default: all]
    #[arg(value_name = "TARGET and KIND")]
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

/// Shows the lists.
pub(super) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let target_first = args.place_is_named();
    let typed = args.words.iter().skip(usize::from(target_first));
    let mut kinds = typed.map(|word| kind(word)).collect::<Result<Vec<ListedKind>, Failure>>()?;
    if kinds.is_empty() {
        kinds = ListedKind::value_variants().to_vec();
    }
    let cached = args.cached_tools(global);
    args.place.visit(args.words, false, global, console, async |connection, desk, _| {
        let lists: Vec<ListKind> = kinds.iter().map(|kind| kind.list()).collect();
        let catalogue = gather(connection, &lists, desk).await?;
        for note in cached.iter().filter_map(|cached| cached.note(&catalogue)) {
            console.note(&note);
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

impl Args {
    /// Returns the tools of the target whose results a profile wants to cache, if the target is a configured server.
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

    /// Returns true if the first word is the target, because no command follows `--`.
    fn place_is_named(&self) -> bool {
        !self.place.has_command()
    }
}

/// A tool whose results a profile wants to cache.
struct CachedTool {
    profile: String,
    /// The server's own name for the tool.
    name: String,
}

impl CachedTool {
    /// The note about the tool if its results cannot be cached.
    fn note(&self, catalogue: &UpstreamCatalogue) -> Option<String> {
        let tool = catalogue.list(ListKind::Tools).iter().find(|item| item.key == self.name)?;
        let is_kept = Annotations::of_tool(&tool.text).are_repeatable();
        let (name, profile) = (one_line(&self.name), &self.profile);
        (!is_kept).then(|| format!("tool {name:?} in profile {profile:?}: {NOTHING_KEPT}\n"))
    }
}

fn kind(word: &str) -> Result<ListedKind, Failure> {
    ListedKind::from_str(word, true).map_err(|_| {
        let message = format!("{word:?} cannot be listed");
        Failure::usage(message).help("list tools, prompts, resources or templates")
    })
}

/// Returns the lists as JSON, with the server's own text of each entry.
fn raw(catalogue: &UpstreamCatalogue, kinds: &[ListedKind]) -> String {
    let list = |kind: &ListedKind| {
        let items: Vec<_> =
            catalogue.list(kind.list()).iter().map(|item| String::from_utf8_lossy(&item.text)).collect();
        format!("\"{}\":[{}]", kind.list().member(), items.join(","))
    };
    let mut members: Vec<String> = kinds.iter().map(list).collect();
    if kinds.contains(&ListedKind::Tools) {
        members.push(format!("\"tokens\":{}", tokens(catalogue.list(ListKind::Tools))));
        members.push(format!("\"refusals\":{}", Refusals::listed(&catalogue.refusals())));
    }
    format!("{{{}}}", members.join(","))
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
    format!("{} {}\n", console.out.bold(name.trim()), console.out.dim(&how))
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
        let names: Vec<String> = items.iter().map(|item| one_line(&item.key)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(48);
        for (item, name) in items.iter().zip(&names) {
            let space = " ".repeat(width.saturating_sub(name.chars().count()));
            let cost = if is_tools {
                format!("{:>5}  ", tokens_of_tool(&item.key, &item.text))
            } else {
                String::new()
            };
            let (name, cost) = (console.out.cyan(name), console.out.dim(&cost));
            let line = format!("  {name}{space}  {cost}{}", described(item, console));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if text.is_empty() { "\nIt offers nothing.\n".to_owned() } else { text }
}

/// Returns the families of clients that refuse tools, one line for each; an empty text if there are none.
fn refusals(catalogue: &UpstreamCatalogue, console: &Console) -> String {
    let all = catalogue.refusals();
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", console.out.bold("Clients that refuse tools"));
    for one in all.iter() {
        let _ = writeln!(text, "  {}", one_line(&one.to_string()));
    }
    let help =
        "A profile can show these tools in a form that the clients accept: `tools: { schemas: portable }`.";
    let _ = writeln!(text, "  {}", console.out.dim(help));
    text
}

/// Returns the first line of an entry's description, or the entry's title if it has no description.
fn described(item: &Item, console: &Console) -> String {
    let text = ["description", "title", "name"].iter().find_map(|key| {
        let value: Value = serde_json::from_slice(&item.member(key)?).ok()?;
        value.as_str().map(str::trim).filter(|text| !text.is_empty() && *text != item.key).map(str::to_owned)
    });
    let line = one_line(text.as_deref().unwrap_or_default().lines().next().unwrap_or_default());
    if !console.out_is_terminal || line.chars().count() <= MOST {
        return line;
    }
    line.chars().take(MOST - 1).chain(['…']).collect()
}
