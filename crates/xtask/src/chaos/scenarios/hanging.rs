//! A server that accepts connections and never answers: nobody waits for it.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::process::{MARK, until};
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "hanging-http",
        fault: 11,
        title: "the first client of each version has the tools of healthy servers at once beside one that hangs",
        variant: "http",
        run: first_contact,
    },
    Scenario {
        name: "hanging-child",
        fault: 11,
        title: "the same beside a child that hangs",
        variant: "stdio",
        run: first_contact,
    },
    Scenario {
        name: "hanging-stdio-start",
        fault: 11,
        title: "`dragoman stdio` has the tools of healthy servers at once beside one that hangs",
        variant: "",
        run: over_pipes,
    },
];

/// The time after which a list is late: the guaranteed time is half a second, but a busy machine needs more.
const AT_ONCE: Duration = Duration::from_millis(2500);

fn first_contact(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let good = stage.started("good", &[])?;
    let http = play.variant == "http";
    let hangs = if http { stage.started("hangs", &[])? } else { stage.upstream("hangs", &[])? };
    hangs.switched("hang")?;
    let entry = if http { hangs.over_http() } else { hangs.over_stdio() };
    stage.serve(&[("good", good.over_http()), ("hangs", entry)], &json!({}))?;
    let mut slow = Vec::new();
    let mut clients = Vec::new();
    for era in Era::ALL {
        let client = stage.client(era, &json!({}))?;
        client.listen().map_err(|why| format!("{why:?}"))?;
        let started = Instant::now();
        let names = client.names(3 * SOON)?;
        if started.elapsed() > AT_ONCE || !names.iter().any(|name| name == "good__read") {
            slow.push(format!("{}: {} tools after {:.1?}", era.version, names.len(), started.elapsed()));
        }
        clients.push(client);
    }
    hangs.switch("")?;
    for client in &clients {
        let joined =
            || client.names(SOON).ok().filter(|names| names.iter().any(|name| name == "hangs__read"));
        if until(SOON, joined).is_none() {
            slow.push(format!("{}: the server does not join when it answers", client.era.version));
        }
    }
    if slow.is_empty() { Ok(()) } else { Err(slow.join("; ")) }
}

fn over_pipes(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let (good, hangs) = (stage.started("good", &[])?, stage.started("hangs", &[])?);
    hangs.switched("hang")?;
    let config = json!({ "mcpServers": { "good": good.over_http(), "hangs": hangs.over_http() } });
    std::fs::write(stage.config(), config.to_string()).map_err(|error| error.to_string())?;
    let mut command = Command::new(stage.programs.dragoman());
    command.args(["stdio", "--config"]).arg(stage.config()).env(MARK, &stage.mark);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let found = list_over(&mut child);
    let _ = child.kill();
    let _ = child.wait();
    let (list, took) = found?;
    if took > AT_ONCE || !list.to_string().contains("good__read") {
        return Err(format!(
            "{} tools after {took:.1?}",
            list["result"]["tools"].as_array().map_or(0, Vec::len)
        ));
    }
    Ok(())
}

/// Introduces a client and lists tools; returns the list and the time that it took.
fn list_over(child: &mut std::process::Child) -> Result<(Value, Duration), String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".to_owned());
    };
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let info = json!({ "name": "chaos", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let started = Instant::now();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ] {
        writeln!(input, "{message}").map_err(|error| error.to_string())?;
    }
    loop {
        let line = lines.recv_timeout(3 * SOON).map_err(|_| "no list within 30 s".to_owned())?;
        let message: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        if message["id"] == 2 {
            return Ok((message, started.elapsed()));
        }
    }
}
