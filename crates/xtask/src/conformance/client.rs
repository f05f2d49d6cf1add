//! Client mode: the suite acts as the upstream and judges the requests that Dragoman sends; a driver calls
//! Dragoman.

use super::Wanted;
use super::checks::{Verdict, verdicts};
use super::suite::Suite;
use crate::root::Programs;
use crate::run::Log;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::Node;

/// The scenarios that are relevant for a gateway, with the versions for which each exists.
const SCENARIOS: [(&str, &[&str]); 11] = [
    ("initialize", &["2025-06-18", "2025-11-25"]),
    ("tools_call", &["2025-06-18", "2025-11-25", "2026-07-28"]),
    ("sse-retry", &["2025-11-25"]),
    ("elicitation-sep1034-client-defaults", &["2025-11-25"]),
    ("request-metadata", &["2026-07-28"]),
    ("http-standard-headers", &["2026-07-28"]),
    ("http-custom-headers", &["2026-07-28"]),
    ("http-invalid-tool-headers", &["2026-07-28"]),
    ("sep-2322-client-request-state", &["2026-07-28"]),
    ("json-schema-ref-no-deref", &["2026-07-28"]),
    ("json-schema-2020-12-preservation", &["2025-11-25", "2026-07-28"]),
];

/// Runs the client scenarios with Dragoman between the driver and the suite's mock servers.
pub(crate) fn through_client(
    node: &Node,
    programs: &Programs,
    wanted: &Wanted,
    log: &Log,
) -> Result<Tally, String> {
    let suite = Suite { node, log };
    let script = node.staged("conformance-client.mjs")?;
    // The suite passes this to a shell.
    let driver = format!("\"{}\" \"{}\"", node.program().display(), script.display());
    let mut tally = Tally::default();
    for (scenario, versions) in SCENARIOS {
        for version in versions {
            let asked = wanted.scenario.as_deref().is_none_or(|only| only == scenario);
            if !asked || wanted.spec.as_deref().is_some_and(|only| only != *version) {
                continue;
            }
            let results = scratch(&format!("conformance-results/client-{scenario}-{version}"))?;
            let (content, _) = suite.client(&driver, scenario, version, &programs.dragoman(), &results)?;
            let (passed, why) = match verdicts(&results)?.remove(scenario) {
                Some(Verdict::Pass(checks)) if content => (true, format!("{checks} checks")),
                Some(Verdict::Pass(_)) => {
                    (false, "the driver failed or the suite warned; see above".to_owned())
                }
                Some(Verdict::Fail(failed)) => (
                    false,
                    failed.iter().map(|(id, why)| format!("{id}: {why}")).collect::<Vec<_>>().join(" | "),
                ),
                Some(Verdict::Nothing) => (false, "the suite found nothing to try".to_owned()),
                None => (false, "no result".to_owned()),
            };
            log.note(&format!(
                "{} client {version} {scenario}: {why}",
                if passed { "ok   " } else { "FAIL " }
            ));
            tally += Tally::one(passed);
        }
    }
    log.note(&format!("==    client: {} of {} passed", tally.passed, tally.passed + tally.failed));
    Ok(tally)
}
