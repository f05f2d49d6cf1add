//! `cargo xtask peers`: SDKs, clients and servers of others through Dragoman.
//!
//! A world is a gateway with third-party upstreams behind it; each client script of `tests/peers` runs its cases in the
//! worlds whose era it speaks and prints `ok CASE` or `not ok CASE: why`.

use crate::conformance::build;
use crate::root::{self, Programs};
use crate::run::Log;
use crate::stage::{Gateway, HttpUpstream, Naming, scratch};
use crate::tally::Tally;
use crate::tools::Tools;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(10);
const USAGE: &str = "\
cargo xtask peers [--profile CARGO-PROFILE] [CLIENT ...]

  --profile  which cargo profile the programs are built with (dev)
  CLIENT     only these: ts-sdk-v1, ts-sdk-v2, inspector, py-sdk-v1, py-sdk-v2
";

/// A client script with its arguments: what it is to ask for (`tests/peers/questions.json`), and how.
struct Visit {
    client: &'static str,
    era: &'static str,
    questions: &'static str,
    /// What Dragoman puts in front of names in this world.
    prefix: &'static str,
}

const fn visit(
    client: &'static str,
    era: &'static str,
    questions: &'static str,
    prefix: &'static str,
) -> Visit {
    Visit { client, era, questions, prefix }
}

/// Two servers as children, names with prefixes.
const CHILDREN: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", "everything", "everything__"),
    visit("ts-sdk-v1", "legacy", "filesystem", "filesystem__"),
    visit("ts-sdk-v2", "legacy", "everything", "everything__"),
    visit("ts-sdk-v2", "legacy", "filesystem", "filesystem__"),
    visit("py-sdk-v1", "legacy", "everything", "everything__"),
    visit("py-sdk-v1", "legacy", "filesystem", "filesystem__"),
    visit("py-sdk-v2", "legacy", "everything", "everything__"),
    visit("py-sdk-v2", "legacy", "filesystem", "filesystem__"),
    visit("inspector", "legacy", "everything", "everything__"),
];
/// One server over Streamable HTTP, its own names.
const OVER_HTTP: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", "everything", ""),
    visit("ts-sdk-v2", "legacy", "everything", ""),
    visit("py-sdk-v1", "legacy", "everything", ""),
    visit("py-sdk-v2", "legacy", "everything", ""),
    visit("inspector", "legacy", "everything", ""),
];
/// The conformance fixture, which speaks both eras.
const FIXTURE: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", "fixture-legacy", ""),
    visit("ts-sdk-v2", "legacy", "fixture-legacy", ""),
    visit("ts-sdk-v2", "auto", "fixture-modern", ""),
    visit("ts-sdk-v2", "modern", "fixture-modern", ""),
    visit("py-sdk-v1", "legacy", "fixture-legacy", ""),
    visit("py-sdk-v2", "legacy", "fixture-legacy", ""),
    visit("py-sdk-v2", "auto", "fixture-modern", ""),
    visit("py-sdk-v2", "modern", "fixture-modern", ""),
    visit("inspector", "legacy", "fixture-legacy", ""),
    visit("inspector", "auto", "fixture-modern", ""),
    visit("inspector", "modern", "fixture-modern", ""),
];

/// Runs what the arguments ask for and prints each case; true when nothing failed.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut profile, mut only) = ("dev", Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" => {
                print!("{USAGE}");
                return Ok(true);
            }
            "--profile" => profile = args.next().ok_or(USAGE)?,
            option if option.starts_with('-') => return Err(format!("no option `{option}`\n\n{USAGE}")),
            client => only.push(client),
        }
    }
    let log = Log::create("peers", DEADLINE)?;
    let programs = build(profile, &log)?;
    let tools = Tools::install(&log)?;
    let tally = all(&tools, &programs, (!only.is_empty()).then_some(&only), &log)?;
    let judged = |line: &&str| ["== ", "ok ", "not ok "].iter().any(|word| line.starts_with(word));
    log.text().lines().filter(judged).for_each(|line| println!("{line}"));
    println!("{} passed, {} failed (log: {})", tally.passed, tally.failed, log.path().display());
    Ok(tally.good())
}

/// All visits of all worlds, or those of some clients.
pub(crate) fn all(
    tools: &Tools,
    programs: &Programs,
    only: Option<&Vec<&str>>,
    log: &Log,
) -> Result<Tally, String> {
    let files = scratch("peers-files")?;
    fs::write(files.join("hello.txt"), "Hello from a file.\n")
        .map_err(|error| format!("{}: {error}", files.display()))?;
    let everything = tools.node.module("@modelcontextprotocol/server-everything/dist/index.js");
    let node = tools.node.program();
    let children = json!({
        "everything": { "command": node, "args": [everything, "stdio"] },
        "filesystem": {
            "command": node,
            "args": [tools.node.module("@modelcontextprotocol/server-filesystem/dist/index.js"), files],
        },
    });
    let mut stage = Stage { tools, programs, only, files: &files, log, tally: Tally::default() };
    stage.world("children", &children, Naming::Prefix, CHILDREN)?;
    let port = free_port()?;
    let mut server = Command::new(node);
    let over_http = HttpUpstream::start(
        server.arg(&everything).arg("streamableHttp").env("PORT", port.to_string()),
        |line| line.contains(&format!("port {port}")).then(|| format!("http://127.0.0.1:{port}/mcp")),
        log,
    )?;
    stage.world("over-http", &json!({ "everything": over_http.server() }), Naming::Plain, OVER_HTTP)?;
    drop(over_http);
    let fixture = HttpUpstream::fixture(programs, log)?;
    stage.world("fixture", &json!({ "fixture": fixture.server() }), Naming::Plain, FIXTURE)?;
    Ok(stage.tally)
}

struct Stage<'a> {
    tools: &'a Tools,
    programs: &'a Programs,
    only: Option<&'a Vec<&'a str>>,
    files: &'a Path,
    log: &'a Log,
    tally: Tally,
}

impl Stage<'_> {
    fn world(&mut self, name: &str, servers: &Value, naming: Naming, visits: &[Visit]) -> Result<(), String> {
        let mut visits = visits
            .iter()
            .filter(|visit| self.only.is_none_or(|only| only.contains(&visit.client)))
            .peekable();
        if visits.peek().is_none() {
            return Ok(());
        }
        let gateway = Gateway::start(self.programs, &format!("peers-{name}"), servers, naming, self.log)?;
        let before = self.tally.failed;
        for visit in visits {
            let Visit { client, era, questions, prefix } = visit;
            self.log.note(&format!("== {name}: {client} {era} asks {questions}"));
            let mut command = self.client(client)?;
            command.args([gateway.url.as_str(), era, questions, prefix]).arg(self.files);
            let (good, said) = self.log.status(&mut command)?;
            self.tally += cases(&said, good);
        }
        if self.tally.failed > before {
            gateway.tell(self.log);
        }
        Ok(())
    }

    fn client(&self, name: &str) -> Result<Command, String> {
        let Some(sdk) = name.strip_prefix("py-") else {
            return self.tools.node.script(&format!("{name}.mjs"));
        };
        let python = self.tools.pythons.iter().find(|(pinned, _)| *pinned == sdk).map(|(_, program)| program);
        let mut command = Command::new(python.ok_or(format!("no Python for `{name}`"))?);
        command
            .arg("-B")
            .arg(root::checkout().join("tests/peers").join(format!("{}.py", name.replace('-', "_"))));
        Ok(command)
    }
}

/// Counts `ok` and `not ok` lines; a script that fails without either failed itself.
fn cases(said: &str, good: bool) -> Tally {
    let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
    let tally = Tally { passed: count("ok "), failed: count("not ok ") };
    if tally.failed == 0 && (!good || tally.passed == 0) { Tally { failed: 1, ..tally } } else { tally }
}

fn free_port() -> Result<u16, String> {
    let listener =
        std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{Tally, cases};

    #[test]
    fn a_script_is_counted_by_its_cases() {
        assert_eq!(cases("ok a\nnot ok b: why\nok c\n", false), Tally { passed: 2, failed: 1 });
        assert_eq!(cases("ok a\nTraceback", false), Tally { passed: 1, failed: 1 });
        assert_eq!(cases("", true), Tally { passed: 0, failed: 1 });
    }
}
