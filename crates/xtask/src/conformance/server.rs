//! Server mode: the suite calls Dragoman, with a fixture behind it.

use super::Wanted;
use super::checks::{Verdict, verdicts};
use super::expected::Expected;
use super::suite::{Selection, Suite};
use super::upstream::{Running, Upstream};
use crate::root::{self, Programs};
use crate::run::Log;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::Node;
use std::collections::BTreeMap;

/// The protocol versions for which the suite is run.
const SWEEPS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The revisions whose required scenarios are run in addition, as the suite has fixed them for each revision.
const REQUIREMENTS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// The title of the scenarios of extensions, which belong to no version. The gateway supports only the extension
/// for tasks.
const EXTENSIONS: &str = "extensions";
const CARRIED: &str = "tasks-";

/// One line of the report: several runs of the suite under one title, with one upstream.
struct Round<'a> {
    kind: &'a str,
    version: &'a str,
    selections: Vec<Selection<'a>>,
    /// The scenarios that must run.
    names: Vec<&'a str>,
}

/// Runs the sweeps, the scenarios of extensions and the requirement sets with one upstream behind Dragoman; logs a
/// line for each run.
pub(crate) fn through_server(
    node: &Node,
    programs: &Programs,
    upstream: Upstream,
    wanted: &Wanted,
    log: &Log,
) -> Result<Tally, String> {
    let suite = Suite { node, log };
    let scenarios = suite.server_scenarios()?;
    let mut required = Vec::new();
    for revision in REQUIREMENTS.iter().filter(|_| wanted.scenario.is_none() && upstream.any_era) {
        required.push((*revision, suite.required(revision)?));
    }
    let mut rounds: Vec<Round<'_>> =
        SWEEPS.iter().map(|version| sweep(&scenarios, version, wanted)).collect();
    rounds.push(extensions(&scenarios, wanted));
    rounds.extend(required.iter().map(|(revision, names)| Round {
        kind: "required",
        version: revision,
        selections: vec![Selection::Requirements(revision)],
        names: names.iter().map(String::as_str).collect(),
    }));
    rounds.retain(|round| wanted.spec.as_deref().is_none_or(|only| only == round.version));
    rounds.retain(|round| !round.names.is_empty());
    let running = Running::start(programs, upstream, log)?;
    let mut tally = Tally::default();
    for round in rounds {
        tally += one_round(suite, &running, upstream, &round)?;
    }
    if tally.failed > 0 {
        running.tell(log);
    }
    Ok(tally)
}

/// The scenarios of one version, or the only requested one.
fn sweep<'a>(scenarios: &'a [(String, Vec<String>)], version: &'a str, wanted: &'a Wanted) -> Round<'a> {
    let names = scenarios
        .iter()
        .filter(|(name, versions)| versions.iter().any(|one| one == version) && wanted.scenario(name))
        .map(|(name, _)| name.as_str())
        .collect();
    let selection = match &wanted.scenario {
        Some(scenario) => Selection::One(scenario, version),
        None => Selection::Sweep(version),
    };
    Round { kind: "sweep", version, selections: vec![selection], names }
}

/// The scenarios of extensions that the gateway supports. They are run one by one, because the suite has no option
/// for all of them.
fn extensions<'a>(scenarios: &'a [(String, Vec<String>)], wanted: &Wanted) -> Round<'a> {
    let names: Vec<&str> = scenarios
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| name.starts_with(CARRIED) && wanted.scenario(name))
        .collect();
    let selections = names.iter().map(|name| Selection::Extension(name)).collect();
    Round { kind: "scenarios of", version: EXTENSIONS, selections, names }
}

fn one_round(
    suite: Suite<'_>,
    running: &Running,
    upstream: Upstream,
    round: &Round<'_>,
) -> Result<Tally, String> {
    let Round { kind, version, selections, names } = round;
    let expected = Expected::of(&root::checkout().join("tests/conformance"), upstream.name, version)?;
    let folder = format!("conformance-results/{}-{}-{version}", upstream.name, kind.replace(' ', "-"));
    let results = scratch(&folder)?;
    let mut content = true;
    for selection in selections {
        content &= suite.server(&running.url, *selection, expected.file.as_deref(), &results)?.0;
    }
    let title = format!("{} {kind} {version}", upstream.name);
    let (tally, known) = report(suite.log, &title, names, &verdicts(&results)?, &expected);
    let score = format!("{} of {} passed", tally.passed - known, names.len());
    suite.log.note(&format!(
        "==    {title}: {score}{}",
        if known > 0 { format!(", {known} known not to") } else { String::new() }
    ));
    if !content && tally.failed == 0 {
        // All scenarios that count have passed, so the reason is another one: a stale entry in the expected-failures
        // file.
        suite
            .log
            .note(&format!("FAIL  {title}: the suite reports failures (a stale expectation?); see above"));
        return Ok(Tally { failed: 1, ..tally });
    }
    Ok(tally)
}

/// Writes a line for each scenario that had to run; also returns how many of the passed ones are known
/// failures.
fn report(
    log: &Log,
    title: &str,
    names: &[&str],
    verdicts: &BTreeMap<String, Verdict>,
    expected: &Expected,
) -> (Tally, usize) {
    let (mut tally, mut known) = (Tally::default(), 0);
    for &name in names {
        let (word, why) = match (verdicts.get(name), expected.untried(name)) {
            (Some(Verdict::Nothing), true) => ("known", "the suite found no scenario".to_owned()),
            (Some(Verdict::Nothing), false) => ("FAIL ", "the suite found no scenario".to_owned()),
            (Some(_), true) => ("FAIL ", "is listed in untried.txt, but is now tried".to_owned()),
            (Some(Verdict::Pass(checks)), _) => ("ok   ", format!("{checks} checks")),
            (Some(Verdict::Fail(failed)), _) => {
                let why: Vec<String> = failed.iter().map(|(id, why)| format!("{id}: {why}")).collect();
                (if expected.covers(name, failed) { "known" } else { "FAIL " }, why.join(" | "))
            }
            (None, _) => ("FAIL ", "no result".to_owned()),
        };
        known += usize::from(word == "known");
        tally += Tally::one(word != "FAIL ");
        log.note(&format!("{word} {title} {name}: {why}"));
    }
    (tally, known)
}
