//! `cargo xtask community`: runs real sites with `BuddyBoss` Platform, `BuddyPress` or `WooCommerce`, and tries each of Dragoman's tools for
//! them there, as an administrator and as a plain member. The plugins are in no registry, so their folders are named on the
//! command line.
//!
//! | file | concern |
//! |---|---|
//! | `plugin` | the plugin in a folder, and a site with it |
//! | `table` | the results, one line per tool |

mod plugin;
mod table;

use crate::root::{self, Programs};
use crate::run::Log;
use crate::sites::{Database, Folder};
use crate::stage::{Gateway, Serving, configured, scratch};
use crate::tools::wordpress_for_communities;
use plugin::{Community, Plugin};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use table::Table;

const DEADLINE: Duration = Duration::from_mins(30);
const USAGE: &str = "\
cargo xtask community [--wordpress FOLDER] [--only TOOL] [--profile CARGO-PROFILE] [--with PLUGIN] TREE ...

  TREE         a folder with a release of BuddyBoss Platform, BuddyPress or WooCommerce: bp-loader.php or woocommerce.php is
               at its top
  --with       another plugin's folder for the tree after it, such as BP-REST for BuddyPress up to 14, whose source is
               without its REST API; may be repeated
  --wordpress  a folder with another WordPress than Debian's: wp-load.php is at its top, and a wp-config.php for these sites
               is put beside it; BuddyPress 15 wants 6.4 or newer
  --only       only this tool, such as buddypress_get_group; may be repeated
  --profile    the cargo profile for building the programs (dev)

Each tree gets two new sites, one as it comes and one on which application passwords count from a request's start, with a
gateway in front of each. Every tool for it is called there as the administrator and as a plain member. The trees are copied
and not changed. Packages that are missing are installed (Debian; as root): PHP, MariaDB, WordPress. Once all is built it takes
half a minute with BuddyPress and some six minutes with BuddyBoss.

A table is printed and written as Markdown below target/community; all arguments, answers and requests of a run are in the log
that is named at its start.
";

/// The options of the command line.
#[derive(Debug)]
struct Wanted<'a> {
    profile: &'a str,
    wordpress: Option<&'a Path>,
    only: Vec<&'a str>,
    plugins: Vec<Plugin>,
}

impl<'a> Wanted<'a> {
    /// Reads the arguments; `None` if help was requested.
    fn read(args: &'a [String]) -> Result<Option<Self>, String> {
        let mut wanted = Self { profile: "dev", wordpress: None, only: Vec::new(), plugins: Vec::new() };
        let mut with = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value\n\n{USAGE}"));
            match arg.as_str() {
                "--help" => return Ok(None),
                "--profile" => wanted.profile = value()?,
                "--wordpress" => wanted.wordpress = Some(Path::new(value()?)),
                "--only" => wanted.only.push(value()?),
                "--with" => with.push(Path::new(value()?)),
                option if option.starts_with('-') => return Err(format!("no `{option}`\n\n{USAGE}")),
                tree => wanted.plugins.push(Plugin::read(Path::new(tree), std::mem::take(&mut with))?),
            }
        }
        if wanted.plugins.is_empty() || !with.is_empty() {
            return Err(format!("no tree to try\n\n{USAGE}"));
        }
        Ok(Some(wanted))
    }
}

/// Starts each site, tries each tool and prints the tables; true if every tool was tried.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let Some(wanted) = Wanted::read(args)? else {
        print!("{USAGE}");
        return Ok(true);
    };
    let log = Log::create("community", DEADLINE)?;
    println!("(log: {})", log.path().display());
    println!("building and installing what is missing ...");
    let gateway = ["build", "--bins", "--package", "dragoman", "--profile", wanted.profile];
    log.run(Command::new("cargo").args(gateway).current_dir(root::checkout()))?;
    let programs = Programs::of_profile(wanted.profile);
    let wordpress = wordpress_for_communities(wanted.wordpress, &log)?;
    let folder = Folder::new("community")?;
    let database = Database::start(&folder.0, &log)?;
    let kept = root::target().join("community");
    fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    for (number, plugin) in wanted.plugins.iter().enumerate() {
        let mut table = Table::default();
        for early in [false, true] {
            let name = format!("site{number}{}", if early { "early" } else { "" });
            let community = Community::start(&name, plugin, early, &wordpress, &folder.0, &database, &log)?;
            let how = if early { "application passwords count early" } else { "as it comes" };
            println!("{}, {how}: trying the tools ...", community.title);
            table.title(&community.title);
            let said = tried((&community, early), plugin, &wanted.only, &programs, &log);
            if said.is_err() {
                community.tell(&log);
            }
            table.add(early, &said?)?;
        }
        let text = table.markdown();
        println!("\n{text}");
        let file = kept.join(format!("{}-{number}.md", plugin.tools));
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        let large = table.too_large();
        if !large.is_empty() {
            return Err(format!("ten entries of these lists are too large: {}", large.join(", ")));
        }
    }
    Ok(true)
}

/// Tries all tools, or the selected ones, at one site through its own gateway; returns the output of the script.
fn tried(
    (community, early): (&Community, bool),
    plugin: &Plugin,
    only: &[&str],
    programs: &Programs,
    log: &Log,
) -> Result<String, String> {
    let mut server = json!({ "native": plugin.tools, "site": { "url": community.site.url, "basic": true } });
    if let Some(phases) = plugin.phases {
        server["phases"] = json!(phases);
    }
    if plugin.tools == "woocommerce" {
        server["personalData"] = json!(true);
    }
    let config =
        json!({ "mcpServers": { "community": server }, "profiles": { "default": { "names": "plain" } } });
    let args = configured(&format!("community-{}", plugin.tools), &config)?.into();
    let gateway = Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)?;
    let world = json!({
        "tools": plugin.tools, "only": only, "site": community.site.told, "gateway": gateway.url,
        "early": early, "answers": community.site.folder().join("answers.jsonl"),
    });
    let file = scratch(&format!("community-{}-world", plugin.tools))?.join("world.json");
    fs::write(&file, world.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    let script = root::checkout().join("tests/community/run.mjs");
    let (good, said) = log.status(Command::new("node").arg(script).arg(&file))?;
    if good {
        return Ok(said);
    }
    gateway.tell(log);
    let why = said.lines().find(|line| line.starts_with("Error: ")).unwrap_or_default();
    Err(format!("not every tool could be tried. {why} (log: {})", log.path().display()))
}

/// The last line of a text as JSON.
fn last_line(text: &str) -> Result<Value, String> {
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))
}
