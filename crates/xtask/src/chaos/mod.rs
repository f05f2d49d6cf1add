//! `cargo xtask chaos`: upstreams that fail in every known way, while clients of all versions call through
//! Dragoman.
//!
//! Each scenario is one fault with its own gateway, upstreams and clients. Some conditions hold in all of them:
//! each call carries a nonce; no answer, question, log message or progress note reaches another caller; nothing is
//! answered twice; the gateway ends on request and leaves no process behind.
//!
//! | file | concern |
//! |---|---|
//! | `scenario` | a scenario, its run and its outcome |
//! | `scenarios` | the scenarios, a small file each |
//! | `known` | the scenarios that currently fail: a list that can only shrink |
//! | `stage` | a gateway, upstreams and clients, with their own folder and mark |
//! | `client` | a client of any version that checks all messages that it receives |
//! | `dice` | pseudo-random numbers |
//! | `process` | one program under test |
//! | `process_count` | the number of processes while something happens |
//! | `measure` | the times of many requests |
//! | `ledger` | the calls that an upstream has executed |
//! | `open_files` | the open files of a process, by kind |
//! | `table` | the outcome, by fault |

pub(crate) mod client;
pub(crate) mod dice;
mod known;
mod ledger;
mod measure;
mod open_files;
pub(crate) mod process;
mod process_count;
mod scenario;
mod scenarios;
pub(crate) mod stage;
mod table;

use crate::conformance::build;
use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::Node;
use scenario::{Outcome, Scenario};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of scenarios that run at the same time. Several can share the processors, because most scenarios
/// mostly wait.
const AT_ONCE: usize = 4;
/// The number of clients of a scenario, in the short and in the long form.
const CLIENTS: [usize; 2] = [14, 50];

const USAGE: &str = "\
cargo xtask chaos [--minutes N] [--profile CARGO-PROFILE] [--no-build] [--list] [SCENARIO ...]

  Upstreams that crash, hang, flap, lose their sessions, change their lists, cut streams, slow down and flood, while clients
  of all versions call through Dragoman. Prints a table of faults. Scenarios that fail today are listed as `known`; one
  that is listed and passes fails the run.

  --minutes   run the long form: 50 clients and a mix of all faults for N minutes
  --profile   the cargo profile for building the programs (dev)
  --no-build  run the programs of the last build
  --list      name the scenarios
  SCENARIO    only these
";

/// The options of a run.
struct Wanted<'a> {
    profile: &'a str,
    build: bool,
    minutes: Option<u64>,
    only: Vec<&'a str>,
}

/// Runs the requested scenarios and prints the table; true if nothing failed except for known failures.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let mut wanted = Wanted { profile: "dev", build: true, minutes: None, only: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--list" => {
                for scenario in scenarios::all() {
                    println!("{:<22} {}", scenario.name, scenario.title);
                }
                return Ok(true);
            }
            "--profile" => wanted.profile = args.next().ok_or(USAGE)?,
            "--no-build" => wanted.build = false,
            "--minutes" => {
                let minutes = args.next().and_then(|text| text.parse().ok()).ok_or(USAGE)?;
                wanted.minutes = Some(minutes);
            }
            option if option.starts_with('-') => return Err(format!("no option `{option}`\n\n{USAGE}")),
            name if scenarios::all().iter().any(|scenario| scenario.name == name) => wanted.only.push(name),
            name => return Err(format!("no scenario `{name}`; --list names them")),
        }
    }
    let log = Log::create("chaos", Duration::from_mins(20 + wanted.minutes.unwrap_or(0)))?;
    let programs =
        if wanted.build { build(wanted.profile, &log)? } else { Programs::of_profile(wanted.profile) };
    let node = Node::install(&log)?;
    let outcomes = outcomes(&programs, &node, wanted.minutes, &wanted.only, &log);
    print!("{}", table::rendered(&outcomes));
    println!("log: {}", log.path().display());
    Ok(outcomes.iter().all(Outcome::is_good))
}

/// The short form, as a step of the tests.
pub(crate) fn short(node: &Node, programs: &Programs, log: &Log) -> Tally {
    let outcomes = outcomes(programs, node, None, &[], log);
    log.note(&table::rendered(&outcomes));
    let failed = outcomes.iter().filter(|outcome| !outcome.is_good()).count();
    Tally { passed: outcomes.len() - failed, failed }
}

/// Runs the scenarios, several at a time, in the listed order.
fn outcomes(
    programs: &Programs,
    node: &Node,
    minutes: Option<u64>,
    only: &[&str],
    log: &Log,
) -> Vec<Outcome> {
    let mut chosen = scenarios::all();
    chosen.retain(|scenario| only.is_empty() || only.contains(&scenario.name));
    let order: Vec<&str> = chosen.iter().map(|scenario| scenario.name).collect();
    let queue: Mutex<VecDeque<Scenario>> = Mutex::new(chosen.clone().into());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let clients = CLIENTS[usize::from(minutes.is_some())];
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = next() {
                    let outcome = scenario.outcome(programs, node, clients, minutes, log);
                    eprintln!("chaos: {}", outcome.line());
                    log.note(&outcome.line());
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                }
            });
        }
    });
    let mut outcomes = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|outcome| order.iter().position(|name| *name == outcome.name));
    outcomes
}
