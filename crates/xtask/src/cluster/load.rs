//! Clients that make calls without a pause while something happens, and the evaluation of their calls.

use super::rig::Rig;
use crate::chaos::client::{Called, Client, End};
use crate::chaos::stage::SOON;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time in ms that the upstream needs for every second call, so that some calls are always in progress.
const LATE: u64 = 40;

/// The time between two calls of a client.
const PAUSE: Duration = Duration::from_millis(20);

/// The number of clients that two processors serve without a noticeable wait.
const FEW: usize = 25;

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Made {
    version: &'static str,
    called: Called,
    begun: Instant,
    took: Duration,
}

/// Lets all clients make calls until `event` has returned.
pub(super) fn under_load<T>(
    clients: &[Arc<Client>],
    event: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Vec<Made>), String> {
    under_patient_load(clients, SOON, event)
}

/// Lets all clients, which wait for this time, make calls until `event` has returned.
pub(super) fn under_patient_load<T>(
    clients: &[Arc<Client>],
    patience: Duration,
    event: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Vec<Made>), String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        let caller = |client| scope.spawn(move || calls(client, patience, over));
        let callers: Vec<_> = clients.iter().map(caller).collect();
        let happened = event();
        over.store(true, Ordering::Relaxed);
        let made = callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect();
        happened.map(|value| (value, made))
    })
}

fn calls(client: &Arc<Client>, patience: Duration, over: &AtomicBool) -> Vec<Made> {
    let mut made = Vec::new();
    while !over.load(Ordering::Relaxed) {
        for (tool, arguments) in [("up__late", json!({ "ms": LATE })), ("up__write", json!({}))] {
            let begun = Instant::now();
            let called = client.call(tool, arguments, patience);
            made.push(Made { version: client.era.version, called, begun, took: begun.elapsed() });
            thread::sleep(PAUSE);
        }
    }
    made
}

/// The start and the end of an event during which calls may be interrupted.
pub(super) type Cut = (Instant, Instant);

/// Checks the calls: each ended within the time `within`; each answered call was executed; none was executed twice;
/// only calls that were in progress during `cut` may have failed. Returns figures.
pub(super) fn judged(
    rig: &Rig<'_>,
    made: &[Made],
    cut: Option<Cut>,
    within: Duration,
) -> Result<String, String> {
    let executed = rig.up.executions(|_| true);
    // All programs share the processors, so many clients wait for each other.
    let within = within * u32::try_from(rig.stage.clients.div_ceil(FEW)).unwrap_or(1);
    let (mut faults, mut count_cut) = (Vec::new(), 0);
    for Made { version, called, begun, took } in made {
        let times = executed.get(&called.nonce).copied().unwrap_or(0);
        if times > 1 {
            faults.push(format!("{} ran {times} times", called.nonce));
        }
        if *took > within {
            let ms = took.as_millis();
            faults.push(format!("{} of {version} took {ms} ms: {:?}", called.nonce, called.end));
        }
        match &called.end {
            End::Answered(_) if times == 0 => {
                faults.push(format!("{} was answered, not executed", called.nonce));
            }
            End::Answered(_) => {}
            End::Failed(_) | End::Lost(_)
                if cut.is_some_and(|(from, to)| *begun <= to && from <= *begun + *took) =>
            {
                count_cut += 1;
            }
            End::Failed(why) | End::Lost(why) => {
                let after = cut.map_or(0, |(_, to)| begun.saturating_duration_since(to).as_millis());
                faults.push(format!(
                    "{} of {version} failed, begun {after} ms after the fault: {why}",
                    called.nonce
                ));
            }
        }
    }
    if made.len() < 10 {
        faults.push(format!("only {} calls were made", made.len()));
    }
    let count = faults.len();
    faults.truncate(4);
    let longest = made.iter().map(|made| made.took).max().unwrap_or_default().as_millis();
    let figures = format!("{} calls, the longest {longest} ms, {count_cut} cut off", made.len());
    if faults.is_empty() { Ok(figures) } else { Err(format!("{count} of {figures}: {}", faults.join("; "))) }
}
