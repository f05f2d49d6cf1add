//! The replica at which calls wait for their clients ends: it is killed, or asked to end.

use super::Case;
use super::resumed::CutClients;
use crate::chaos::client::{Client, Era, Failure};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::rig::Rig;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[
    Case {
        name: "orphans",
        title: "the replica at which calls wait for answers is killed: other replicas continue those whose servers give event ids, each once; other calls end with a clear error; event streams go on with the events that their clients have missed",
        run: killed,
    },
    Case {
        name: "handed-over",
        title: "the replica at which calls wait for answers is asked to end: other replicas continue those whose servers give event ids, each once, and event streams with the events that their clients have missed",
        run: ended,
    },
    Case {
        name: "paused-owner",
        title: "the replica at which calls wait stands still, and another one continues a call: the first one does not cancel it later, but cancels a call that nobody has continued",
        run: paused,
    },
];

/// The time within which a killed replica must be known to be gone.
const GONE: Duration = Duration::from_secs(15);

/// The number of calls that can be continued.
const CALLS: usize = 6;

/// A call that waits for its client's answer.
struct Waiting {
    client: Arc<Client>,
    nonce: String,
    /// The params of the retry with the answer.
    retry: Value,
}

impl Waiting {
    /// Begins a call, which the server answers with a question.
    fn begin(rig: &Rig<'_>, address: SocketAddr, tool: &str) -> Result<Self, String> {
        Self::begin_for(rig, address, (tool, Duration::ZERO))
    }

    /// Begins a call that takes this time after its question was answered.
    fn begin_for(
        rig: &Rig<'_>,
        address: SocketAddr,
        (tool, takes): (&str, Duration),
    ) -> Result<Self, String> {
        let client = rig.stage.askable_at(address, Era::STATELESS, &json!({ "sampling": {} }))?;
        let nonce = client.hearing.nonce();
        let params = json!({ "name": tool, "arguments": { "nonce": nonce, "ms": u64::try_from(takes.as_millis()).unwrap_or(0) } });
        let asked = client.round("tools/call", &params, SOON).map_err(|why| format!("{tool}: {why:?}"))?;
        if asked["resultType"] != "input_required" {
            return Err(format!("{tool} asks nothing: {asked}"));
        }
        let retry = client.with_answers(&params, &asked);
        Ok(Self { client, nonce, retry })
    }

    /// Sends the answer to a replica until the call is decided there.
    fn answered(&self, address: SocketAddr) -> Result<Value, String> {
        let (client, begun) = (self.client.resumed(address), Instant::now());
        loop {
            match client.round("tools/call", &self.retry, SOON) {
                Ok(result) => return Ok(result),
                Err(Failure::Refused(why)) if why.starts_with("503") && begun.elapsed() < GONE => {
                    thread::sleep(Duration::from_millis(200));
                }
                Err(Failure::Refused(why) | Failure::Lost(why)) => return Err(why),
            }
        }
    }
}

fn killed(rig: &mut Rig<'_>) -> Result<String, String> {
    run(rig, true)
}

fn ended(rig: &mut Rig<'_>) -> Result<String, String> {
    run(rig, false)
}

/// The time for which calls wait for their clients: longer than a replica must be silent until it is considered gone, and shorter than
/// the server waits for an answer.
const WAITS: Duration = Duration::from_secs(17);

/// The time that the continued call takes after its answer.
const TAKES: Duration = Duration::from_secs(7);

fn paused(rig: &mut Rig<'_>) -> Result<String, String> {
    let ids = rig.stage.started("ids", &["--era", "handshake"])?;
    ids.switched("event-ids")?;
    let waits = format!("{}s", WAITS.as_secs());
    let keys = json!({ "limits": { "listWait": "10s", "requestStateLifetime": waits } });
    rig.start_passing_on_amended(&json!({ "ids": ids.over_http() }), &keys)?;
    let addresses = rig.addresses();
    let begun =
        [TAKES, Duration::ZERO].map(|takes| Waiting::begin_for(rig, addresses[0], ("ids__ask", takes)));
    let [continued, forgotten] = begun;
    let (continued, _forgotten) = (continued?, forgotten?);
    rig.replicas[0].signal(Signal::STOP);
    let answer = thread::scope(|scope| {
        let answered = scope.spawn(|| continued.answered(addresses[1]));
        let went_on = rig.replicas[1].says("continuing a call", 0, GONE);
        // The call is still running when the first replica gives it up.
        rig.replicas[0].signal(Signal::CONT);
        answered
            .join()
            .map_err(|_| "a client panicked".to_owned())
            .and_then(|answer| went_on.map(|()| answer))
    })?;
    decided_once(&continued, &[answer])?;
    // Calls that were continued are given up at the same time as the others.
    rig.replicas[0].says("abandoned a call: its client did not answer", 1, WAITS + SOON)?;
    until(SOON, || (ids.recorded("cancelled") > 0).then_some(()))
        .ok_or("a call that nobody continues is not cancelled")?;
    rig.replicas[0].end()?;
    match ids.recorded("cancelled") {
        1 => Ok("one of two calls was cancelled".to_owned()),
        more => Err(format!("{more} calls were cancelled, although one was continued elsewhere")),
    }
}

fn run(rig: &mut Rig<'_>, is_killed: bool) -> Result<String, String> {
    let ids = rig.stage.started("ids", &["--era", "handshake"])?;
    ids.switched("event-ids")?;
    let bare = rig.stage.started("bare", &["--era", "handshake"])?;
    let kid = rig.stage.upstream("kid", &[])?;
    rig.start_passing_on(
        &json!({ "ids": ids.over_http(), "bare": bare.over_http(), "kid": kid.over_stdio() }),
    )?;
    let addresses = rig.addresses();
    let asked = |tool: &str| Waiting::begin(rig, addresses[0], tool);
    let calls = (0..CALLS).map(|_| asked("ids__ask")).collect::<Result<Vec<_>, _>>()?;
    let lost = [asked("bare__ask")?, asked("kid__ask")?];
    let mut cut = CutClients::begin(rig, addresses[0], is_killed)?;
    let size = calls[0].retry["requestState"].as_str().map_or(0, str::len);
    let begun = Instant::now();
    if is_killed {
        rig.replicas[0].kill();
    } else {
        rig.replicas[0].end()?;
    }
    let others = &addresses[1..];
    let sent_again = cut.resume(rig, others)?;
    thread::scope(|scope| {
        // Both other replicas get the retry at the same time.
        let one =
            |call| others.iter().map(move |address| scope.spawn(move || Waiting::answered(call, *address)));
        let answered: Vec<Vec<_>> = calls.iter().map(|call| one(call).collect()).collect();
        let ended: Vec<_> = lost.iter().map(|call| scope.spawn(|| call.answered(others[0]))).collect();
        for (call, answers) in calls.iter().zip(answered) {
            let answers = answers.into_iter().map(|one| one.join().map_err(|_| "a client panicked"));
            decided_once(call, &answers.collect::<Result<Vec<_>, _>>()?)?;
        }
        for end in ended {
            match end.join().map_err(|_| "a client panicked")? {
                Err(why) if why.contains("has ended") && why.contains("may have been executed") => {}
                other => return Err(format!("a call that cannot be continued ended with {other:?}")),
            }
        }
        Ok(())
    })?;
    let took = begun.elapsed();
    cut.running_calls_end(others[0])?;
    let executed = ids.executions(|tool| tool == "ask");
    if executed.len() != CALLS || calls.iter().any(|call| executed.get(&call.nonce) != Some(&1)) {
        return Err(format!("{CALLS} calls were executed so often: {executed:?}"));
    }
    Ok(format!(
        "{CALLS} calls continued {} ms after the replica's end, with states of {size} characters; 2 ended with an error; {sent_again}",
        took.as_millis()
    ))
}

/// Checks that one replica has continued a call, and that the other one has refused it.
fn decided_once(call: &Waiting, answers: &[Result<Value, String>]) -> Result<(), String> {
    let good: Vec<_> = answers.iter().flatten().collect();
    let is_answer = |result: &&Value| {
        result["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains(&call.nonce) && !text.ends_with("nobody"))
    };
    let is_refusal = |why: &String| why.contains("no longer waiting");
    if good.len() == 1
        && good.iter().all(is_answer)
        && answers.iter().filter_map(|answer| answer.as_ref().err()).all(is_refusal)
    {
        return Ok(());
    }
    Err(format!("the replicas answered a retry with {answers:?}"))
}
