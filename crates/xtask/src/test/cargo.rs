//! The steps that run cargo.

use super::context::{Context, PROFILE};
use super::counts;
use crate::root;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::gungraun_runner;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::available_parallelism;
use std::time::Duration;

/// The crates without runtime, clock or files.
const PURE: [&str; 8] = [
    "--package",
    "dragoman-proto",
    "--package",
    "dragoman-config",
    "--package",
    "dragoman-engine",
    "--package",
    "dragoman-pages",
];

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(root::checkout()).env("CARGO_TERM_COLOR", "never");
    command
}

fn check(log: &Log, command: &mut Command) -> Result<Tally, String> {
    log.run(command).map(|_| Tally::one(true))
}

pub(super) fn format(_: &Context, log: &Log) -> Result<Tally, String> {
    check(log, &mut cargo(&["fmt", "--all", "--check"]))
}

pub(super) fn lints(_: &Context, log: &Log) -> Result<Tally, String> {
    check(
        log,
        &mut cargo(&["clippy", "--workspace", "--all-targets", "--profile", PROFILE, "--", "-D", "warnings"]),
    )
}

/// Builds binaries and tests together: if built separately, shared crates would get other features and be
/// built twice.
pub(super) fn build(_: &Context, log: &Log) -> Result<Tally, String> {
    check(log, &mut cargo(&["build", "--workspace", "--bins", "--tests", "--profile", PROFILE]))
}

pub(super) fn tests(_: &Context, log: &Log) -> Result<Tally, String> {
    // A program that a test builds itself, outside of the workspace, would get other features.
    run_tests(log, &["--workspace"], PROFILE, Some(Context::programs().folder()))
}

pub(super) fn doc_tests(_: &Context, log: &Log) -> Result<Tally, String> {
    let (good, said) =
        log.status(&mut cargo(&["test", "--doc", "--workspace", "--no-fail-fast", "--profile", PROFILE]))?;
    let tally = counts::libtest(&said);
    // A crate without examples in its docs passes, too.
    Ok(if good && tally.passed == 0 { Tally::one(true) } else { judged(good, tally) })
}

pub(super) fn docs(_: &Context, log: &Log) -> Result<Tally, String> {
    let mut command =
        cargo(&["doc", "--workspace", "--no-deps", "--document-private-items", "--profile", PROFILE]);
    check(log, command.env("RUSTDOCFLAGS", "-D warnings"))
}

pub(super) fn pure_lints(_: &Context, log: &Log) -> Result<Tally, String> {
    check(log, cargo(&["clippy", "--all-targets"]).args(PURE).args(["--", "-D", "warnings"]))
}

pub(super) fn pure_tests(_: &Context, log: &Log) -> Result<Tally, String> {
    run_tests(log, &PURE, "dev", None)
}

/// Installs the runner of the budgets, and builds the measured code at the same time as other work, using only
/// processor time that no other program needs.
pub(super) fn build_budgets_ahead() -> Result<(), String> {
    let log = Log::create("budgets-ahead", Duration::from_hours(1))?;
    gungraun_runner(&log)?;
    for package in with_budgets()? {
        let mut command = Command::new("nice");
        command
            .args(["-n", "19", "cargo"])
            .args(bench(&package))
            .arg("--no-run")
            .current_dir(root::checkout());
        log.run(&mut command)?;
    }
    Ok(())
}

fn bench(package: &str) -> [&str; 5] {
    ["bench", "--package", package, "--bench", "budget"]
}

/// The instruction budgets: benches named `budget`.
pub(super) fn budgets(context: &Context, log: &Log) -> Result<Tally, String> {
    context.tools()?;
    let runner = gungraun_runner(log)?.ok_or("budgets are defined, but Cargo.lock has no gungraun")?;
    let mut tally = Tally::default();
    for package in with_budgets()? {
        let mut command = cargo(&bench(&package));
        let (good, said) = log.status(command.env("GUNGRAUN_RUNNER", &runner))?;
        tally += judged(good, counts::gungraun(&said));
    }
    Ok(tally)
}

/// The packages that have a bench named `budget`.
pub(super) fn with_budgets() -> Result<Vec<String>, String> {
    let crates = root::checkout().join("crates");
    let said = |error: std::io::Error| format!("{}: {error}", crates.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&crates).map_err(said)? {
        let manifest = fs::read_to_string(entry.map_err(said)?.path().join("Cargo.toml")).unwrap_or_default();
        if manifest.split("[[bench]]").skip(1).any(|bench| bench.contains("name = \"budget\"")) {
            found.extend(
                manifest
                    .lines()
                    .find_map(|line| Some(line.strip_prefix("name = \"")?.trim_end_matches('"').to_owned())),
            );
        }
    }
    found.sort();
    Ok(found)
}

/// The number of tests per processor that run at the same time. Most tests spend most of their time waiting for
/// programs and deadlines.
const TESTS_PER_PROCESSOR: usize = 3;

/// Runs the tests of some packages; `programs` is the folder of the programs that these tests start, if they have
/// been built.
fn run_tests(log: &Log, packages: &[&str], profile: &str, programs: Option<&Path>) -> Result<Tally, String> {
    let nextest = cargo(&["nextest", "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let threads = (TESTS_PER_PROCESSOR * available_parallelism().map_or(1, usize::from)).to_string();
    let mut command = if nextest {
        let mut command = cargo(&[
            "nextest",
            "run",
            "--no-fail-fast",
            "--status-level",
            "slow",
            "--cargo-profile",
            profile,
        ]);
        command.args(["--test-threads", &threads]);
        command
    } else {
        cargo(&["test", "--bins", "--lib", "--tests", "--no-fail-fast", "--profile", profile])
    };
    if let Some(folder) = programs {
        command.env("DRAGOMAN_TEST_PROGRAMS", folder);
    }
    let (good, said) = log.status(command.args(packages))?;
    Ok(judged(good, if nextest { counts::nextest(&said) } else { counts::libtest(&said) }))
}

/// Returns the tally, with one failure added if the runner failed although no test did.
fn judged(good: bool, tally: Tally) -> Tally {
    if good || tally.failed > 0 { tally } else { Tally { failed: 1, ..tally } }
}
