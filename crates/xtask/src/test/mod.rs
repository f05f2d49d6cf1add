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

/// The number of lines from the end of a failed step's log that are shown, and the most failures that are shown.
const SHOWN_LINES: usize = 150;
/// The most failures of a step that are repeated at the very end, and the longest part of each, in characters.
const REPEATED: usize = 12;
const REPEATED_CHARS: usize = 400;
/// The number of lines before the first failure that are shown.
const LINES_BEFORE: usize = 20;

const USAGE: &str = "\
cargo xtask test [--quick] [--list] [STEP ...]

  --quick  only format, rules, lints and tests of the pure crates: seconds
  --list   name the steps
  STEP     only these steps (and the build, when one of them needs it)
";

/// The outcome of one step.
struct Done {
    name: &'static str,
    tally: Tally,
    took: Duration,
    /// The first failures, shortened.
    failures: Vec<String>,
}

impl Done {
    /// The outcome of a step whose own code panicked; the panic message is on the terminal.
    fn panicked(name: &'static str) -> Self {
        let failures = vec!["the step itself panicked".to_owned()];
        Self { name, tally: Tally::one(false), took: Duration::ZERO, failures }
    }
}

/// Runs the requested steps; true if everything passed.
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
                let failures = if good { Vec::new() } else { vec!["the installation failed".to_owned()] };
                Done { name: "install", tally: Tally::one(good), took: started.elapsed(), failures }
            })
        });
        let (mut build_failed, mut ahead) = (false, None);
        for group in steps.chunk_by(|_, next| next.beside_the_one_before) {
            // Earlier, work ahead would slow down the builds of the first steps.
            if ahead.is_none() && group.iter().any(|step| step.needs_build || step.needs_tools) {
                let begun = steps.iter().filter_map(|step| Some((step.name, scope.spawn(step.ahead?))));
                ahead = Some(begun.collect::<Vec<_>>());
            }
            for step in group {
                let place = ahead.iter().flatten().position(|(name, _)| *name == step.name);
                if let Some((_, work)) = place.and_then(|at| Some(ahead.as_mut()?.remove(at))) {
                    // If this work failed, the step does it again, and reports the error.
                    let _ = work.join();
                }
            }
            let ends: Vec<Done> = thread::scope(|beside| {
                let run = |step| run_step(step, &context, build_failed);
                let threads: Vec<_> =
                    group.iter().map(|step| (step.name, beside.spawn(move || run(step)))).collect();
                threads
                    .into_iter()
                    .map(|(name, thread)| thread.join().unwrap_or(Done::panicked(name)))
                    .collect()
            });
            build_failed |= ends.iter().any(|done| done.name == plan::BUILD && done.tally.failed > 0);
            done.extend(ends);
        }
        done.extend(installer.map(|thread| thread.join().unwrap_or(Done::panicked("install"))));
    });
    done
}

/// Runs one step, and prints its outcome at once, because another step may end at the same time.
fn run_step(step: &Step, context: &Context, build_failed: bool) -> Done {
    let started = Instant::now();
    let log = Log::create(step.name, step.deadline);
    let result = match &log {
        _ if step.needs_build && build_failed => Err("not run because the build failed".to_owned()),
        Ok(log) => (step.work)(context, log),
        Err(why) => Err(why.clone()),
    };
    let (tally, why) = match result {
        Ok(tally) if tally.passed + tally.failed > 0 => (tally, None),
        Ok(_) => (Tally::one(false), Some("nothing was tested".to_owned())),
        Err(why) => (Tally::one(false), Some(why)),
    };
    let took = started.elapsed();
    let word = if tally.failed == 0 { "ok  " } else { "FAIL" };
    let (passed, failed, seconds) = (tally.passed, tally.failed, took.as_secs_f64());
    let mut report =
        format!("{word}  {:<18} {passed:>6} passed {failed:>4} failed {seconds:>7.1} s\n", step.name);
    if let (true, Ok(log)) = (tally.failed > 0, &log) {
        for line in shown_of(&log.text()) {
            report.extend(["      | ", line, "\n"]);
        }
        report.extend(["      whole log: ", &log.path().to_string_lossy(), "\n"]);
    }
    report.extend(why.iter().flat_map(|why| ["      ", why, "\n"]));
    print!("{report}");
    let text = log.map(|log| log.text()).unwrap_or_default();
    let failures = if tally.failed == 0 { Vec::new() } else { repeated(&text, why) };
    Done { name: step.name, tally, took, failures }
}

/// Returns the failures of a step for the end of the whole output, which is often all that is kept of it.
fn repeated(text: &str, why: Option<String>) -> Vec<String> {
    let failures = text.lines().filter(|line| is_failure(line)).take(REPEATED);
    failures.map(|line| line.chars().take(REPEATED_CHARS).collect()).chain(why).collect()
}

/// Returns true for the line with which a step's log tells a failure.
fn is_failure(line: &str) -> bool {
    ["FAIL ", "not ok "].iter().any(|word| line.trim_start().starts_with(word))
}

/// The lines of a failed step's log that are shown: first the failures, then what preceded the first one, then the end.
fn shown_of(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| is_failure(line));
    let before = first.map_or(&[][..], |first| &lines[first.saturating_sub(LINES_BEFORE)..=first]);
    let end = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    let failures = lines.iter().copied().filter(|line| is_failure(line)).take(SHOWN_LINES);
    failures
        .chain(["before the first failure:"])
        .chain(before.iter().copied())
        .chain(["the end:"])
        .chain(end.iter().copied())
        .collect()
}

fn summary(done: &[Done], took: Duration) -> bool {
    let mut total = Tally::default();
    println!("\n{:<18} {:>7} {:>7} {:>9}", "step", "passed", "failed", "seconds");
    for Done { name, tally, took, .. } in done {
        println!("{name:<18} {:>7} {:>7} {:>9.1}", tally.passed, tally.failed, took.as_secs_f64());
        total += *tally;
    }
    println!("{:<18} {:>7} {:>7} {:>9.1}\n", "all", total.passed, total.failed, took.as_secs_f64());
    for Done { name, failures, .. } in done {
        for failure in failures {
            println!("{name}: {failure}");
        }
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    total.good()
}

#[cfg(test)]
mod tests {
    use super::{repeated, shown_of};

    #[test]
    fn the_failures_of_a_long_log_are_shown_first() {
        let log = format!("== a\nTraceback\nnot ok b: why\n{}", "ok\n".repeat(1_000));
        let shown = shown_of(&log);
        assert_eq!(
            shown[..5],
            ["not ok b: why", "before the first failure:", "== a", "Traceback", "not ok b: why"]
        );
        assert_eq!(shown.len(), 6 + super::SHOWN_LINES);
    }

    #[test]
    fn the_end_repeats_the_first_failures_in_short() {
        let log = format!("ok a\n   FAIL [1 s] b\n{}", format!("not ok {}\n", "x".repeat(1_000)).repeat(20));
        let shown = repeated(&log, Some("why".to_owned()));
        assert_eq!((shown.len(), shown[0].as_str(), shown[12].as_str()), (13, "   FAIL [1 s] b", "why"));
        assert_eq!(shown[1].len(), super::REPEATED_CHARS);
    }
}
