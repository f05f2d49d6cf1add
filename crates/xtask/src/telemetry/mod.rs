//! The step `telemetry` of `cargo xtask test`: Debian's Prometheus scrapes a gateway with calls, and answers every query of the dashboard; `promtool`
//! checks and tests the alert rules. This module must not know what a figure means.
//!
//! | file | is for |
//! |---|---|
//! | `dashboard` | the queries of the dashboard |
//! | `prometheus` | the server: its configuration, start, queries |

mod dashboard;
mod prometheus;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::root::{Programs, checkout};
use crate::run::Log;
use crate::stage::{Gateway, Serving, configured, scratch};
use crate::tally::Tally;
use crate::tools::for_telemetry;
use prometheus::Prometheus;

/// The folder of the dashboard and the rules.
const FOLDER: &str = "deploy/grafana";

/// The time within which Prometheus must have the first figures: rates need two scrapes.
const SCRAPED_WITHIN: Duration = Duration::from_secs(30);

/// The calls, which make every family of figures non-empty: they cause results, errors, refusals, and a rejection
/// by a rate limit.
const CALLS: [(&str, &[&str]); 4] = [
    ("demo__echo", &["text=x"]),
    ("demo__add", &["a=1", "b=2"]),
    ("demo__add", &["a=x"]),
    ("demo__nothing", &[]),
];

/// Starts a gateway and Prometheus, and sends every query of the dashboard to Prometheus.
pub(crate) fn with_prometheus(programs: &Programs, log: &Log) -> Result<Tally, String> {
    for_telemetry(log)?;
    let mut tally = rules(log)?;
    let config = json!({
        "mcpServers": { "demo": { "native": "demo" }, "gone": { "url": "http://127.0.0.1:9/mcp" } },
        "rateLimits": [{ "rate": "1000/1m" }],
        "metrics": true,
    });
    let told = Serving { args: configured("telemetry", &config)?.into(), ..Serving::default() };
    let gateway = Gateway::start_as(programs, told, log)?;
    let prometheus = Prometheus::start(&gateway.at(""), &scratch("prometheus")?, log)?;
    let queries = dashboard::queries(&dashboard()?)?;
    let until = Instant::now() + SCRAPED_WITHIN;
    // The calls continue until there are rates.
    let mut silent: Vec<&String> = queries.iter().collect();
    while !silent.is_empty() && Instant::now() < until {
        call(programs, &gateway, log)?;
        let mut still = Vec::new();
        for query in silent {
            if !prometheus.answers(query)? {
                still.push(query);
            }
        }
        silent = still;
    }
    for query in &queries {
        let is_answered = !silent.contains(&query);
        log.note(&format!("{} {query}", if is_answered { "ok" } else { "not ok" }));
        tally += Tally::one(is_answered);
    }
    if !silent.is_empty() {
        gateway.tell(log);
        prometheus.tell(log);
    }
    Ok(tally)
}

/// Checks the alert rules, and runs their tests.
fn rules(log: &Log) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for args in [["check", "rules", "alerts.yaml"], ["test", "rules", "alerts.test.yaml"]] {
        let mut promtool = Command::new("promtool");
        let (good, _) = log.status(promtool.args(args).current_dir(checkout().join(FOLDER)))?;
        tally += Tally::one(good);
    }
    Ok(tally)
}

fn dashboard() -> Result<Value, String> {
    let file = checkout().join(FOLDER).join("dragoman.json");
    let said = |why: String| format!("{}: {why}", file.display());
    let text = fs::read_to_string(&file).map_err(|error| said(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| said(error.to_string()))
}

fn call(programs: &Programs, gateway: &Gateway, log: &Log) -> Result<(), String> {
    for (tool, arguments) in CALLS {
        let mut command = Command::new(programs.dragoman());
        // Some of the calls fail on purpose.
        log.status(command.args(["call", &gateway.url, tool]).args(arguments))?;
    }
    Ok(())
}
