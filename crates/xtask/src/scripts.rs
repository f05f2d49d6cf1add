//! Commands that run scripts, each of which prints `ok CASE` or `not ok CASE: why`: their arguments, and the final
//! report. This module must not know the contents of the scripts.

use crate::conformance::build;
use crate::peers::cases;
use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::{Node, Tools};
use std::ffi::OsStr;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(10);

/// A command and the scripts that it runs.
pub(crate) struct Scripts {
    /// The name of the command and its log.
    pub(crate) name: &'static str,
    /// The scripts, in this order.
    pub(crate) all: &'static [&'static str],
    /// Starts everything that the scripts need, and runs the named scripts; all if none is named.
    pub(crate) run: fn(&Tools, &Programs, &[&str], &Log) -> Result<Tally, String>,
}

impl Scripts {
    /// Runs the requested scripts and prints each case; true if nothing failed.
    pub(crate) fn run(&self, args: &[String]) -> Result<bool, String> {
        let (mut profile, mut only) = ("dev", Vec::new());
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--help" => {
                    print!("{}", self.usage());
                    return Ok(true);
                }
                "--profile" => profile = args.next().ok_or_else(|| self.usage())?,
                script if self.all.contains(&script) => only.push(script),
                other => return Err(format!("no `{other}`\n\n{}", self.usage())),
            }
        }
        let log = Log::create(self.name, DEADLINE)?;
        let programs = build(profile, &log)?;
        let tools = Tools::install(&log)?;
        let tally = (self.run)(&tools, &programs, &only, &log)?;
        let judged = |line: &&str| ["ok ", "not ok "].iter().any(|word| line.starts_with(word));
        log.text().lines().filter(judged).for_each(|line| println!("{line}"));
        println!("{} passed, {} failed (log: {})", tally.passed, tally.failed, log.path().display());
        Ok(tally.good())
    }

    /// Runs all scripts, or some, with these arguments.
    pub(crate) fn each<S: AsRef<OsStr>>(
        &self,
        (node, args): (&Node, &[S]),
        only: &[&str],
        log: &Log,
    ) -> Result<Tally, String> {
        let mut tally = Tally::default();
        for script in self.all.iter().filter(|script| only.is_empty() || only.contains(script)) {
            let mut command = node.script(&format!("{script}.mjs"))?;
            let (good, said) = log.status(command.args(args))?;
            tally += cases(&said, good);
        }
        Ok(tally)
    }

    fn usage(&self) -> String {
        let Self { name, all, .. } = self;
        format!(
            "cargo xtask {name} [--profile CARGO-PROFILE] [SCRIPT ...]\n\n  \
             --profile  the cargo profile for building the programs (dev)\n  \
             SCRIPT     only these: {}\n",
            all.join(", ")
        )
    }
}
