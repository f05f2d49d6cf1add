//! `cargo xtask test`: every check of the project, step by step, each with a deadline and a log.

mod cargo;
mod context;
mod counts;
mod plan;

use crate::run::Log;
use crate::tally::Tally;
use context::Context;
use plan::Step;
use std::thread;
use std::time::{Duration, Instant};

/// How much of a failed step's log is shown.
const SHOWN_LINES: usize = 150;

const USAGE: &str = "\
cargo xtask test [--quick] [--list] [STEP ...]

  --quick  only format, rules, lints and tests of the pure crates: seconds
  --list   name the steps
  STEP     only these steps (and the build, when one of them needs it)
";

/// How one step ended.
struct Done {
    name: &'static str,
    tally: Tally,
    took: Duration,
}

/// Runs what the arguments ask for; true when everything passed.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut quick, mut list, mut only) = (false, false, Vec::new());
    for arg in args {
        match arg.as_str() {
            "--quick" => quick = true,
            "--list" => list = true,
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(true);
            }
            option if option.starts_with('-') => return Err(format!("no option `{option}`\n\n{USAGE}")),
            step => only.push(step),
        }
    }
    let steps = plan::chosen(if quick { plan::quick() } else { plan::full()? }, &only)?;
    if list {
        for step in &steps {
            println!("{}", step.name);
        }
        return Ok(true);
    }
    let started = Instant::now();
    let done = run_steps(&steps);
    Ok(summary(&done, started.elapsed()))
}

fn run_steps(steps: &[Step]) -> Vec<Done> {
    let context = Context::default();
    let mut done = Vec::new();
    thread::scope(|scope| {
        // Downloads wait for the network while cargo uses the processors.
        let installer = steps.iter().any(|step| step.needs_tools).then(|| {
            scope.spawn(|| {
                let started = Instant::now();
                let good = context.install();
                Done { name: "install", tally: Tally::one(good), took: started.elapsed() }
            })
        });
        let mut build_failed = false;
        for step in steps {
            let started = Instant::now();
            let tally = if step.needs_build && build_failed {
                println!("FAIL  {:<18} not run, as the build failed", step.name);
                Tally::one(false)
            } else {
                run_step(step, &context)
            };
            build_failed |= step.name == plan::BUILD && tally.failed > 0;
            done.push(Done { name: step.name, tally, took: started.elapsed() });
        }
        done.extend(installer.and_then(|thread| thread.join().ok()));
    });
    done
}

fn run_step(step: &Step, context: &Context) -> Tally {
    let started = Instant::now();
    let log = match Log::create(step.name, step.deadline) {
        Ok(log) => log,
        Err(why) => {
            println!("FAIL  {:<18} {why}", step.name);
            return Tally::one(false);
        }
    };
    let (tally, why) = match (step.work)(context, &log) {
        Ok(tally) if tally.passed + tally.failed > 0 => (tally, None),
        Ok(_) => (Tally::one(false), Some("nothing was tested".to_owned())),
        Err(why) => (Tally::one(false), Some(why)),
    };
    let word = if tally.failed == 0 { "ok   " } else { "FAIL " };
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{word} {:<18} {:>6} passed {:>4} failed {seconds:>7.1} s",
        step.name, tally.passed, tally.failed
    );
    if tally.failed > 0 {
        let text = log.text();
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
            println!("      | {line}");
        }
        if let Some(why) = why {
            println!("      {why}");
        }
        println!("      whole log: {}", log.path().display());
    }
    tally
}

fn summary(done: &[Done], took: Duration) -> bool {
    let mut total = Tally::default();
    println!("\n{:<18} {:>7} {:>7} {:>9}", "step", "passed", "failed", "seconds");
    for Done { name, tally, took } in done {
        println!("{name:<18} {:>7} {:>7} {:>9.1}", tally.passed, tally.failed, took.as_secs_f64());
        total += *tally;
    }
    println!("{:<18} {:>7} {:>7} {:>9.1}\n", "all", total.passed, total.failed, took.as_secs_f64());
    println!("{} passed, {} failed", total.passed, total.failed);
    total.good()
}
