//! The repository's own commands: `cargo xtask tidy | test | conformance | apps | pages | corpus | first-contact | peers | auth | reach | sites | community | bench | chaos | cluster | soak | size | routes | package | docs | clients`.
//!
//! This module must not know the product's code.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for the terminal speaks on it")]

use std::process::ExitCode;

mod apps;
mod auth;
mod bench;
mod book;
mod chaos;
mod cluster;
mod community;
mod conformance;
mod corpus;
mod deploy;
mod files;
mod first_contact;
mod package;
mod pages;
mod peers;
mod reach;
mod real_clients;
mod root;
mod routes;
mod run;
mod schema_families;
mod scripts;
mod sites;
mod size;
mod soak;
mod stage;
mod tally;
mod telemetry;
mod test;
mod tidy;
mod tools;

const USAGE: &str = "\
cargo xtask COMMAND

  test                 everything, as CI runs it; --quick for the pure part in seconds
  tidy                 the repository's rules: sizes, import directions, circles, words, paths
  tidy circles         every import circle: files, lines, and the imports that close it
  conformance          the official MCP suite through Dragoman (--help for more)
  bench                the cost of a call, compared with nginx (--help for more)
  chaos                upstreams that fail in every known way, under clients of all versions (--help for more)
  cluster              several Dragomans with a shared store, which are killed, stopped and deceived (--help for more)
  size                 the size of the released binary by crate, compared with docs/performance.md
  soak                 an hour of sessions that open and close, with the gateway's memory (--help for more)
  docs                 the documentation as a site, by mdBook
  package              the packages of a release; --check installs each in an empty environment (--help for more)
  peers                third-party SDKs, clients and servers through Dragoman
  clients              real clients, connected by `dragoman connect`
  apps                 the official examples of MCP Apps, with their pages in a real browser
  pages                every admin page with lifelike and hostile data, in a real browser
  corpus               the tools of real third-party servers, and the search over them
  first-contact        real npx and uvx servers from empty caches, and the first client of each era
  auth                 a real identity provider, and clients with its tokens
  reach                a real proxy, a server with client certificates and an identity provider between Dragoman and servers
  sites                real WordPress sites, and what the tools do there (--help for more)
  community TREE ...   a site with BuddyBoss, BuddyPress or WooCommerce from a plugin's tree, with a call of each of its tools
  routes INDEX.json    a WordPress site's index (/wp-json/?context=help) as the table against which rows of tools are checked
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = args.split_first() else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let passed = match command.as_str() {
        "apps" => apps::APPS.run(rest),
        "auth" => auth::AUTH.run(rest),
        "bench" => bench::run(rest),
        "chaos" => chaos::run(rest),
        "clients" => real_clients::CLIENTS.run(rest),
        "cluster" => cluster::run(rest),
        "community" => community::run(rest),
        "conformance" => conformance::run(rest),
        "corpus" => corpus::CORPUS.run(rest),
        "docs" => book::run(rest),
        "first-contact" => first_contact::run(rest),
        "package" => package::run(rest),
        "pages" => pages::PAGES.run(rest),
        "peers" => peers::run(rest),
        "reach" => reach::REACH.run(rest),
        "sites" => sites::run(rest),
        "routes" => routes::run(rest),
        "size" => size::run(rest),
        "soak" => soak::run(rest),
        "test" => test::run(rest),
        "tidy" => tidy::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(true)
        }
        other => Err(format!("no command `{other}`\n\n{USAGE}")),
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::from(2)
        }
    }
}
