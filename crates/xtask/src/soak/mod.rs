//! `cargo xtask soak`: opens, uses, abandons and closes sessions for an hour, and watches the gateway's memory,
//! descriptors, threads and processes. These must not grow.
//!
//! Nothing fails on purpose here; `chaos` handles faults, and this command uses its stage and clients.
//!
//! | file | concern |
//! |---|---|
//! | `load` | the clients: how they connect, what they call, how they disconnect |
//! | `sample` | the kernel's data about the gateway, as a table |
//! | `trend` | the slope of a figure over time, and its limit |

mod load;
mod sample;
mod trend;

use crate::chaos::stage::{Stage, Upstream, entries};
use crate::conformance::build;
use crate::root::Programs;
use crate::run::Log;
use load::Counts;
use sample::Sample;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between two samples, if the run is long enough for ten samples.
const EVERY: Duration = Duration::from_secs(30);
/// The divisor for the first part of the run, whose figures are not evaluated: after that part, caches and pools
/// are full, and abandoned sessions expire.
const WARM_UP: u32 = 5;

const USAGE: &str = "\
cargo xtask soak [--minutes N | --seconds N] [--profile CARGO-PROFILE] [--no-build]

  Clients of all versions open sessions, call servers with every transport and lifecycle, and close or abandon their sessions.
  Prints the gateway's memory, descriptors, threads and processes each 30 s, and fails if one of them grows after the first
  fifth of the run, or if a call fails.

  --minutes   the length (60)
  --seconds   the same in seconds, to try the command; the trend of such a short run is not judged
  --profile   the cargo profile for building the programs (dev)
  --no-build  run the programs of the last build
";

/// The minimum length of a run whose trend is evaluated.
const JUDGED: Duration = Duration::from_mins(10);

/// Runs the requested soak and prints the table; true if nothing grew and no call failed.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut length, mut profile, mut builds) = (Duration::from_hours(1), "dev", true);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|text| text.parse().ok()).ok_or(USAGE);
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--minutes" => length = Duration::from_mins(number()?),
            "--seconds" => length = Duration::from_secs(number()?),
            "--profile" => profile = args.next().ok_or(USAGE)?,
            "--no-build" => builds = false,
            other => return Err(format!("no option `{other}`\n\n{USAGE}")),
        }
    }
    let log = Log::create("soak", length + Duration::from_mins(20))?;
    let programs = if builds { build(profile, &log)? } else { Programs::of_profile(profile) };
    let mut stage = Stage::new("soak", &programs, 0, &log)?;
    let found = soak(&mut stage, length, &log);
    let end = stage.finish();
    let faults = found?.into_iter().chain(end.err()).collect::<Vec<_>>();
    for fault in &faults {
        println!("not ok: {fault}");
    }
    println!("log: {}", log.path().display());
    Ok(faults.is_empty())
}

/// Serves, calls and samples; returns the faults.
fn soak(stage: &mut Stage<'_>, length: Duration, log: &Log) -> Result<Vec<String>, String> {
    let servers = stage.of_each_sort()?;
    let entries = entries(&servers);
    // Abandoned sessions expire during the run, so that as many end as are opened.
    let limits = json!({ "limits": { "listWait": "10s", "sessionIdle": "2m" } });
    stage.serve(&entries, &limits)?;
    let (over, counts, stage) = (AtomicBool::new(false), Counts::default(), &*stage);
    let names: Vec<&str> = servers.iter().map(|(_, up)| up.name).collect();
    let samples = thread::scope(|scope| {
        for number in 0..load::CALLERS {
            let (names, over, counts) = (names.as_slice(), &over, &counts);
            scope.spawn(move || load::visits(stage, names, number, over, counts));
        }
        let samples = watch(stage, length, &counts, log);
        over.store(true, Ordering::Relaxed);
        samples
    });
    let mut faults = counts.faults();
    faults.extend(servers.iter().flat_map(|(_, up)| doubled(up)));
    if length >= JUDGED {
        let warm = samples.partition_point(|sample| sample.after < length / WARM_UP);
        let (text, grown) = trend::judged(&samples[warm..]);
        show(&text, log);
        faults.extend(grown);
    }
    Ok(faults)
}

/// Samples until the time is over.
fn watch(stage: &Stage<'_>, length: Duration, counts: &Counts, log: &Log) -> Vec<Sample> {
    let (started, every) = (Instant::now(), EVERY.min(length / 10));
    show(Sample::HEAD, log);
    let mut samples = Vec::new();
    while started.elapsed() < length {
        thread::sleep(every);
        let sample = Sample::taken(stage, started.elapsed(), counts);
        show(&sample.line(), log);
        samples.push(sample);
    }
    samples
}

fn show(line: &str, log: &Log) {
    println!("{line}");
    log.note(line);
}

fn doubled(up: &Upstream) -> Vec<String> {
    up.doubled(&["write", "ask"]).iter().map(|nonce| format!("{nonce} ran twice at {}", up.name)).collect()
}
