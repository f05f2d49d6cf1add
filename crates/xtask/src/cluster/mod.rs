//! `cargo xtask cluster`: several Dragomans that share a store (Debian's `redis-server`), with nginx and `HAProxy`
//! in front of them, while replicas and the store are killed, stopped, emptied and filled with garbage.
//!
//! Each case has its own store, replicas, upstream and clients. Some conditions hold in all of them: no answer is
//! lost, duplicated or sent to another client; no call is executed twice; every replica ends on request.
//!
//! | file | is for |
//! |---|---|
//! | `case` | a case, its run and its outcome |
//! | `cases` | the cases, a small file each |
//! | `rig` | a store, replicas, an upstream and clients |
//! | `replica` | one Dragoman of a cluster, and its command line |
//! | `redis` | the store |
//! | `admin_api` | requests to the management API |
//! | `browser` | a browser on the admin pages |
//! | `balancer` | nginx and `HAProxy` |
//! | `web_server` | a small HTTP server |
//! | `locked_server` | a server that requires its user's consent |
//! | `load` | clients that call without a pause, and the evaluation of their calls |

mod admin_api;
mod balancer;
mod browser;
mod case;
mod cases;
mod load;
mod locked_server;
mod redis;
mod replica;
mod rig;
mod web_server;

use crate::conformance::build;
use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::for_cluster;
use case::{Case, Outcome, rendered};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of cases that run at the same time. Several can share the processors, because most cases mostly wait.
const AT_ONCE: usize = 2;

/// The number of clients in the step of the tests.
const CLIENTS: usize = 24;

const USAGE: &str = "\
cargo xtask cluster [--clients N] [--rounds N] [--profile CARGO-PROFILE] [--no-build] [--list] [CASE ...]

  Several Dragomans share sessions and API keys through Debian's redis-server, behind nginx and HAProxy. Replicas and the
  store are killed, stopped, emptied and filled with garbage, while clients of all versions call.

  --clients   the number of clients in cases with many clients (24; 100 in the long form)
  --rounds    run each case this many times, one after the other: the long form
  --profile   the cargo profile for building the programs (dev)
  --no-build  run the programs of the last build
  --list      name the cases
  CASE        only these

  With DRAGOMAN_OTHER_BUILD=PATH, the case `rolling` updates replicas from the program at this path to the built one, and back.
";

/// The options of a run.
struct Wanted<'a> {
    profile: &'a str,
    build: bool,
    clients: usize,
    rounds: usize,
    only: Vec<&'a str>,
}

/// Runs the requested cases and prints the table; true if nothing failed.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let mut wanted = Wanted { profile: "dev", build: true, clients: 0, rounds: 1, only: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let number = |text: Option<&String>| text.and_then(|text| text.parse().ok()).ok_or(USAGE);
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--list" => {
                for case in cases::all() {
                    println!("{:<16} {}", case.name, case.title);
                }
                return Ok(true);
            }
            "--profile" => wanted.profile = args.next().ok_or(USAGE)?,
            "--no-build" => wanted.build = false,
            "--clients" => wanted.clients = number(args.next())?,
            "--rounds" => wanted.rounds = number(args.next())?,
            option if option.starts_with('-') => return Err(format!("no option `{option}`\n\n{USAGE}")),
            name if cases::all().iter().any(|case| case.name == name) => wanted.only.push(name),
            name => return Err(format!("no case `{name}`; --list names them")),
        }
    }
    if wanted.clients == 0 {
        wanted.clients = if wanted.rounds > 1 { 100 } else { CLIENTS };
    }
    let rounds = u64::try_from(wanted.rounds).map_err(|_| USAGE)?;
    let log = Log::create("cluster", Duration::from_mins(20 + 5 * rounds))?;
    let programs =
        if wanted.build { build(wanted.profile, &log)? } else { Programs::of_profile(wanted.profile) };
    for_cluster(&log)?;
    let mut good = true;
    for _ in 0..wanted.rounds {
        let outcomes = outcomes(&programs, wanted.clients, &wanted.only, &log);
        print!("{}", rendered(&outcomes));
        good &= outcomes.iter().all(Outcome::is_good);
    }
    println!("log: {}", log.path().display());
    Ok(good)
}

/// The short form, as a step of the tests.
pub(crate) fn short(programs: &Programs, log: &Log) -> Result<Tally, String> {
    for_cluster(log)?;
    let outcomes = outcomes(programs, CLIENTS, &[], log);
    log.note(&rendered(&outcomes));
    let failed = outcomes.iter().filter(|outcome| !outcome.is_good()).count();
    Ok(Tally { passed: outcomes.len() - failed, failed })
}

/// Runs the cases, several at a time, in the listed order.
fn outcomes(programs: &Programs, clients: usize, only: &[&str], log: &Log) -> Vec<Outcome> {
    let mut chosen = cases::all();
    chosen.retain(|case| only.is_empty() || only.contains(&case.name));
    let order: Vec<&str> = chosen.iter().map(|case| case.name).collect();
    let queue: Mutex<VecDeque<Case>> = Mutex::new(chosen.into());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let outcome = case.outcome(programs, clients, log);
                    eprintln!("cluster: {}", outcome.line());
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
