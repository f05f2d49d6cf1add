//! `cargo xtask bench`: Dragoman's cost per call, compared with nginx and with a direct connection, in one
//! interleaved run.
//!
//! There is one upstream and one load generator, each with a single thread, and a gateway between them on the
//! same cores. CPU time per call is the reliable figure; calls per second and latencies vary with the other
//! load of the machine.

mod addition;
mod against;
mod collector;
mod contestant;
mod footprint;
mod guards;
mod measure;
mod options;
pub(crate) mod plain_http;
pub(crate) mod procfs;
mod programs;
mod report;
mod results;
mod scenario;
mod service;
mod stage;
mod table;
mod watcher;

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

/// Measures and prints the results; false if a measurement failed, or if a call had a wrong answer or none.
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

/// Measures everything that was requested. A failure is recorded, so that the other results are not lost.
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

/// All participants of a scenario.
fn participants(scenario: &Scenario, options: &Options) -> Vec<Contestant> {
    if options.against.is_some() {
        let (old, new) = against::pair(scenario);
        return vec![old, new];
    }
    let takes_part = |contestant: &Contestant| stage::takes_part(*contestant, scenario);
    let mut contestants: Vec<_> = options.contestants.iter().copied().filter(takes_part).collect();
    if let (Some(addition), false) = (scenario.added, contestants.is_empty()) {
        contestants.push(Contestant::With(addition));
    }
    contestants
}

/// All rounds of one scenario. In each round, every participant runs once.
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
        // Two of the same kind take turns in going first, so that the order favors neither.
        if (options.against.is_some() || scenario.added.is_some()) && round > 1 {
            row.samples.reverse();
        }
        for (contestant, its) in &mut row.samples {
            its.push(measure::sample(&stage, *contestant, options, programs, folder)?);
            // The connections of the previous participant are being closed, which would cost the next one
            // time.
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

/// Raises the limit of open files, which started programs inherit: a thousand sessions need several thousand
/// sockets.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this fails, a large scenario fails with "too many open files", which is clear enough.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// A folder for configurations and logs, deleted on drop.
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
