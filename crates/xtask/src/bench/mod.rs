//! `cargo xtask bench`: what Dragoman costs per call, beside nginx and beside nobody, in one interleaved run.
//!
//! One upstream and one load generator, both on one thread, with a gateway between them on the same cores.
//! CPU time per call is the figure to trust; calls a second and latencies swing with the machine's other work.

mod against;
mod contestant;
mod footprint;
mod guards;
mod measure;
mod options;
mod plain_http;
pub(crate) mod procfs;
mod programs;
mod report;
mod results;
mod scenario;
mod service;
mod stage;
mod table;

use contestant::{Contestant, settle};
use footprint::Footprint;
use options::Options;
use programs::Programs;
use results::{Results, Row};
use scenario::{ALL, FOOTPRINT, Scenario};
use stage::Stage;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measures and prints; false when something could not be measured, or a call had a wrong answer or none.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let Some(options) = Options::read(args)? else {
        print!("{}", options::help());
        return Ok(true);
    };
    raise_open_files();
    let programs = Programs::prepare(&options)?;
    let folder = Folder::create()?;
    let results = measure(&options, &programs, &folder.0);
    if options.against.is_some() {
        println!("{}", against::markdown(&results, options.at_most));
    } else {
        println!("{}", table::markdown(&results));
    }
    if let Some(path) = &options.json {
        report::write(path, &options, &results)?;
    }
    let mut errors = results.errors();
    if options.against.is_some() {
        errors.extend(against::over(&results, options.at_most));
    }
    for error in &errors {
        eprintln!("bench: {error}");
    }
    Ok(errors.is_empty())
}

/// Measures everything that was asked for; what fails is noted, so that the rest is not lost.
fn measure(options: &Options, programs: &Programs, folder: &Path) -> Results {
    let wanted = |name: &str| options.only.iter().any(|its| its == name);
    let mut results = Results::new(&options.contestants);
    for scenario in ALL.iter().filter(|scenario| wanted(scenario.name)) {
        match rounds(scenario, options, programs, folder) {
            Ok(row) => results.rows.push(row),
            Err(why) => results.failures.push(format!("{}: {why}", scenario.name)),
        }
    }
    if wanted(FOOTPRINT) {
        for gateway in results.gateways() {
            eprintln!("bench: {FOOTPRINT} of {}", gateway.name());
            match Footprint::of(gateway, &ALL[0], options, programs, folder) {
                Ok(footprint) => results.footprints.push(footprint),
                Err(why) => results.failures.push(format!("{FOOTPRINT} of {}: {why}", gateway.name())),
            }
        }
    }
    results
}

/// Everybody who takes part in a scenario.
fn participants(scenario: &Scenario, options: &Options) -> Vec<Contestant> {
    if options.against.is_some() {
        let (old, new) = against::pair(scenario);
        return vec![old, new];
    }
    let takes_part = |contestant: &Contestant| stage::takes_part(*contestant, scenario);
    let mut contestants: Vec<_> = options.contestants.iter().copied().filter(takes_part).collect();
    if scenario.guarded && !contestants.is_empty() {
        contestants.push(Contestant::Guarded);
    }
    contestants
}

/// All rounds of one scenario: everyone once, then everyone again.
fn rounds(scenario: &Scenario, options: &Options, programs: &Programs, folder: &Path) -> Result<Row, String> {
    let contestants = participants(scenario, options);
    let samples = contestants.iter().map(|contestant| (*contestant, Vec::new())).collect();
    let mut row = Row { scenario: *scenario, samples };
    if contestants.is_empty() {
        return Ok(row);
    }
    let stage = Stage::set(scenario, &contestants, programs, folder)?;
    let mut wanted = options.rounds;
    let mut round = 0;
    while round < wanted {
        round += 1;
        eprintln!("bench: {}, round {round} of {wanted}", scenario.name);
        // Of two builds each goes first in every other round, so that going first favours neither.
        if options.against.is_some() && round > 1 {
            row.samples.reverse();
        }
        for (contestant, its) in &mut row.samples {
            its.push(measure::sample(&stage, *contestant, options, programs, folder)?);
            // The connections of the last one are closed now, which costs the next one's time.
            settle(Duration::from_millis(50));
        }
        let is_over =
            || options.against.is_some() && against::ratio(&row).is_some_and(|ratio| ratio > options.at_most);
        if round == wanted && wanted < options.rounds * against::BATCHES && is_over() {
            wanted += options.rounds;
        }
    }
    Ok(row)
}

/// A thousand sessions need several thousand sockets; what is started inherits the limit.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Without it a big scenario fails with "too many open files", which says enough.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// A folder for configs and logs, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn create() -> Result<Self, String> {
        let path = crate::root::target().join("bench").join(std::process::id().to_string());
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
