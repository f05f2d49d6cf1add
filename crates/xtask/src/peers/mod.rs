//! `cargo xtask peers`: third-party SDKs, clients and servers through Dragoman.
//!
//! A world is a gateway with upstreams behind it. Each client script in `tests/peers` runs its cases in the worlds that
//! suit it and prints `ok CASE` or `not ok CASE: why`.
//!
//! | file | concern |
//! |---|---|
//! | `worlds` | groups of upstreams, and the clients that visit them |
//! | `presets` | the worlds of presets, and the clients that visit those |
//! | `served` | a running preset: its backend, its endpoints, the credentials of its clients |
//! | `visit` | one client's run |

mod presets;
mod served;
mod visit;
mod worlds;

use crate::conformance::build;
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Gateway, scratch};
use crate::tally::Tally;
use crate::tools::Tools;
use served::Served;
use std::fs;
use std::time::Duration;
use visit::{Place, Visit};
use worlds::Upstreams;

pub(crate) use visit::cases;
pub(crate) use worlds::World;

const DEADLINE: Duration = Duration::from_mins(20);
const USAGE: &str = "\
cargo xtask peers [--world NAME] [--profile CARGO-PROFILE] [CLIENT ...]

  --world    only this set of upstreams: children, over-http, fixture, legacy-http, legacy-stdio, modern-http, modern-stdio,
             sse, mixed; or this preset: bb, buddyboss, wordpress, gateway, kulturarv
  --profile  the cargo profile for building the programs (dev)
  CLIENT     only these: ts-sdk-v1, ts-sdk-v2, inspector, mcp-remote, py-sdk-v0, py-sdk-v1, py-sdk-v2, py-fastmcp,
             mcpcheck, mcp-ssrf-check
";

/// Runs the requested worlds and prints each case; true if nothing failed.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut profile, mut only, mut worlds) = ("dev", Vec::new(), World::ALL.to_vec());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--profile" => profile = args.next().ok_or(USAGE)?,
            "--world" => {
                let name = args.next().ok_or(USAGE)?;
                worlds = vec![World::named(name).ok_or(format!("no world `{name}`\n\n{USAGE}"))?];
            }
            option if option.starts_with('-') => return Err(format!("no option `{option}`\n\n{USAGE}")),
            client => only.push(client),
        }
    }
    let log = Log::create("peers", DEADLINE)?;
    let programs = build(profile, &log)?;
    let tools = Tools::install(&log)?;
    let mut tally = Tally::default();
    for world in worlds {
        tally += visited(world, &tools, &programs, &only, &log)?;
    }
    let judged = |line: &&str| ["== ", "ok ", "not ok "].iter().any(|word| line.starts_with(word));
    log.text().lines().filter(judged).for_each(|line| println!("{line}"));
    println!("{} passed, {} failed (log: {})", tally.passed, tally.failed, log.path().display());
    Ok(tally.good())
}

/// Runs all visits to one world, or those of some clients.
pub(crate) fn visited(
    world: World,
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    let mut visits: Vec<&Visit> = world.visits.iter().copied().flatten().collect();
    visits.retain(|visit| only.is_empty() || only.contains(&visit.client));
    let mut tally = Tally::default();
    if visits.is_empty() {
        return Ok(tally);
    }
    let files = scratch(&format!("peers-{}-files", world.name))?;
    fs::write(files.join("hello.txt"), "Hello from a file.\n")
        .map_err(|error| format!("{}: {error}", files.display()))?;
    let upstreams = Upstreams::start(world, tools, programs, &files, log)?;
    let name = format!("peers-{}", world.name);
    let served = match &world.preset {
        Some(preset) => Served::start(preset, &name, &upstreams.servers, programs, log)?,
        None => Served::plain(Gateway::start(programs, &name, &upstreams.servers, world.naming, log)?),
    };
    let (name, asked, preset) = (world.name, world.asked, world.preset.as_ref());
    let place = Place { world: name, asked, preset, served: &served, tools, programs, files: &files };
    for visit in visits {
        log.note(&format!("== {}: {}", world.name, visit.title()));
        let mut ended = log.status(&mut visit.command(&place)?)?;
        if visit.has_crashed(&ended) {
            // A client that dies without a verdict says nothing about the gateway; one that dies twice does.
            println!("{}: {} died without a verdict and was started again", world.name, visit.title());
            log.note(&format!("died: {}", visit.title()));
            ended = log.status(&mut visit.command(&place)?)?;
        }
        let (good, said) = ended;
        tally += visit.cases(&said, good, log);
    }
    if tally.failed > 0 {
        served.tell(log);
        upstreams.tell(log);
    }
    Ok(tally)
}
