//! Commands that run scripts, each of which prints `ok CASE` or `not ok CASE: why`: their arguments, and the final
//! report. This module must not know the contents of the scripts.

use crate::conformance::build;
use crate::peers::cases;
use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::{Node, Tools};
use std::ffi::OsStr;
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_mins(10);

/// A command and the scripts that it runs.
pub(crate) struct Scripts {
    /// The name of the command and its log.
    pub(crate) name: &'static str,
    /// The scripts in lanes. Scripts in the same lane run one after the other; the lanes run at the same time.
    pub(crate) lanes: &'static [&'static [&'static str]],
    /// Starts everything that the scripts need, and runs the named scripts, or all scripts if none is named.
    pub(crate) run: fn(&Tools, &Programs, &[&str], &Log) -> Result<Tally, String>,
}

impl Scripts {
    /// Runs the requested scripts and prints each case; true if nothing failed.
    pub(crate) fn run(&self, args: &[String]) -> Result<bool, String> {
        self.run_by(args, "", self.run)
    }

    /// As [`Self::run`], for a command with further options: `run` replaces the command's own function, and `more` is
    /// appended to the usage.
    pub(crate) fn run_by(
        &self,
        args: &[String],
        more: &str,
        run: impl Fn(&Tools, &Programs, &[&str], &Log) -> Result<Tally, String>,
    ) -> Result<bool, String> {
        let (mut profile, mut only) = ("dev", Vec::new());
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--help" => {
                    print!("{}{more}", self.usage());
                    return Ok(true);
                }
                "--profile" => profile = args.next().ok_or_else(|| self.usage())?,
                script if self.all().contains(&script) => only.push(script),
                other => return Err(format!("no `{other}`\n\n{}{more}", self.usage())),
            }
        }
        let log = Log::create(self.name, DEADLINE)?;
        let programs = build(profile, &log)?;
        let tools = Tools::install(&log)?;
        let tally = run(&tools, &programs, &only, &log)?;
        let judged = |line: &&str| ["ok ", "not ok "].iter().any(|word| line.starts_with(word));
        log.text().lines().filter(judged).for_each(|line| println!("{line}"));
        println!("{} passed, {} failed (log: {})", tally.passed, tally.failed, log.path().display());
        Ok(tally.good())
    }

    /// Runs all scripts, or the selected ones, with these arguments.
    pub(crate) fn each<S: AsRef<OsStr> + Sync>(
        &self,
        (node, args): (&Node, &[S]),
        only: &[&str],
        log: &Log,
    ) -> Result<Tally, String> {
        let is_wanted = |script: &&&str| only.is_empty() || only.contains(*script);
        let lane = |number: usize, scripts: &[&str]| {
            // Each lane has a log of its own, because the output of a script is the text that its log gains.
            let own = log.part(&format!("{}-{number}", self.name))?;
            let mut tally = Tally::default();
            for script in scripts.iter().filter(is_wanted) {
                let started = Instant::now();
                let mut command = node.script(&format!("{script}.mjs"))?;
                let (good, said) = own.status(command.args(args))?;
                tally += cases(&said, good);
                own.note(&format!("{script} took {:.1} s", started.elapsed().as_secs_f32()));
            }
            log.take(&own);
            Ok::<Tally, String>(tally)
        };
        thread::scope(|scope| {
            let lanes = self.lanes.iter().enumerate();
            let running: Vec<_> =
                lanes.map(|(number, scripts)| scope.spawn(move || lane(number, scripts))).collect();
            let ended =
                running.into_iter().map(|lane| lane.join().map_err(|_| "a lane panicked".to_owned())?);
            ended.collect::<Vec<_>>().into_iter().try_fold(Tally::default(), |mut all, one| {
                all += one?;
                Ok(all)
            })
        })
    }

    /// The names of all scripts.
    fn all(&self) -> Vec<&'static str> {
        self.lanes.concat()
    }

    fn usage(&self) -> String {
        let (name, all) = (self.name, self.all());
        format!(
            "cargo xtask {name} [--profile CARGO-PROFILE] [SCRIPT ...]\n\n  \
             --profile  the cargo profile for building the programs (dev)\n  \
             SCRIPT     only these: {}\n",
            all.join(", ")
        )
    }
}
