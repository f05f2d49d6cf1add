//! Changed definitions of tools that are approved at single replicas.

use super::Case;
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::admin_api::{api, store_becomes};
use crate::cluster::rig::{KNOWN, Rig};
use crate::cluster::web_server::{Asked, Said, WebServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "approvals",
    title: "a definition that is approved at one replica is approved everywhere within 1 s, of approvals at the same time none is lost, a new replica trusts no change that nobody has approved, and an empty or rolled back store loses no approval",
    run,
}];

/// The time within which a replica must know what happened while it or the store was away.
const BACK: Duration = Duration::from_secs(5);

/// The descriptions of the server's tools.
type Listed = Arc<Mutex<BTreeMap<&'static str, u32>>>;

/// A server whose tools change.
struct Changing {
    listed: Listed,
    web: WebServer,
}

impl Changing {
    fn start() -> Result<Self, String> {
        let listed = Listed::default();
        let own = listed.clone();
        let web = WebServer::start(move |asked, _| answer(asked, &own))?;
        let server = Self { listed, web };
        for tool in ["a", "b", "c", "d"] {
            server.lists(tool, Some(1));
        }
        Ok(server)
    }

    /// Changes a tool, or removes it.
    fn lists(&self, tool: &'static str, number: Option<u32>) {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        match number {
            Some(number) => drop(listed.insert(tool, number)),
            None => drop(listed.remove(tool)),
        }
    }
}

fn answer(asked: &Asked, listed: &Listed) -> Said {
    let message: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    if asked.method != "POST" || message["id"].is_null() {
        return (if asked.method == "POST" { 202 } else { 405 }, String::new(), String::new());
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "changing", "version": "1" },
        }),
        "tools/list" => {
            let listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
            let tools = listed.iter().map(|(name, number)| {
                json!({ "name": name, "description": number.to_string(), "inputSchema": { "type": "object" } })
            });
            json!({ "tools": tools.collect::<Vec<_>>() })
        }
        _ => json!({}),
    };
    (200, String::new(), json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
}

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let server = Changing::start()?;
    let url = format!("http://{}/mcp", server.web.address);
    rig.start_amended(&json!({
        "mcpServers": { "far": { "url": url, "definitions": "hold" } },
        "management": { "rate": "100000/1m" },
    }))?;
    let addresses = rig.addresses();
    refresh(&addresses)?;
    await_approval(&addresses, &[], KNOWN)?;
    server.lists("a", Some(2));
    server.lists("b", Some(2));
    refresh(&addresses)?;
    await_approval(&addresses, &["a changed", "b changed"], KNOWN)?;
    approve(addresses[0], "a")?;
    let took = await_approval(&addresses, &["b changed"], KNOWN)?;
    at_the_same_time(&server, &addresses)?;
    newcomer(rig, &server, &addresses)?;
    rolled_back(rig, &server, &addresses)?;
    without_store(rig, &server, &addresses)?;
    Ok(format!("approved everywhere after {} ms", took.as_millis()))
}

/// Lets each replica fetch the server's lists.
fn refresh(addresses: &[SocketAddr]) -> Result<(), String> {
    addresses.iter().try_for_each(|at| {
        let (status, said) = api(*at, "POST", "/api/mcp-servers/far/refresh", &Value::Null)?;
        if status < 300 { Ok(()) } else { Err(format!("a refresh at {at}: {status} {said}")) }
    })
}

/// Returns the tools that await approval at a replica, each with its state.
fn awaiting(at: SocketAddr) -> Result<Vec<String>, String> {
    let (_, said) = api(at, "GET", "/api/mcp-servers/far/definitions", &Value::Null)?;
    let tools = said["tools"].as_array().ok_or_else(|| format!("a review at {at}: {said}"))?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(tools.iter().map(|one| format!("{} {}", word(&one["tool"]), word(&one["state"]))).collect())
}

/// Waits until exactly these tools await approval at all addresses; returns the time that this took.
fn await_approval(addresses: &[SocketAddr], wanted: &[&str], within: Duration) -> Result<Duration, String> {
    let begun = Instant::now();
    for at in addresses {
        let mut last = Err("nothing was read".to_owned());
        let found = until(within.saturating_sub(begun.elapsed()), || {
            last = awaiting(*at);
            last.as_ref().is_ok_and(|last| last == wanted).then_some(())
        });
        found.ok_or_else(|| format!("at {at}, {last:?} await approval, not {wanted:?}"))?;
    }
    Ok(begun.elapsed())
}

fn approve(at: SocketAddr, tool: &str) -> Result<(), String> {
    let (status, said) = approval(at, tool)?;
    if status == 200 { Ok(()) } else { Err(format!("an approval of {tool} at {at}: {status} {said}")) }
}

fn approval(at: SocketAddr, tool: &str) -> Result<(u16, Value), String> {
    api(at, "POST", "/api/mcp-servers/far/definitions/approve", &json!({ "tools": [tool] }))
}

/// Approves other tools at all replicas at the same time: one that has changed, one that is new, and one that is gone.
fn at_the_same_time(server: &Changing, addresses: &[SocketAddr]) -> Result<(), String> {
    server.lists("c", None);
    server.lists("x", Some(1));
    refresh(addresses)?;
    await_approval(addresses, &["b changed", "c vanished", "x new"], KNOWN)?;
    thread::scope(|scope| {
        let all: Vec<_> = addresses
            .iter()
            .zip(["b", "c", "x"])
            .map(|(at, tool)| scope.spawn(|| approve(*at, tool)))
            .collect();
        all.into_iter().try_for_each(|one| one.join().map_err(|_| "a thread panicked".to_owned())?)
    })?;
    await_approval(addresses, &[], KNOWN).map(drop)
}

/// A replica starts without any state after a tool has changed.
fn newcomer(rig: &mut Rig<'_>, server: &Changing, addresses: &[SocketAddr]) -> Result<(), String> {
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    server.lists("d", Some(2));
    rig.replicas[2].start()?;
    await_approval(&addresses[2..], &["d changed"], SOON)?;
    let (_, review) = api(addresses[2], "GET", "/api/mcp-servers/far/definitions?full=true", &Value::Null)?;
    let before = review["tools"][0]["before"].as_str().unwrap_or_default();
    if !before.contains(r#""description":"1""#) {
        return Err(format!("a new replica cannot show what was approved: {review}"));
    }
    refresh(addresses)?;
    await_approval(addresses, &["d changed"], KNOWN)?;
    // The command line of a replica that is away.
    rig.replicas[1].end()?;
    rig.replicas[1].command(&["definitions", "approve", "far", "d"])?;
    await_approval(&addresses[2..], &["d changed"], Duration::ZERO)?;
    rig.replicas[1].start()?;
    await_approval(addresses, &[], BACK).map(drop)
}

/// Somebody brings back the documents that were there before an approval, while a replica without any state starts.
fn rolled_back(rig: &mut Rig<'_>, server: &Changing, addresses: &[SocketAddr]) -> Result<(), String> {
    let names = rig.store.names("dragoman:definitions:*")?;
    let [name] = &names[..] else { return Err(format!("the store has the documents {names:?}")) };
    rig.store.cli(&["COPY", name, "saved"])?;
    server.lists("a", Some(3));
    refresh(addresses)?;
    await_approval(addresses, &["a changed"], KNOWN)?;
    approve(addresses[1], "a")?;
    await_approval(addresses, &[], KNOWN)?;
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.store.cli(&["COPY", "saved", name, "REPLACE"])?;
    rig.replicas[2].start()?;
    await_approval(addresses, &[], BACK)?;
    rig.store.cli(&["HSET", name, "sealed", "garbage"])?;
    server.lists("a", Some(4));
    refresh(addresses)?;
    await_approval(addresses, &["a changed"], KNOWN)?;
    approve(addresses[0], "a")?;
    await_approval(addresses, &[], KNOWN).map(drop)
}

/// The store goes away, and comes back empty.
fn without_store(rig: &mut Rig<'_>, server: &Changing, addresses: &[SocketAddr]) -> Result<(), String> {
    server.lists("b", Some(3));
    refresh(addresses)?;
    await_approval(addresses, &["b changed"], KNOWN)?;
    rig.store.kill();
    store_becomes(addresses, "unreachable")?;
    let (status, said) = approval(addresses[0], "b")?;
    if (status, said["error"]["code"].as_str()) != (503, Some("STORE_UNAVAILABLE")) {
        return Err(format!("an approval without the store: {status} {said}"));
    }
    await_approval(addresses, &["b changed"], KNOWN)?;
    rig.store.start_again()?;
    until(BACK, || approve(addresses[0], "b").ok())
        .ok_or("approvals are refused although the store is back")?;
    await_approval(addresses, &[], BACK)?;
    // A replica without any state gets what the others have written again.
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    server.lists("x", Some(2));
    rig.replicas[2].start()?;
    await_approval(&addresses[2..], &["x changed"], SOON).map(drop)
}
