//! Operators whose requests for the admin pages reach another replica each time.

use super::Case;
use crate::chaos::process::until;
use crate::cluster::browser::Browser;
use crate::cluster::rig::{KNOWN, Rig};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "operators",
    title: "a login is valid at every replica, a logout and a removed operator end it everywhere within 1 s, a one-time link works once, and failed logins count together",
    run,
}];

/// The hash of the password `battery staple`.
const HASH: &str =
    "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

const PASSWORD: &str = "battery+staple";

/// The time within which a replica must know what happened while the store was away.
const BACK: Duration = Duration::from_secs(5);

/// The number of links that are used at several replicas at the same time.
const LINKS: usize = 5;

/// The number of ends of logins in the store.
fn ends(rig: &Rig<'_>) -> Option<usize> {
    rig.store.cli(&["HLEN", "dragoman:logins"]).ok()?.parse().ok()
}

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start_amended(&json!({ "admin": { "users": { "ann": HASH, "ben": HASH } } }))?;
    let addresses = rig.addresses();
    let mut ann = logged_in(addresses[0], "ann")?;
    for at in &addresses {
        must(ann.is_in(*at)?, &format!("ann is not logged in at {at}"))?;
    }
    results_travel(&mut ann, &addresses)?;
    let out = logout(&addresses)?;
    links(rig, &addresses)?;
    removed(rig, &addresses, &mut ann)?;
    let link = link(rig, 0)?;
    without_store(rig, &addresses, &mut ann, &link)?;
    lock_out(&addresses)?;
    Ok(format!("logged out everywhere after {} ms", out.as_millis()))
}

fn must(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

fn logged_in(at: SocketAddr, name: &str) -> Result<Browser, String> {
    let mut browser = Browser::default();
    match browser.log_in(at, name, PASSWORD)? {
        303 => Ok(browser),
        status => Err(format!("a login of {name} at {at}: {status}")),
    }
}

/// Waits until a browser is logged out at all addresses; returns the time that this took.
fn becomes_out(browser: &Browser, addresses: &[SocketAddr], within: Duration) -> Result<Duration, String> {
    let begun = Instant::now();
    for at in addresses {
        let is_out = || browser.clone().is_in(*at).is_ok_and(|is_in| !is_in).then_some(());
        until(within.saturating_sub(begun.elapsed()), is_out)
            .ok_or_else(|| format!("still logged in at {at} after {within:?}"))?;
    }
    Ok(begun.elapsed())
}

/// The result of a form that one replica got is shown by another one, once.
fn results_travel(ann: &mut Browser, addresses: &[SocketAddr]) -> Result<(), String> {
    let sent = ann.submit(addresses[0], "/admin/profiles-add", "slug=office&server=up")?;
    must(sent.status == 303, &format!("a form: {} {}", sent.status, sent.text))?;
    let shown = "The profile office was added.";
    let known = until(KNOWN, || {
        let page = ann.clone().get(addresses[1], "/admin/profiles/office").ok()?;
        (page.status == 200).then_some(())
    });
    known.ok_or("the profile is unknown at the second replica")?;
    let page = ann.get(addresses[1], "/admin/profiles/office")?;
    must(page.text.contains(shown), &format!("the result is not shown: {}", page.text))?;
    let again = ann.get(addresses[2], "/admin")?;
    must(again.status == 200 && !again.text.contains(shown), "the result is shown twice")
}

fn logout(addresses: &[SocketAddr]) -> Result<Duration, String> {
    let mut browser = logged_in(addresses[0], "ann")?;
    let window = browser.clone();
    let mut other = logged_in(addresses[0], "ann")?;
    let out = browser.submit(addresses[1], "/admin/logout", "")?;
    must(out.status == 303, &format!("a logout: {} {}", out.status, out.text))?;
    let took = becomes_out(&window, addresses, KNOWN)?;
    must(other.is_in(addresses[2])?, "another login of the same operator has ended, too")?;
    Ok(took)
}

/// The path of a one-time link that a replica has made.
fn link(rig: &Rig<'_>, number: usize) -> Result<String, String> {
    let said = rig.replicas[number].command(&["admin", "link", "--json"])?;
    let told: Value = serde_json::from_str(&said).map_err(|error| format!("{error}: {said}"))?;
    let url = told["url"].as_str().unwrap_or_default();
    url.find("/admin/enter/").map(|at| url[at..].to_owned()).ok_or(format!("no link in {said}"))
}

/// Uses a link at a replica; returns the status.
fn enter(at: SocketAddr, link: &str) -> Result<u16, String> {
    Ok(Browser::default().post(at, link, "")?.status)
}

/// Each link opens the pages once, also if it is used at all replicas at the same time.
fn links(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    for number in 0..LINKS {
        let link = link(rig, number % addresses.len())?;
        let mut statuses = thread::scope(|scope| {
            let all: Vec<_> = addresses.iter().map(|at| scope.spawn(|| enter(*at, &link))).collect();
            let ends = all.into_iter().map(|one| one.join().map_err(|_| "a thread panicked".to_owned())?);
            ends.collect::<Result<Vec<_>, String>>()
        })?;
        statuses.sort_unstable();
        must(statuses == [303, 403, 403], &format!("one link, used three times: {statuses:?}"))?;
        // The losers were failed attempts; a login clears their count.
        logged_in(addresses[number % addresses.len()], "ann")?;
    }
    // Whoever can delete the use from the store cannot use the link again.
    let link = link(rig, 0)?;
    must(enter(addresses[1], &link)? == 303, "a link does not open the pages at another replica")?;
    // Notices arrive in order: who knows of this logout knows of the use.
    let mut later = logged_in(addresses[1], "ann")?;
    let window = later.clone();
    later.submit(addresses[1], "/admin/logout", "")?;
    becomes_out(&window, addresses, KNOWN)?;
    for name in rig.store.names("dragoman:used:*")? {
        rig.store.cli(&["DEL", &name])?;
    }
    must(enter(addresses[2], &link)? == 403, "a link works again after its use was deleted")
}

/// The operator ben is removed from the file of one replica.
fn removed(rig: &Rig<'_>, addresses: &[SocketAddr], ann: &mut Browser) -> Result<(), String> {
    let ben = logged_in(addresses[1], "ben")?;
    rig.replicas[0].amend(&json!({ "admin": { "users": { "ann": HASH } } }))?;
    // The replica looks for changes to its file every second, and reads a file that has stopped changing.
    becomes_out(&ben, &addresses[..1], BACK)?;
    becomes_out(&ben, addresses, KNOWN)?;
    must(ann.is_in(addresses[0])?, "ann was logged out although only ben was removed")?;
    let refused = Browser::default().log_in(addresses[0], "ben", PASSWORD)?;
    must(refused == 403, &format!("an operator who was removed logs in: {refused}"))?;
    rig.replicas[0].amend(&json!({ "admin": { "users": { "ann": HASH, "ben": HASH } } }))?;
    until(BACK, || logged_in(addresses[0], "ben").ok())
        .ok_or("ben cannot log in again")?
        .is_in(addresses[2])?;
    logged_in(addresses[0], "ann").map(drop)
}

/// The store is away, and comes back empty.
fn without_store(
    rig: &mut Rig<'_>,
    addresses: &[SocketAddr],
    ann: &mut Browser,
    link_before: &str,
) -> Result<(), String> {
    let early = logged_in(addresses[0], "ann")?;
    early.clone().submit(addresses[0], "/admin/logout", "")?;
    becomes_out(&early, addresses, KNOWN)?;
    let known = ends(rig).ok_or("the store has no ends of logins")?;
    rig.store.kill();
    for at in addresses {
        must(ann.is_in(*at)?, &format!("ann is logged out at {at} without the store"))?;
    }
    let mut late = logged_in(addresses[1], "ann")?;
    must(late.is_in(addresses[2])?, "a login without the store is not valid at another replica")?;
    let refused = enter(addresses[1], link_before)?;
    must(refused == 503, &format!("a link whose use cannot be recorded: {refused}"))?;
    let own = link(rig, 2)?;
    must(enter(addresses[2], &own)? == 303, "a link made without the store does not work at its replica")?;
    let window = late.clone();
    late.submit(addresses[1], "/admin/logout", "")?;
    becomes_out(&window, &addresses[1..2], Duration::ZERO)?;
    rig.store.start_again()?;
    becomes_out(&window, addresses, BACK)?;
    // A replica that has just started knows all ends, although the store had lost some of them.
    until(BACK, || ends(rig).filter(|ends| *ends > known))
        .ok_or("the ends of logins were not written again")?;
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    becomes_out(&window, addresses, KNOWN)?;
    becomes_out(&early, addresses, KNOWN)?;
    must(ann.is_in(addresses[2])?, "ann is logged out at a replica that was started again")?;
    let used = enter(addresses[2], link_before)?;
    must(used == 303, &format!("a link that was refused without the store: {used}"))
}

/// Failed logins at different replicas count together.
fn lock_out(addresses: &[SocketAddr]) -> Result<(), String> {
    for at in [0, 1, 2, 0, 1].map(|number| addresses[number]) {
        let refused = Browser::default().log_in(at, "ann", "wrong")?;
        must(refused == 403, &format!("a wrong password at {at}: {refused}"))?;
    }
    // A login that succeeds would clear the count, so nobody can look before the time in which the replicas must know.
    thread::sleep(KNOWN);
    for at in addresses {
        let status = Browser::default().log_in(*at, "ann", PASSWORD)?;
        must(status == 429, &format!("the address is not locked out at {at}: {status}"))?;
    }
    Ok(())
}
