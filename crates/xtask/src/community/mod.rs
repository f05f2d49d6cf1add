//! `cargo xtask community`: real sites with `BuddyBoss` Platform or `BuddyPress`, and each of Dragoman's tools for them there, as
//! an administrator and as a plain member. The plugins are in no registry, so their trees are named on the command line.
//!
//! | file | concern |
//! |---|---|
//! | `plugin` | what a tree is, and a site with it |
//! | `table` | what came out, one line a tool |

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
cargo xtask community [--profile CARGO-PROFILE] [--wordpress FOLDER] [--with PLUGIN] TREE [TREE ...]

  TREE       a folder with BuddyBoss Platform or BuddyPress as it is released (bp-loader.php is at its top)
  --with     another plugin's folder for the tree after it, such as BP-REST for BuddyPress 14 and older
  --wordpress  another WordPress than Debian's (wp-load.php is at its top); BuddyPress 14 wants 6.4 or newer
  --profile  which cargo profile the programs are built with (dev)

Each tree is tried as it is, and with application passwords that count from a request's start. Tables are printed, and
written as Markdown below target/community.
";

/// Brings up each site, tries each tool and prints the tables; true when every tool was tried.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut profile, mut own, mut plugins, mut with) = ("dev", None, Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--profile" => profile = args.next().ok_or(USAGE)?,
            "--wordpress" => own = Some(Path::new(args.next().ok_or(USAGE)?)),
            "--with" => with.push(Path::new(args.next().ok_or(USAGE)?)),
            tree => plugins.push(Plugin::read(Path::new(tree), std::mem::take(&mut with))?),
        }
    }
    let Some(first) = plugins.first().filter(|_| with.is_empty()) else {
        return Err(format!("no tree to try\n\n{USAGE}"));
    };
    let log = Log::create(&format!("community-{}", first.tools), DEADLINE)?;
    let gateway = ["build", "--bins", "--package", "dragoman", "--profile", profile];
    log.run(Command::new("cargo").args(gateway).current_dir(root::checkout()))?;
    let programs = Programs::of_profile(profile);
    let wordpress = wordpress_for_communities(own, &log)?;
    let folder = Folder::new("community")?;
    let database = Database::start(&folder.0, &log)?;
    let kept = root::target().join("community");
    fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    for (number, plugin) in plugins.iter().enumerate() {
        let mut table = Table::default();
        for early in [false, true] {
            let name = format!("site{number}{}", if early { "early" } else { "" });
            let community = Community::start(&name, plugin, early, &wordpress, &folder.0, &database, &log)?;
            table.title(&community.title);
            let said = tried(&community, plugin, &programs, &log);
            if said.is_err() {
                community.site.tell(&log);
            }
            table.add(early, &said?)?;
        }
        let text = table.markdown();
        println!("{text}");
        let file = kept.join(format!("{}-{number}.md", plugin.tools));
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    println!("(log: {})", log.path().display());
    Ok(true)
}

/// All tools at one site, through a gateway of their own; what the script says of them.
fn tried(community: &Community, plugin: &Plugin, programs: &Programs, log: &Log) -> Result<String, String> {
    let mut server = json!({ "native": plugin.tools, "site": { "url": community.site.url, "basic": true } });
    if let Some(phases) = plugin.phases {
        server["phases"] = json!(phases);
    }
    let config =
        json!({ "mcpServers": { "community": server }, "profiles": { "default": { "names": "plain" } } });
    let args = configured(&format!("community-{}", plugin.tools), &config)?.into();
    let gateway = Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)?;
    let world = json!({
        "tools": plugin.tools, "site": community.site.told, "gateway": gateway.url,
        "answers": community.site.folder().join("answers.jsonl"),
    });
    let file = scratch(&format!("community-{}-world", plugin.tools))?.join("world.json");
    fs::write(&file, world.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    let script = root::checkout().join("tests/community/run.mjs");
    let (good, said) = log.status(Command::new("node").arg(script).arg(&file))?;
    if good {
        return Ok(said);
    }
    gateway.tell(log);
    Err(format!("not every tool could be tried (log: {})", log.path().display()))
}

/// The last line of a text as JSON.
fn last_line(text: &str) -> Result<Value, String> {
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))
}
