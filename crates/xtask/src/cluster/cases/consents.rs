//! A server whose user gives consent, while each request of the user's browser reaches another replica.

use super::Case;
use crate::chaos::client::{Client, End, Era};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::admin_api::{api, status, store_becomes};
use crate::cluster::browser::Browser;
use crate::cluster::locked_server::{LIFE, LockedServer};
use crate::cluster::rig::{KNOWN, Rig, each};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "consents",
    title: "a consent that is given at any replica is used at all, one replica at a time renews its tokens, none does without the store, and a withdrawal ends it everywhere",
    run,
}];

/// The time for which all replicas use the tokens, which are renewed several times.
const USED: Duration = Duration::from_secs(15);

/// The time after the return of the store within which calls must succeed again.
const BACK: Duration = Duration::from_secs(15);

/// The time within which all replicas must have fetched the lists of the server.
const LISTED: Duration = Duration::from_secs(5);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let server = LockedServer::start()?;
    rig.start_passing_on(&json!({ "locked": { "url": format!("http://{}/mcp", server.address) } }))?;
    let addresses = rig.addresses();
    for replica in &rig.replicas {
        replica.amend(&json!({ "management": { "rate": "100000/1m" } }))?;
    }
    for at in &addresses {
        until(SOON, || (status(*at, "/api/consents") == Some(200)).then_some(()))
            .ok_or("there is no management API")?;
    }
    agree(&addresses)?;
    let clients: Vec<_> = addresses
        .iter()
        .map(|at| rig.stage.client_at(*at, Era::NEWEST_SESSION, None))
        .collect::<Result<_, _>>()?;
    each(&clients, |client| opens(client, LISTED))?;
    let calls = used(&clients)?;
    let (renewed, reused) = server.counts();
    if renewed < 2 || reused != 0 {
        return Err(format!("{renewed} renewals, {reused} refresh tokens were used twice"));
    }
    without_store(rig, &clients, &server)?;
    withdrawn(rig, &clients)?;
    Ok(format!("{calls} calls with {renewed} renewals, no refresh token was used twice"))
}

/// Gives consent: it begins at the first replica, and the browser reaches another one each time.
fn agree(addresses: &[SocketAddr]) -> Result<(), String> {
    let (status, page) = api(addresses[0], "POST", "/api/consents/locked/start", &Value::Null)?;
    let url = page["url"].as_str().ok_or_else(|| format!("no page: {status} {page}"))?;
    let path = &url[url.find("/oauth/").ok_or("a page without a path")?..];
    let mut browser = Browser::default();
    let asked = browser.get(addresses[1], path)?;
    if asked.status != 200 {
        return Err(format!("the page at another replica: {} {}", asked.status, asked.text));
    }
    let onward = browser.post(addresses[2], path, "")?;
    let at_service =
        onward.location.ok_or_else(|| format!("no redirect: {} {}", onward.status, onward.text))?;
    let (service, rest) = split(&at_service)?;
    let agreed = Browser::default().get(service, &rest)?;
    let back = agreed.location.ok_or("the authorization server does not redirect")?;
    let (_, rest) = split(&back)?;
    let done = browser.get(addresses[1], &rest)?;
    if done.status == 200 { Ok(()) } else { Err(format!("no consent: {} {}", done.status, done.text)) }
}

/// The address in a URL, and the rest of the URL.
fn split(url: &str) -> Result<(SocketAddr, String), String> {
    let rest = url.strip_prefix("http://").ok_or_else(|| format!("not a URL: {url}"))?;
    let (address, path) = rest.split_once('/').ok_or_else(|| format!("no path: {url}"))?;
    let address = address.parse().map_err(|error| format!("{url}: {error}"))?;
    Ok((address, format!("/{path}")))
}

fn opens(client: &Arc<Client>, within: Duration) -> Result<(), String> {
    let mut last = String::new();
    let opened = until(within, || match client.call("locked__open", json!({}), SOON).text() {
        Ok(_) => Some(()),
        Err(why) => {
            last = why;
            None
        }
    });
    opened.ok_or_else(|| format!("the server is not open after {within:?}: {last}"))
}

/// Calls at all replicas while the tokens are renewed; returns the number of calls.
fn used(clients: &[Arc<Client>]) -> Result<usize, String> {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    each(clients, |client| {
        let begun = Instant::now();
        while begun.elapsed() < USED {
            client.call("locked__open", json!({}), SOON).text()?;
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    })?;
    Ok(calls.into_inner())
}

/// The store is away for longer than the tokens are valid, and comes back empty.
fn without_store(rig: &mut Rig<'_>, clients: &[Arc<Client>], server: &LockedServer) -> Result<(), String> {
    each(clients, |client| opens(client, KNOWN))?;
    rig.store.kill();
    store_becomes(&rig.addresses(), "unreachable")?;
    // A renewal that has begun may end.
    until(SOON, || server.is_idle().then_some(())).ok_or("a renewal does not end")?;
    each(clients, |client| opens(client, Duration::ZERO))?;
    let (before, _) = server.counts();
    // Each gateway has found out on its own that it cannot renew the token before the token expires.
    thread::sleep(LIFE + Duration::from_secs(1));
    for client in clients {
        match client.call("locked__open", json!({}), SOON).end {
            End::Failed(why) if why.contains("not renewed") => {}
            end => return Err(format!("a call with an expired token, without the store: {end:?}")),
        }
    }
    if server.counts() != (before, 0) {
        return Err(format!("tokens were renewed without the store: {:?}", server.counts()));
    }
    rig.store.start_again()?;
    each(clients, |client| opens(client, BACK))?;
    match server.counts() {
        (_, 0) => Ok(()),
        (_, reused) => Err(format!("{reused} refresh tokens were used twice after the store's return")),
    }
}

/// The consent is withdrawn at one replica.
fn withdrawn(rig: &Rig<'_>, clients: &[Arc<Client>]) -> Result<(), String> {
    rig.replicas[1].command(&["consent", "revoke", "locked"])?;
    each(clients, |client| {
        let closed = until(KNOWN, || {
            let end = client.call("locked__open", json!({}), SOON).end;
            matches!(end, End::Failed(_)).then_some(())
        });
        closed.ok_or("the server is still open after the consent was withdrawn".to_owned())
    })?;
    // Nobody writes the withdrawn tokens again.
    thread::sleep(KNOWN);
    each(clients, |client| match client.call("locked__open", json!({}), SOON).end {
        End::Failed(_) => Ok(()),
        end => Err(format!("the consent came back: {end:?}")),
    })
}
