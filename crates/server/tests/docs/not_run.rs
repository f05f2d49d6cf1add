//! Every command, snippet and output in the documentation is executed by a test, or is listed here with the reason why it is not,
//! and the check that it gets instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::EXECUTED;

/// The page whose `console` blocks are requests, which a test of their own sends.
const REQUESTS: &str = "docs/management.md";

/// The blocks that no test executes: the page, the beginning of the block, and the reason.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", "Claude Code ──", "a drawing"),
    ("README.md", "cargo build --release", "the tests build the program the same way"),
    (
        "README.md",
        "$ target/release/dragoman",
        "serves until it is ended; the tests of `serve` hold its first line",
    ),
    (
        "docs/admin.md",
        "$ dragoman admin link",
        "needs a running gateway; held by the tests of the admin pages",
    ),
    ("docs/audit.md", "$ dragoman audit", "shows calls of a day; held by the tests of the record"),
    ("docs/cluster.md", "upstream dragoman", "settings of nginx; `cargo xtask cluster` runs the same"),
    ("docs/cluster.md", "defaults", "settings of HAProxy; `cargo xtask cluster` runs the same"),
    (
        "docs/connect.md",
        "claude mcp add",
        "changes another program's settings; held by the tests of `connect`",
    ),
    ("docs/connect.md", "{", "settings of other programs; held by the fixtures of the crate clients"),
    (
        "docs/connect.md",
        "npx @modelcontextprotocol/inspector",
        "needs a registry; the Inspector visits every package and every peer world",
    ),
    (
        "docs/connect.md",
        "transport = Streamable",
        "another program's code; the SDKs visit the gateway in the peer worlds",
    ),
    (
        "docs/connect.md",
        "new Streamable",
        "another program's code; the SDKs visit the gateway in the peer worlds",
    ),
    ("docs/connect.md", "dragoman stdio", "needs that server; held by the tests of `stdio`"),
    ("docs/deploy.md", "sudo install", "changes the system; `cargo xtask package --check` installs the unit"),
    ("docs/deploy.md", "kubectl apply", "needs a cluster; the manifests are checked against their schemas"),
    ("docs/deploy.md", "podman run", "needs the image; `cargo xtask package --check` builds and runs it"),
    (
        "docs/dialects.md",
        "$ dragoman serve",
        "serves until it is ended; held by the transcripts of the presets",
    ),
    ("docs/get-started.md", "cargo build --release", "the tests build the program the same way"),
    (
        "docs/get-started.md",
        "dragoman import",
        "asks about this machine's clients; held by the tests of `import`",
    ),
    (
        "docs/get-started.md",
        "$ dragoman",
        "needs uv, a registry and a person; `cargo xtask package --check` does these steps by stopwatch",
    ),
    (
        "docs/get-started.md",
        "npx @modelcontextprotocol/inspector",
        "needs a registry; `cargo xtask package --check` does it",
    ),
    ("docs/keys.md", "$ dragoman key new", "a key is random; held by the tests of keys"),
    ("docs/keys.md", "Authorization:", "a header, in part"),
    ("docs/management.md", "2026-", "a line of the record, with times; held by the tests of management"),
    (
        "docs/migrate.md",
        "dragoman import",
        "needs the other system's file; `import` of a file is held by its tests",
    ),
    ("docs/performance.md", "bench_load", "a drawing"),
    ("docs/performance.md", "$ ", "measures for minutes"),
    (
        "docs/releasing.md",
        "cargo xtask package",
        "builds for a quarter of an hour; its quick part is a step of the tests",
    ),
    ("docs/reliability.md", "INFO ready", "a line of the log, with times; held by the tests of states"),
    ("docs/reliability.md", "{", "the data of an error; held by the tests of errors"),
    ("docs/reliability.md", "not ready:", "held by the tests of readiness"),
    ("docs/reliability.md", "$ cargo xtask", "runs for minutes; its short form is a step of the tests"),
    ("docs/security.md", "dragoman ──", "a drawing"),
    (
        "docs/security.md",
        "$ dragoman definitions",
        "needs servers that change; held by the tests of definitions",
    ),
    ("docs/security.md", "cargo install", "a tool of others, which needs its own database"),
    ("docs/servers.md", "dragoman add", "needs a registry or a file; held by the tests of `add`"),
    ("docs/team.md", "sudo dragoman key new", "a key is random; held by the tests of keys"),
    (
        "docs/telemetry.md",
        "scrape_configs",
        "Prometheus' settings; a real Prometheus reads such in the step `telemetry`",
    ),
    (
        "docs/telemetry.md",
        "rule_files",
        "Prometheus' settings; promtool reads the rules in the step `telemetry`",
    ),
    ("docs/telemetry.md", "{", "a line of the log, with times; held by the tests of the log"),
    ("docs/telemetry.md", "$ export", "serves until it is ended; held by the tests with a collector"),
    ("docs/terminal.md", "Cursor (", "asks a person; held by the tests of `import`"),
    ("docs/terminal.md", "$ dragoman status", "shows a running gateway; held by the tests of `status`"),
    ("docs/terminal.md", "dragoman completions", "writes into the home folder; held by the tests of shells"),
    ("docs/terminal.md", "dragoman man", "writes into the home folder; held by the tests of shells"),
    (
        "docs/terminal.md",
        "$ dragoman add io.example",
        "asks a registry and a person; held by the tests of `add`",
    ),
    ("docs/tls.md", "openssl req", "a tool of others; the tests of TLS make such certificates"),
    ("docs/tls.md", "certbot", "needs a public name"),
    ("docs/tls.md", "curl --cacert", "needs that server; held by the tests of TLS"),
    ("docs/troubleshooting.md", "curl -N", "needs a proxy; the step `deploy` asks real ones"),
    ("docs/troubleshooting.md", "dragoman list", "needs jq; held by the tests of `list`"),
    ("docs/troubleshooting.md", "podman network", "changes the machine's networks"),
    ("docs/troubleshooting.md", "networks:", "settings of compose"),
    ("docs/upstreams.md", "HTTPS_PROXY=", "needs that proxy; the step `reach` goes through a real one"),
    ("docs/wordpress.md", "<?php", "a plugin for a site"),
    ("docs/wordpress.md", "claude mcp add", "changes another program; held by the tests of the first screen"),
    ("docs/wordpress.md", "{", "settings of other programs; held by the tests of the first screen"),
    ("docs/wordpress-record.md", "$ cargo xtask community", "needs a plugin that is not public"),
];

/// The blocks of a page: the language and the first line.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (mut found, mut inside) = (Vec::new(), false);
    let mut lines = page.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        if !inside {
            found.push((language.to_owned(), lines.peek().copied().unwrap_or_default().to_owned()));
        }
        inside = !inside;
    }
    found
}

#[test]
fn every_block_is_executed_or_listed_with_a_reason() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec!["README.md".to_owned()];
    for entry in fs::read_dir(checkout.join("docs")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
            pages.push(format!("docs/{name}"));
        }
    }
    let mut used = BTreeSet::new();
    for page in pages {
        for (language, first) in blocks(&fs::read_to_string(checkout.join(&page)).unwrap()) {
            let is_run = language == "yaml"
                || (language == "console" && (EXECUTED.contains(&page.as_str()) || page == REQUESTS));
            let listed =
                NOT_RUN.iter().position(|(name, beginning, _)| *name == page && first.starts_with(beginning));
            match listed {
                Some(at) => drop(used.insert(at)),
                None => assert!(
                    is_run,
                    "{page}: no test executes the block that begins with {first:?}: let one, or list it with the reason"
                ),
            }
        }
    }
    let stale: Vec<_> = NOT_RUN.iter().enumerate().filter(|(at, _)| !used.contains(at)).collect();
    assert!(stale.is_empty(), "these blocks are not there: {stale:?}");
    assert!(NOT_RUN.iter().all(|(.., why)| why.len() > 8));
}
