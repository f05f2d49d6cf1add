//! Servers that crash during a call, hang, are slow, or alternate between states: callers of other servers
//! notice nothing.

use super::Scenario;
use crate::chaos::client::{End, Era};
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use rustix::process::Signal;
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "crash-in-call",
        fault: 0,
        title: "a call whose server crashes fails once with an error, and the next one is served",
        variant: "",
        run: crash,
    },
    Scenario {
        name: "stopped-server",
        fault: 0,
        title: "a server that stops in its tracks costs its own callers a timeout and others nothing",
        variant: "",
        run: stopped,
    },
    Scenario {
        name: "slow-server",
        fault: 0,
        title: "a slow server delays no caller of another",
        variant: "",
        run: slow,
    },
];

fn crash(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    stage.serve(&[("up", up.over_stdio())], &json!({ "limits": { "listWait": "10s" } }))?;
    for era in Era::ALL {
        let client = stage.client(era, &json!({}))?;
        client.names(SOON)?;
        let called = client.call("up__crash", json!({}), 2 * SOON);
        if !matches!(called.end, End::Failed(_)) {
            return Err(format!("{}: {:?}", era.version, called.end));
        }
        if up.executed(&called.nonce) != 1 {
            return Err(format!("{} ran {} times", called.nonce, up.executed(&called.nonce)));
        }
        let served = || client.call("up__read", json!({}), SOON).text().ok().map(str::len);
        if until(SOON, served).is_none() {
            return Err(format!("{}: the server does not come back", era.version));
        }
    }
    Ok(())
}

fn stopped(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let (up, other) = (stage.started("up", &[])?, stage.started("other", &[])?);
    let servers = [("up", up.over_http()), ("other", other.over_http())];
    stage.serve(&servers, &json!({ "limits": { "callIdleTimeout": "2s", "listWait": "10s" } }))?;
    let clients = stage.clients_of_all_eras()?;
    for client in &clients {
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
    }
    up.signal(Signal::STOP);
    let found = thread::scope(|scope| {
        let calls: Vec<_> = clients
            .iter()
            .map(|client| scope.spawn(|| client.call("up__write", json!({}), 3 * SOON)))
            .collect();
        for client in &clients {
            let started = Instant::now();
            client.call("other__read", json!({}), SOON).text()?;
            if started.elapsed() > Duration::from_secs(2) {
                return Err(format!("{}: another server took {:.1?}", client.era.version, started.elapsed()));
            }
        }
        for call in calls {
            let called = call.join().map_err(|_| "a caller panicked")?;
            if !matches!(called.end, End::Failed(_)) {
                return Err(format!("a call of a stopped server ended otherwise: {called:?}"));
            }
        }
        Ok(())
    });
    up.signal(Signal::CONT);
    found?;
    for client in &clients {
        let served = || client.call("up__read", json!({}), SOON).text().ok().map(str::len);
        if until(SOON, served).is_none() {
            return Err(format!("{}: the server goes on, but is not called", client.era.version));
        }
    }
    let doubled = up.doubled(&["write"]);
    if doubled.is_empty() { Ok(()) } else { Err(format!("ran twice: {doubled:?}")) }
}

fn slow(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let (up, other) = (stage.started("up", &[])?, stage.started("other", &[])?);
    let servers = [("up", up.over_http()), ("other", other.over_http())];
    stage.serve(&servers, &json!({ "limits": { "listWait": "10s" } }))?;
    let clients = stage.clients_of_all_eras()?;
    for client in &clients {
        client.names(SOON)?;
    }
    up.switched("slow=1500")?;
    thread::scope(|scope| {
        let slow: Vec<_> =
            clients.iter().map(|client| scope.spawn(|| client.call("up__read", json!({}), SOON))).collect();
        let started = Instant::now();
        for client in &clients {
            client.call("other__read", json!({}), SOON).text()?;
        }
        let took = started.elapsed();
        for call in slow {
            call.join().map_err(|_| "a caller panicked")?.text()?;
        }
        let each = took / u32::try_from(clients.len()).unwrap_or(1);
        if each > Duration::from_millis(700) {
            Err(format!("{each:.1?} a call of the other server"))
        } else {
            Ok(())
        }
    })
}
