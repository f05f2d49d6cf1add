//! Ten servers, with two variants: one of the servers hangs, or all of them list a thousand tools. Lists are
//! available in time in both cases.

use super::Scenario;
use crate::bench::procfs::precise;
use crate::chaos::client::{Client, Era};
use crate::chaos::measure::Times;
use crate::chaos::process::own_memory;
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage, Upstream};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "one-of-ten-hangs",
        fault: 11,
        title: "one of ten servers hangs: a list takes as long as with all healthy, the first one half a second more",
        variant: "",
        run: hangs,
    },
    Scenario {
        name: "ten-thousand-tools",
        fault: 0,
        title: "lists of 10 x 1 000 tools take at most 2 ms of the gateway's time a page, and memory for their bytes",
        variant: "",
        run: thousands,
    },
];

const NAMES: [&str; 10] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"];
/// The number of times that each client fetches the list after the first time.
const LISTS: usize = 40;
/// The time for which the first list may wait for a server that is not known yet; a busy machine needs additional
/// time.
const FIRST: Duration = Duration::from_millis(500);
const NOISE: Duration = Duration::from_millis(300);
/// The allowance for a busy machine in a median.
const LITTLE: Duration = Duration::from_millis(50);

fn ten(stage: &mut Stage<'_>, flags: &'static [&'static str]) -> Result<Vec<Upstream>, String> {
    NAMES.into_iter().map(|name| stage.started(name, flags)).collect()
}

fn serve(stage: &mut Stage<'_>, ups: &[Upstream], folder: &str) -> Result<(), String> {
    let entries: Vec<(&str, Value)> = ups.iter().map(|up| (up.name, up.over_http())).collect();
    let folder = stage.folder.join(folder);
    stage.serve(&entries, &json!({ "stateFolder": folder }))
}

fn hangs(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let ups = ten(stage, &[])?;
    serve(stage, &ups, "healthy")?;
    let healthy = contacts(stage, 10)?;
    if let Some(mut gateway) = stage.gateway.take() {
        gateway.end(SOON);
    }
    ups[4].switched("hang")?;
    serve(stage, &ups, "hanging")?;
    let hanging = contacts(stage, 9)?;
    ups[4].switched("")?;
    let told = |what: &str, (first, lists): &(Times, Times)| format!("{what}: first {first}; later {lists}");
    let line = format!("{}; {}", told("all healthy", &healthy), told("one hangs", &hanging));
    stage.log.note(&format!("one-of-ten-hangs: {line}"));
    let late = hanging.0.p99() > healthy.0.p99() + FIRST + NOISE;
    // A wait that every list has would be hidden by the allowance for noise, but not in the median.
    let slower = hanging.1.median() > healthy.1.median() * 3 + LITTLE;
    if late || slower || hanging.1.p99() > healthy.1.p99() * 3 + NOISE { Err(line) } else { Ok(()) }
}

/// Measures how long one client of each version waits for its first list and for later lists. Each list must
/// contain tools of at least this many servers.
fn contacts(stage: &Stage<'_>, servers: usize) -> Result<(Times, Times), String> {
    let (mut first, mut later) = (Times::default(), Times::default());
    for era in Era::ALL {
        let client = stage.client(era, &json!({}))?;
        for number in 0..=LISTS {
            let started = Instant::now();
            let names = client.names(SOON)?;
            let took = started.elapsed();
            if number == 0 {
                first.extend([took]);
            } else {
                later.extend([took]);
            }
            let shown = names.iter().filter(|name| name.ends_with("__read")).count();
            if shown < servers {
                return Err(format!("list {number} of {} shows {shown} servers", era.version));
            }
        }
    }
    Ok((first, later))
}

/// The maximum CPU time that the gateway may use for one page.
const PAGE: Duration = Duration::from_millis(2);
/// The factor for a build without optimization. In such a build, a page of 2 000 tools takes 5 ms instead of 0.8
/// ms, which is six times as long. This factor is smaller, to make sure that both builds stay well below the
/// guaranteed time.
const UNOPTIMIZED: u32 = 4;
/// The minimum and maximum number of times that each client fetches all pages; fetching ends when no page is late
/// any more. Only the fastest time of each page is used, because other work on the machine cannot make a page
/// faster.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=15;
/// The memory that the gateway may use in addition to the lists themselves, in KiB: 16 MiB for fetching and sending
/// them, and 0.8 KiB for the record of each of the 10 000 tools' definitions.
const BESIDE: u64 = (16 + 8) << 10;

fn thousands(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let ups = ten(stage, &["--more-tools", "1000"])?;
    serve(stage, &ups, "state")?;
    let before = own_memory(stage.pid());
    let (mut bytes, mut lines) = (0, Vec::new());
    let (mut cpu, mut late) = (Times::default(), Vec::new());
    // The short form takes one client of each transport.
    let some = [Era::ALL[2], Era::NEWEST_SESSION, Era::STATELESS];
    let all = if play.minutes.is_some() { &Era::ALL[..] } else { &some };
    let mut eras = 0;
    for era in all.iter().copied() {
        let client = stage.client(era, &json!({}))?;
        let shown = crate::chaos::process::until(3 * SOON, || {
            client.tools(SOON).ok().filter(|tools| tools.len() >= 10_000)
        });
        let tools = shown.ok_or_else(|| format!("{} is not shown all tools", era.version))?;
        bytes = bytes.max(Value::from(tools).to_string().len());
        eras += 1;
        let memory = own_memory(stage.pid());
        lines.push(format!("{}: {:.1} MiB", era.version, mib(memory.saturating_sub(before))));
        for (number, fastest) in fastest_pages(stage, &client)?.into_iter().enumerate() {
            cpu.extend([fastest]);
            if fastest > PAGE * UNOPTIMIZED {
                late.push(format!("page {number} of {} takes {fastest:.1?}", era.version));
            }
        }
    }
    let list = u64::try_from(bytes).unwrap_or(u64::MAX) >> 10;
    let line = format!(
        "a list of {:.1} MiB; memory beyond the start: {}; CPU time for a page: {cpu}; {late:?}",
        mib(list),
        lines.join(", ")
    );
    let most = list * (1 + eras) + BESIDE;
    // The memory for fetching lists and building views is returned once this is done.
    let at_rest = || own_memory(stage.pid()).saturating_sub(before);
    let is_little = crate::chaos::process::until(SOON, || (at_rest() <= most).then_some(())).is_some();
    let line = format!("{line}; at rest {:.1} MiB of at most {:.1}", mib(at_rest()), mib(most));
    stage.log.note(&format!("ten-thousand-tools: {line}"));
    if late.is_empty() && is_little { Ok(()) } else { Err(line) }
}

/// The shortest CPU time that the gateway used for each page of the list of tools.
fn fastest_pages(stage: &Stage<'_>, client: &Client) -> Result<Vec<Duration>, String> {
    let mut fastest: Vec<Duration> = Vec::new();
    for round in 0..*ROUNDS.end() {
        if round >= *ROUNDS.start() && fastest.iter().all(|&took| took <= PAGE * UNOPTIMIZED) {
            break;
        }
        let (mut params, mut shown) = (json!({}), 0);
        for number in 0.. {
            let used = precise(stage.pid());
            let page = client.request("tools/list", &params, SOON).map_err(|why| format!("{why:?}"))?;
            // The answer is sent; the work that the runtime does afterwards counts, too.
            thread::sleep(Duration::from_millis(20));
            let took = Duration::from_nanos(precise(stage.pid()).saturating_sub(used));
            // If a thread has ended in the meantime, nothing was measured.
            let took = if took.is_zero() { Duration::MAX } else { took };
            match fastest.get_mut(number) {
                Some(fastest) => *fastest = took.min(*fastest),
                None => fastest.push(took),
            }
            shown += page["tools"].as_array().map_or(0, Vec::len);
            params = json!({ "cursor": page["nextCursor"] });
            if page["nextCursor"].is_null() {
                break;
            }
        }
        if shown < 10_000 {
            return Err(format!("{} is shown {shown} tools", client.era.version));
        }
    }
    Ok(fastest)
}

#[expect(clippy::cast_precision_loss, reason = "no memory is that large")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
