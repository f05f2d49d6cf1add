//! The clients of a soak run: how they connect, which tools they call, and how they disconnect.

use super::Stage;
use crate::chaos::client::{Client, End, Era, Way};
use crate::chaos::dice::Dice;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of clients that are active at the same time.
pub(super) const CALLERS: usize = 8;
/// The number of sessions that each caller keeps open and continues to use.
const STAYING: usize = 6;
/// The time after which a call must have ended.
const ENDS: Duration = Duration::from_secs(40);
/// The maximum pause of a caller between two visits, in milliseconds.
const PAUSE: usize = 1000;
/// The maximum number of faults that are reported.
const TOLD: usize = 5;

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) opened: AtomicUsize,
    pub(super) abandoned: AtomicUsize,
    pub(super) closed: AtomicUsize,
    pub(super) calls: AtomicUsize,
    pub(super) failed: AtomicUsize,
    first: Mutex<Vec<String>>,
}

impl Counts {
    /// A line about failures, if there were any.
    pub(super) fn faults(&self) -> Vec<String> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = self.failed.load(Ordering::Relaxed);
        let line = || format!("{failed} requests failed; {}", first.join("; "));
        (failed > 0).then(line).into_iter().collect()
    }

    fn fault(&self, why: String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.len() < TOLD {
            first.push(why);
        }
    }
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// Opens, uses and ends sessions until the run is over.
pub(super) fn visits(stage: &Stage<'_>, names: &[&str], number: usize, over: &AtomicBool, counts: &Counts) {
    let mut dice = Dice::new(7919 * (number as u64 + 1));
    let mut staying: VecDeque<Arc<Client>> = VecDeque::new();
    while !over.load(Ordering::Relaxed) {
        match stage.client(Era::ALL[dice.below(Era::ALL.len())], &capabilities(&mut dice)) {
            Ok(client) => {
                add(&counts.opened);
                visit(&client, names, &mut dice, counts);
                match dice.below(4) {
                    0 => leave(&client, counts),
                    1 => abandon(&client, names, &mut dice, counts),
                    _ => staying.push_back(client),
                }
            }
            Err(why) => counts.fault(why),
        }
        // One of the kept sessions is used, and the oldest ends if there are too many.
        if let Some(client) = staying.get(dice.below(staying.len())) {
            call(client, names, &mut dice, counts);
        }
        if staying.len() > STAYING
            && let Some(client) = staying.pop_front()
        {
            if dice.below(2) == 0 {
                leave(&client, counts);
            } else {
                abandon(&client, names, &mut dice, counts);
            }
        }
        thread::sleep(Duration::from_millis(u64::try_from(dice.below(PAUSE)).unwrap_or(0)));
    }
    for client in staying {
        leave(&client, counts);
    }
}

/// The capabilities of a client: half of them can be asked.
fn capabilities(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({ "sampling": {} }),
        1 => json!({ "sampling": {}, "elicitation": {} }),
        2 => json!({ "roots": {} }),
        _ => json!({}),
    }
}

/// Makes one visit: may open a stream, fetches lists, and calls some tools.
fn visit(client: &Arc<Client>, names: &[&str], dice: &mut Dice, counts: &Counts) {
    if dice.below(2) == 0
        && let Err(why) = client.listen()
    {
        counts.fault(format!("{} cannot listen: {why:?}", client.era.version));
    }
    match client.names(ENDS) {
        Ok(tools) if !tools.is_empty() => {}
        Ok(_) => counts.fault(format!("{} has no tools", client.era.version)),
        Err(why) => counts.fault(why),
    }
    for _ in 0..=dice.below(4) {
        call(client, names, dice, counts);
    }
}

fn call(client: &Client, names: &[&str], dice: &mut Dice, counts: &Counts) {
    let tool = ["read", "read", "write", "talk", "ask", "late", "payload"][dice.below(7)];
    let mut meta = json!({});
    if tool == "talk" {
        meta["progressToken"] = json!(1);
        if client.era.way == Way::Stateless {
            meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
    }
    let arguments = json!({ "notes": dice.below(20), "ms": dice.below(100), "bytes": dice.below(200_000) });
    let tool = format!("{}__{tool}", names[dice.below(names.len())]);
    let called = client.call_with(&tool, arguments, meta, ENDS);
    add(&counts.calls);
    if !matches!(called.end, End::Answered(_)) {
        counts.fault(format!("{tool} of {}: {}: {:?}", client.era.version, called.nonce, called.end));
    }
}

/// Ends the session.
fn leave(client: &Client, counts: &Counts) {
    client.close();
    add(&counts.closed);
}

/// Disconnects without ending the session; in half of the cases, during a call.
fn abandon(client: &Client, names: &[&str], dice: &mut Dice, counts: &Counts) {
    if dice.below(2) == 0 {
        let tool = format!("{}__late", names[dice.below(names.len())]);
        client.call(&tool, json!({ "ms": 300 }), Duration::from_millis(100));
    }
    client.abandon();
    add(&counts.abandoned);
}
