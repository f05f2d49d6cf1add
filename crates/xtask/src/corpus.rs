//! `cargo xtask corpus`: records the lists of tools of real third-party servers, and measures the search over them.
//! This module must not know how a list is recorded, or what the scripts measure.

use crate::root::{self, Programs};
use crate::run::Log;
use crate::scripts::Scripts;
use crate::stage::{Gateway, HttpUpstream, Serving, configured, scratch};
use crate::tally::Tally;
use crate::tools::{Node, Tools, environment, stamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The scripts of this command.
pub(crate) const CORPUS: Scripts = Scripts { name: "corpus", lanes: &[&["search"]], run: with_corpus };

/// The selections of lists that the search is measured with, by their names in `tests/corpus/subsets.json`.
const LISTS: [&str; 2] = ["120", "all"];

/// Records the lists, serves each selection behind a gateway, and runs the scripts.
pub(crate) fn with_corpus(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    let node = tools.node.with("corpus", log)?;
    let file = recorded(&node, log)?;
    let recorded = servers(&file)?;
    let mut command = node.script("lists.mjs")?;
    let ready = |line: &str| line.strip_prefix("lists at ").map(str::to_owned);
    let lists = HttpUpstream::start(command.arg(&file), ready, log)?;
    let mut gateways = Vec::new();
    for name in LISTS {
        let config = config(&subset(name)?, &recorded, &lists.url);
        let args = configured(&format!("corpus-{name}"), &config)?.into();
        gateways.push((name, Gateway::start_as(programs, Serving { args, ..Serving::default() }, log)?));
    }
    let urls: Map<String, Value> =
        gateways.iter().map(|(name, gateway)| ((*name).to_owned(), json!(gateway.url))).collect();
    let world = scratch("corpus-world")?.join("world.json");
    fs::write(&world, json!({ "gateways": urls }).to_string())
        .map_err(|error| format!("{}: {error}", world.display()))?;
    let tally = CORPUS.each((&node, &[&world]), only, log)?;
    if tally.failed > 0 {
        for (_, gateway) in &gateways {
            gateway.tell(log);
        }
        lists.tell(log);
    }
    Ok(tally)
}

/// The file with the recorded lists. They are recorded once for each version of the pinned servers.
pub(crate) fn recorded(node: &Node, log: &Log) -> Result<PathBuf, String> {
    let python = environment("tests/corpus/python.txt", "py-corpus", log)?;
    let virtual_environment = python.ancestors().nth(2).ok_or("the interpreter is in no environment")?;
    let folder = root::tools().join("corpus-lists");
    let file = folder.join("tools.jsonl");
    stamp::once(&folder, &pins()?, || {
        log.run(node.script("record.mjs")?.arg(&file).arg(node.module("")).arg(virtual_environment)).map(drop)
    })?;
    Ok(file)
}

/// The contents of all files on which the recorded lists depend.
fn pins() -> Result<String, String> {
    let text = |name: &&str| {
        let file = root::checkout().join("tests/corpus").join(name);
        fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    ["servers.json", "record.mjs", "session.mjs", "npm/package-lock.json", "python.txt"]
        .iter()
        .map(text)
        .collect()
}

/// The names of the servers whose lists are in the file.
fn servers(file: &Path) -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let server = |line: &str| {
        let line: Value =
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(line["server"].as_str().unwrap_or_default().to_owned())
    };
    text.lines().map(server).collect()
}

/// A selection of `tests/corpus/subsets.json`.
fn subset(name: &str) -> Result<Value, String> {
    let file = root::checkout().join("tests/corpus/subsets.json");
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let all: Value =
        serde_json::from_str(&fs::read_to_string(&file).map_err(|e| said(&e))?).map_err(|e| said(&e))?;
    all.get(name).cloned().ok_or_else(|| said(&format!("no subset `{name}`")))
}

/// The configuration of a gateway with these lists: once with a search, once with all tools listed.
fn config(subset: &Value, recorded: &BTreeSet<String>, lists: &str) -> Value {
    let chosen = |name: &str| {
        subset["servers"].as_array().is_none_or(|servers| servers.iter().any(|server| server == name))
    };
    let mut wordpress = json!({
        "native": "wordpress", "phases": ["core", "extended", "discover"],
        "site": { "url": "http://127.0.0.1:9", "username": "nobody", "password": "none" },
    });
    if subset["wordpress"].is_array() {
        wordpress["includeTools"] = subset["wordpress"].clone();
    }
    let mut servers = Map::from_iter([("wordpress".to_owned(), wordpress)]);
    for name in recorded.iter().filter(|name| chosen(name)) {
        servers.insert(name.clone(), json!({ "url": format!("{lists}/{name}/mcp") }));
    }
    json!({
        "mcpServers": servers,
        "profiles": { "search": { "tools": { "mode": "search" } }, "direct": {} },
        "limits": { "listWait": "30s" },
        "management": { "rate": "10000/1m" },
    })
}
