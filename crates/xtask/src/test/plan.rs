//! The steps, in order.

use super::cargo;
use super::context::Context;
use crate::conformance::{Wanted, through_client, through_server};
use crate::run::Log;
use crate::tally::Tally;
use crate::{
    apps, auth, chaos, cluster, corpus, deploy, package, pages, peers, reach, real_clients, schema_families,
    sites, size, telemetry, tidy,
};
use std::time::Duration;

/// The step that builds the programs for later steps.
pub(super) const BUILD: &str = "build";

/// One step.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) deadline: Duration,
    pub(super) needs_build: bool,
    pub(super) needs_tools: bool,
    /// True if the step starts together with the previous one, because the step mostly waits.
    pub(super) beside_the_one_before: bool,
    /// Work that begins with the first step after the build, and uses only processor time that no other program
    /// needs. The step waits until this work has ended, and repeats whatever failed.
    pub(super) ahead: Option<fn() -> Result<(), String>>,
    pub(super) work: fn(&Context, &Log) -> Result<Tally, String>,
}

const fn step(name: &'static str, minutes: u64, work: fn(&Context, &Log) -> Result<Tally, String>) -> Step {
    Step {
        name,
        deadline: Duration::from_mins(minutes),
        needs_build: false,
        needs_tools: false,
        beside_the_one_before: false,
        ahead: None,
        work,
    }
}

const fn with_peers(
    name: &'static str,
    minutes: u64,
    work: fn(&Context, &Log) -> Result<Tally, String>,
) -> Step {
    Step { needs_build: true, needs_tools: true, ..step(name, minutes, work) }
}

const fn after_build(step: Step) -> Step {
    Step { needs_build: true, ..step }
}

const fn beside(step: Step) -> Step {
    Step { beside_the_one_before: true, ..step }
}

/// The steps of the pure crates, which take seconds.
pub(super) fn quick() -> Vec<Step> {
    vec![
        step("format", 2, cargo::format),
        step("tidy", 2, rules),
        step("lints", 10, cargo::pure_lints),
        step("tests", 10, cargo::pure_tests),
    ]
}

/// The steps that need nothing but this checkout.
fn own() -> Vec<Step> {
    vec![
        step("format", 2, cargo::format),
        step("tidy", 2, rules),
        step("lints", 30, cargo::lints),
        step(BUILD, 30, cargo::build),
        after_build(step("tests", 20, cargo::tests)),
        after_build(step("doc-tests", 20, cargo::doc_tests)),
        step("docs", 20, cargo::docs),
    ]
}

/// The official conformance suite, through each kind of server.
fn conformance() -> Vec<Step> {
    vec![
        with_peers("conformance-http", 15, |context, log| served(context, "http", log)),
        beside(with_peers("conformance-stdio", 15, |context, log| served(context, "stdio", log))),
        with_peers("conformance-legacy-http", 15, |context, log| served(context, "legacy-http", log)),
        beside(with_peers("conformance-legacy-stdio", 15, |context, log| {
            served(context, "legacy-stdio", log)
        })),
        with_peers("conformance-modern-http", 15, |context, log| served(context, "modern-http", log)),
        beside(with_peers("conformance-modern-stdio", 15, |context, log| {
            served(context, "modern-stdio", log)
        })),
        with_peers("conformance-sse", 15, |context, log| served(context, "sse", log)),
        beside(with_peers("conformance-direct", 15, |context, log| served(context, "direct", log))),
        with_peers("conformance-client", 10, |context, log| {
            through_client(&context.tools()?.node, &Context::programs(), &Wanted::default(), log)
        }),
    ]
}

/// Real clients and real servers, through the gateway.
fn peers() -> Vec<Step> {
    vec![
        beside(with_peers("peers-servers", 20, |context, log| {
            visited(context, &["children", "over-http"], log)
        })),
        with_peers("peers-fixture", 20, |context, log| visited(context, &["fixture"], log)),
        beside(with_peers("peers-mixed", 20, |context, log| visited(context, &["mixed"], log))),
        with_peers("peers-legacy", 20, |context, log| {
            visited(context, &["legacy-http", "legacy-stdio"], log)
        }),
        beside(with_peers("peers-modern-sse", 20, |context, log| {
            visited(context, &["modern-http", "modern-stdio", "sse"], log)
        })),
        with_peers("peers-presets", 20, |context, log| {
            visited(context, &["bb", "buddyboss", "wordpress"], log)
        }),
        beside(with_peers("peers-presets-events", 20, |context, log| {
            visited(context, &["kulturarv", "gateway"], log)
        })),
    ]
}

/// Real identity providers, proxies, third-party servers and sites, and clients while faults occur.
fn counterparts() -> Vec<Step> {
    vec![
        with_peers("auth-provider", 10, |context, log| {
            auth::with_provider(context.tools()?, &Context::programs(), &[], log)
        }),
        with_peers("reach", 10, |context, log| {
            reach::with_counterparts(context.tools()?, &Context::programs(), &[], log)
        }),
        beside(with_peers("apps", 10, |context, log| {
            apps::with_host(context.tools()?, &Context::programs(), &[], log)
        })),
        // Not beside another step, because it uses two browsers.
        with_peers("pages", 15, |context, log| {
            pages::in_browser(context.tools()?, &Context::programs(), &[], log)
        }),
        with_peers("chaos", 10, |context, log| {
            Ok(chaos::short(&context.tools()?.node, &Context::programs(), log))
        }),
        beside(with_peers("clients", 10, |context, log| {
            real_clients::with_clients(context.tools()?, &Context::programs(), &[], log)
        })),
        // Not beside another step, because it measures times.
        after_build(step("cluster", 5, |_, log| cluster::short(&Context::programs(), log))),
        with_peers("corpus", 15, |context, log| {
            corpus::with_corpus(context.tools()?, &Context::programs(), &[], log)
        }),
        beside(with_peers("schema-families", 15, |context, log| {
            schema_families::checked(context.tools()?, &Context::programs(), log)
        })),
        after_build(step("telemetry", 5, |_, log| telemetry::with_prometheus(&Context::programs(), log))),
        beside(after_build(step("deploy", 5, |_, log| deploy::checked(&Context::programs(), log)))),
        beside(with_peers("packages", 10, |context, log| {
            package::quick(&Context::programs(), &context.tools()?.node, log)
        })),
        with_peers("sites", 10, |context, log| {
            sites::with_sites(context.tools()?, &Context::programs(), &[], log)
        }),
    ]
}

/// All steps.
pub(super) fn full() -> Result<Vec<Step>, String> {
    let mut steps = own();
    steps.extend(conformance());
    steps.extend(peers());
    steps.extend(counterparts());
    if !cargo::with_budgets()?.is_empty() {
        let ahead = Some(cargo::build_budgets_ahead as fn() -> _);
        steps.push(Step { needs_tools: true, ahead, ..step("budgets", 30, cargo::budgets) });
    }
    // The released program takes long to build, mostly on one processor.
    steps.push(Step { ahead: Some(size::build_ahead), ..step("size", 30, |_, log| size::explained(log)) });
    Ok(steps)
}

/// The named steps in their usual order, with the build if one needs it; all steps if none is named.
pub(super) fn chosen(steps: Vec<Step>, only: &[&str]) -> Result<Vec<Step>, String> {
    if let Some(unknown) = only.iter().find(|name| !steps.iter().any(|step| step.name == **name)) {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        return Err(format!("no step `{unknown}`; there are {}", names.join(", ")));
    }
    let named = |step: &Step| only.is_empty() || only.contains(&step.name);
    let build = steps.iter().any(|step| named(step) && step.needs_build);
    Ok(steps.into_iter().filter(|step| named(step) || (build && step.name == BUILD)).collect())
}

fn rules(_: &Context, log: &Log) -> Result<Tally, String> {
    let faults = tidy::faults()?;
    for fault in &faults {
        log.note(&fault.to_string());
    }
    Ok(if faults.is_empty() { Tally::one(true) } else { Tally { passed: 0, failed: faults.len() } })
}

fn served(context: &Context, upstream: &str, log: &Log) -> Result<Tally, String> {
    through_server(&context.tools()?.node, &Context::programs(), upstream.parse()?, &Wanted::default(), log)
}

fn visited(context: &Context, worlds: &[&str], log: &Log) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for name in worlds {
        let world = peers::World::named(name).ok_or_else(|| format!("no world `{name}`"))?;
        tally += peers::visited(world, context.tools()?, &Context::programs(), &[], log)?;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::{chosen, full, quick};

    #[test]
    fn chosen_steps_bring_the_build_that_they_need() {
        let names = |only: &[&str]| {
            chosen(full().unwrap(), only).unwrap().iter().map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["peers-mixed", "format"]), ["format", "build", "peers-mixed"]);
        assert_eq!(names(&["tidy"]), ["tidy"]);
        assert!(names(&[]).len() > 8);
        assert!(chosen(quick(), &["peers-mixed"]).is_err());
    }
}
