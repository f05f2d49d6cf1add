//! Server mode: the suite calls Dragoman, a fixture stands behind it.

use super::checks::{Verdict, verdicts};
use super::expected::Expected;
use super::suite::{Selection, Suite};
use super::{USAGE, Wanted};
use crate::root::{self, Programs};
use crate::run::Log;
use crate::stage::{Gateway, HttpUpstream, Naming, scratch, stdio_fixture};
use crate::tally::Tally;
use crate::tools::Node;
use serde_json::json;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The protocol versions that the suite is swept over.
const SWEEPS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The revisions whose frozen requirements are run as well, with the number of scenarios in each.
const REQUIREMENTS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What stands behind Dragoman.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// The fixture over Streamable HTTP.
    Http,
    /// The fixture as a child process.
    Stdio,
    /// Nothing: the suite calls the fixture itself, to tell its faults from ours.
    Direct,
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Http, Self::Stdio, Self::Direct]
            .into_iter()
            .find(|upstream| upstream.name() == name)
            .ok_or(format!("no upstream `{name}`\n\n{USAGE}"))
    }
}

impl Upstream {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
            Self::Direct => "direct",
        }
    }
}

/// Everything that runs for one upstream; ended when dropped.
struct Running {
    url: String,
    gateway: Option<Gateway>,
    upstream: Option<HttpUpstream>,
}

impl Running {
    fn start(programs: &Programs, upstream: Upstream, log: &Log) -> Result<Self, String> {
        let name = format!("conformance-{}", upstream.name());
        if upstream == Upstream::Stdio {
            let gateway = Gateway::start(
                programs,
                &name,
                &json!({ "fixture": stdio_fixture(programs) }),
                Naming::Plain,
                log,
            )?;
            return Ok(Self { url: gateway.url.clone(), gateway: Some(gateway), upstream: None });
        }
        let fixture = HttpUpstream::fixture(programs, log)?;
        if upstream == Upstream::Direct {
            return Ok(Self { url: fixture.url.clone(), gateway: None, upstream: Some(fixture) });
        }
        let gateway =
            Gateway::start(programs, &name, &json!({ "fixture": fixture.server() }), Naming::Plain, log)?;
        Ok(Self { url: gateway.url.clone(), gateway: Some(gateway), upstream: Some(fixture) })
    }

    fn tell(&self, log: &Log) {
        self.gateway.iter().for_each(|gateway| gateway.tell(log));
        self.upstream.iter().for_each(|upstream| upstream.tell(log));
    }
}

/// Runs the sweeps and the requirement sets with one upstream behind Dragoman; a line in the log for each run.
pub(crate) fn through_server(
    node: &Node,
    programs: &Programs,
    upstream: Upstream,
    wanted: &Wanted,
    log: &Log,
) -> Result<Tally, String> {
    let suite = Suite { node, log };
    let scenarios = suite.server_scenarios()?;
    let running = Running::start(programs, upstream, log)?;
    let mut tally = Tally::default();
    for version in SWEEPS.iter().filter(|version| wanted.spec.as_deref().is_none_or(|only| only == **version))
    {
        let names: Vec<&str> = scenarios
            .iter()
            .filter(|(name, versions)| {
                versions.iter().any(|one| one == version)
                    && wanted.scenario.as_ref().is_none_or(|only| only == name)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        let selection = match &wanted.scenario {
            Some(scenario) if names.is_empty() => {
                log.note(&format!("{scenario} does not exist at {version}"));
                continue;
            }
            Some(scenario) => Selection::One(scenario, version),
            None => Selection::Sweep(version),
        };
        tally += one_call(suite, &running, upstream, selection, &names)?;
    }
    if wanted.scenario.is_none() {
        for revision in REQUIREMENTS
            .iter()
            .filter(|revision| wanted.spec.as_deref().is_none_or(|only| only == **revision))
        {
            let names = suite.required(revision)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            tally += one_call(suite, &running, upstream, Selection::Requirements(revision), &names)?;
        }
    }
    if tally.failed > 0 {
        running.tell(log);
    }
    Ok(tally)
}

fn one_call(
    suite: Suite<'_>,
    running: &Running,
    upstream: Upstream,
    selection: Selection<'_>,
    names: &[&str],
) -> Result<Tally, String> {
    let (kind, version) = match selection {
        Selection::Sweep(version) | Selection::One(_, version) => ("sweep", version),
        Selection::Requirements(version) => ("required", version),
    };
    let expected = Expected::of(&root::checkout().join("tests/conformance"), upstream.name(), version)?;
    let results = scratch(&format!("conformance-results/{}-{kind}-{version}", upstream.name()))?;
    let (content, _) = suite.server(&running.url, selection, expected.file.as_deref(), &results)?;
    let title = format!("{} {kind} {version}", upstream.name());
    let (tally, known) = report(suite.log, &title, names, &verdicts(&results)?, &expected);
    let score = format!("{} of {} passed", tally.passed - known, names.len());
    suite.log.note(&format!(
        "==    {title}: {score}{}",
        if known > 0 { format!(", {known} known not to") } else { String::new() }
    ));
    if !content && tally.failed == 0 {
        // Every scenario that counts is well, so something else is not: a stale entry in the expected-failures file.
        suite.log.note(&format!("FAIL  {title}: the suite is not content (a stale expectation?); see above"));
        return Ok(Tally { failed: 1, ..tally });
    }
    Ok(tally)
}

/// A line for each scenario that had to run; also how many of those that count as passed are known to fail.
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
            (Some(Verdict::Nothing), true) => ("known", "the suite finds nothing to try".to_owned()),
            (Some(Verdict::Nothing), false) => ("FAIL ", "the suite finds nothing to try".to_owned()),
            (Some(_), true) => ("FAIL ", "stands in untried.txt, but is tried now".to_owned()),
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
