//! `cargo xtask conformance`: the official MCP suite, pinned in `tests/peers/npm`, through Dragoman.
//!
//! In server mode, the suite is the client and a fixture is the upstream. In client mode, the suite is the
//! upstream.

mod checks;
mod client;
mod expected;
mod server;
mod suite;
mod upstream;

use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::Node;
use std::process::Command;
use std::time::Duration;

pub(crate) use client::through_client;
pub(crate) use server::through_server;
pub(crate) use upstream::Upstream;

const DEADLINE: Duration = Duration::from_mins(30);

/// The usage of `cargo xtask conformance`.
const USAGE: &str = "\
cargo xtask conformance [--upstream NAME] [--spec VERSION] [--scenario NAME] [--profile CARGO-PROFILE]
cargo xtask conformance --client [--scenario NAME] [--profile CARGO-PROFILE]

  --upstream  only this fixture behind Dragoman: `http` and `stdio` speak every version; `legacy-http`,
              `legacy-stdio`, `modern-http`, `modern-stdio` and `sse` (HTTP+SSE) one era, for clients of both;
              `direct` runs the suite against the fixture itself
  --spec      only the sweep of this protocol version; `extensions` for the scenarios of extensions
  --scenario  only this scenario
  --client    the suite's client scenarios: it plays the upstream and judges what Dragoman sends
  --profile   the cargo profile for building the programs (dev)
";

/// The requested runs.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    client: bool,
    upstream: Option<Upstream>,
    pub(crate) spec: Option<String>,
    pub(crate) scenario: Option<String>,
    profile: Option<String>,
}

impl Wanted {
    /// Returns true if this scenario was requested.
    fn scenario(&self, name: &str) -> bool {
        self.scenario.as_deref().is_none_or(|only| only == name)
    }

    fn parse(args: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().cloned().ok_or(format!("{arg} needs a value\n\n{USAGE}"));
            match arg.as_str() {
                "--client" => wanted.client = true,
                "--upstream" => wanted.upstream = Some(value()?.parse()?),
                "--spec" => wanted.spec = Some(value()?),
                "--scenario" => wanted.scenario = Some(value()?),
                "--profile" => wanted.profile = Some(value()?),
                _ => return Err(format!("no option `{arg}`\n\n{USAGE}")),
            }
        }
        Ok(wanted)
    }
}

/// Runs the requested scenarios and prints each run; true if nothing failed unexpectedly.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    if args.iter().any(|arg| arg == "--help") {
        print!("{USAGE}");
        return Ok(true);
    }
    let wanted = Wanted::parse(args)?;
    let log = Log::create("conformance", DEADLINE)?;
    let programs = build(wanted.profile.as_deref().unwrap_or("dev"), &log)?;
    let node = Node::install(&log)?;
    let mut tally = Tally::default();
    if wanted.client {
        tally += through_client(&node, &programs, &wanted, &log)?;
    } else {
        for upstream in wanted.upstream.map_or(Upstream::ALL.to_vec(), |only| vec![only]) {
            tally += through_server(&node, &programs, upstream, &wanted, &log)?;
        }
    }
    print!("{}", scenario_lines(&log.text()));
    println!("{} passed, {} failed (log: {})", tally.passed, tally.failed, log.path().display());
    Ok(tally.good())
}

/// Builds the gateway and the fixture.
pub(crate) fn build(profile: &str, log: &Log) -> Result<Programs, String> {
    let packages =
        ["build", "--bins", "--package", "dragoman", "--package", "dragoman-testkit", "--profile", profile];
    log.run(Command::new("cargo").args(packages).current_dir(crate::root::checkout()))?;
    Ok(Programs::of_profile(profile))
}

/// The lines of a log with verdicts or totals.
pub(crate) fn scenario_lines(log: &str) -> String {
    let judged =
        |line: &&str| ["ok    ", "FAIL  ", "known ", "==    "].iter().any(|word| line.starts_with(word));
    log.lines().filter(judged).flat_map(|line| [line, "\n"]).collect()
}
