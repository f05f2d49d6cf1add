//! Event streams of the replica that ends: clients that were cut off resume them at other replicas. The cases `orphans`, `handed-over` and
//! `hostile-store` use these clients.

use crate::chaos::client::{Client, Era, EventStream, Failure};
use crate::chaos::stage::SOON;
use crate::cluster::rig::{Rig, session_eras};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The number of notes of each call: the server sends a log message and a progress notification for each.
const NOTES: u64 = 20;

/// The number of messages that a client reads before it is cut off.
const READ: usize = 3;

/// The number of changes that the session's streams announce, and that the client does not read.
const CHANGES: usize = 3;

/// The time within which events must be in the store.
const COPIED: Duration = Duration::from_millis(500);

/// The time within which a killed replica must be known to be gone.
const GONE: Duration = Duration::from_secs(15);

/// A call whose stream was cut off.
pub(super) struct CutCall {
    pub(super) client: Arc<Client>,
    nonce: String,
    id: u64,
    /// The messages that the client has received, with the ids of their events.
    read: Vec<(Option<String>, Value)>,
    pub(super) last: String,
}

#[expect(clippy::needless_pass_by_value, reason = "passed to `map_err`")]
fn told(why: Failure) -> String {
    format!("{why:?}")
}

impl CutCall {
    /// Begins a call, and leaves its stream after some messages. The call ends without its client.
    pub(super) fn begin(client: Arc<Client>) -> Result<Self, String> {
        Self::left(client, "up__talk", READ)
    }

    /// Begins a call of a tool, and leaves its stream after this many messages.
    fn left(client: Arc<Client>, tool: &str, messages: usize) -> Result<Self, String> {
        let (nonce, id, mut stream) =
            client.call_stream(tool, json!({ "notes": NOTES }), SOON).map_err(told)?;
        let next = |_| stream.next().map_err(told)?.ok_or_else(|| "the stream has ended".to_owned());
        let read = (0..messages).map(next).collect::<Result<Vec<_>, _>>()?;
        let last = stream.last.clone().ok_or("the events have no ids")?;
        Ok(Self { client, nonce, id, read, last })
    }

    /// Resumes the stream at another replica.
    pub(super) fn resumed(&self, address: SocketAddr) -> Result<EventStream, Failure> {
        self.client.resumed(address).stream_after(Some(&self.last), SOON)
    }

    /// Resumes the stream at another replica, which must send the rest of it, once and in order, with the answer at its end.
    pub(super) fn ends_at(&self, address: SocketAddr) -> Result<usize, String> {
        let version = self.client.era.version;
        let rest = self.resumed(address).and_then(|mut stream| stream.rest());
        let rest = rest.map_err(|why| format!("{version} cannot resume its call: {why:?}"))?;
        let all: Vec<_> = self.read.iter().chain(&rest).collect();
        in_order(&all).map_err(|why| format!("the call of {version}: {why}"))?;
        let params =
            |method: &str| all.iter().filter(|(_, message)| message["method"] == method).count() as u64;
        let notes = (params("notifications/message"), params("notifications/progress"));
        let text = rest.last().map(|(_, message)| (message["id"].as_u64(), message["result"].to_string()));
        let is_answered = text.is_some_and(|(id, text)| id == Some(self.id) && text.contains(&self.nonce));
        if notes != (NOTES, NOTES) || !is_answered {
            return Err(format!("the call of {version} got {notes:?} notes, then {:?}", rest.last()));
        }
        Ok(rest.len())
    }
}

/// Checks that the events of one stream follow one another without a gap.
fn in_order(messages: &[&(Option<String>, Value)]) -> Result<(), String> {
    let ids: Vec<_> = messages.iter().filter_map(|(id, _)| id.as_deref()).collect();
    let number = |id: &&str| id.split('-').nth(1).and_then(|number| number.parse::<u64>().ok());
    let numbers: Vec<_> = ids.iter().filter_map(number).collect();
    if ids.len() == messages.len() && numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
        return Ok(());
    }
    Err(format!("the events of {} messages have the ids {ids:?}", messages.len()))
}

/// Clients whose streams are at the replica that ends.
pub(super) struct CutClients {
    calls: Vec<CutCall>,
    /// Calls that wait for their clients' answers when the replica ends.
    running: Vec<CutCall>,
    /// The streams of sessions, each with the id of the last event that its client has read.
    sessions: Vec<(Arc<Client>, String)>,
    /// The streams that clients do not read.
    unread: Vec<EventStream>,
}

impl CutClients {
    /// Opens sessions of all versions at a replica. If `is_killed` is true, some of their calls still run when the replica ends.
    pub(super) fn begin(rig: &Rig<'_>, address: SocketAddr, is_killed: bool) -> Result<Self, String> {
        let mut cut = Self { calls: vec![], running: vec![], sessions: vec![], unread: vec![] };
        for era in session_eras() {
            let client = rig.stage.client_at(address, era, None)?;
            cut.calls.push(CutCall::begin(client)?);
            let client = rig.stage.client_at(address, era, None)?;
            cut.unread.push(client.stream_after(None, SOON).map_err(told)?);
            cut.sessions.push((client, String::new()));
        }
        // Each stream announces a change, which its client reads, and more changes, which it does not read.
        let watch = rig.stage.client_at(address, Era::NEWEST_SESSION, None)?;
        watch.listen().map_err(told)?;
        for change in 0..=CHANGES {
            let before = watch.hearing.count(CHANGED);
            rig.up.switch(&format!("tool=news{change}"))?;
            if !watch.hearing.more_than(before, CHANGED, SOON) {
                return Err(format!("change {change} is not announced"));
            }
            if change == 0 {
                for ((_, last), stream) in cut.sessions.iter_mut().zip(&mut cut.unread) {
                    stream.next().map_err(told)?;
                    *last = stream.last.clone().ok_or("the events of a session have no ids")?;
                }
            }
        }
        if is_killed {
            for era in session_eras() {
                let client = rig.stage.askable_at(address, era, &json!({ "sampling": {} }))?;
                cut.running.push(CutCall::left(client, "up__ask", 1)?);
            }
        }
        thread::sleep(COPIED);
        Ok(cut)
    }

    /// Resumes all streams at the other replicas; returns figures.
    pub(super) fn resume(&mut self, rig: &Rig<'_>, others: &[SocketAddr]) -> Result<String, String> {
        let begun = Instant::now();
        self.unread.clear();
        let mut events = 0;
        for call in &self.calls {
            for address in others {
                events += call.ends_at(*address)?;
            }
        }
        let mut streams = Vec::new();
        for (client, last) in &self.sessions {
            let mut stream = client.resumed(others[0]).stream_after(Some(last), SOON).map_err(told)?;
            events += session_goes_on(&mut stream, last)
                .map_err(|why| format!("the stream of a session of {}: {why}", client.era.version))?;
            streams.push(stream);
        }
        let took = begun.elapsed().as_millis();
        rig.up.switch("tool=last")?;
        for stream in &mut streams {
            changed(stream).map_err(|why| format!("a stream does not go on: {why}"))?;
        }
        Ok(format!("{events} events sent again within {took} ms"))
    }

    /// Resumes the calls that were running when the replica was killed: each of them ends with an error.
    pub(super) fn running_calls_end(&self, address: SocketAddr) -> Result<(), String> {
        self.running.iter().try_for_each(|call| ends_with_error(call, address))
    }
}

const CHANGED: &str = "notifications/tools/list_changed";

/// Reads the next announcement of a change; returns the id of its event.
fn changed(stream: &mut EventStream) -> Result<String, String> {
    loop {
        let (id, message) = stream.next().map_err(told)?.ok_or("it has ended")?;
        if message["method"] == CHANGED {
            return id.ok_or_else(|| "an event has no id".to_owned());
        }
    }
}

/// Checks that a session's stream continues with the events that its client has missed, and then with events of this replica. The first
/// of these announces that the list may have changed.
fn session_goes_on(stream: &mut EventStream, last: &str) -> Result<usize, String> {
    let parts = |id: &str| {
        let mut parts = id.split('-').skip(1).map(str::to_owned);
        let number = parts.next().and_then(|number| number.parse::<usize>().ok());
        number.zip(parts.next()).ok_or_else(|| format!("the id {id}"))
    };
    let (number, epoch) = parts(last)?;
    for missed in 1..=CHANGES {
        let id = changed(stream)?;
        if parts(&id)? != (number + missed, epoch.clone()) {
            return Err(format!("missed event {missed} after {last} has the id {id}"));
        }
    }
    let id = changed(stream)?;
    if parts(&id)?.1 == epoch {
        return Err(format!("the event {id} after {last} was never sent"));
    }
    Ok(CHANGES)
}

/// Resumes a call that was running when its replica was killed: once the replica is known to be gone, the call ends with an error.
fn ends_with_error(call: &CutCall, address: SocketAddr) -> Result<(), String> {
    let begun = Instant::now();
    let mut stream = loop {
        match call.resumed(address) {
            Ok(stream) => break stream,
            Err(Failure::Refused(why)) if why.starts_with("503") && begun.elapsed() < GONE => {
                thread::sleep(Duration::from_millis(200));
            }
            Err(why) => return Err(format!("a call that was running: {why:?}")),
        }
    };
    let rest = stream.rest().map_err(told)?;
    match &rest[..] {
        [(None, message)]
            if message["id"].as_u64() == Some(call.id)
                && message["error"]["message"]
                    .as_str()
                    .is_some_and(|text| text.contains("the answer was lost"))
                && message["error"]["data"]["executed"] == "maybe" =>
        {
            Ok(())
        }
        other => Err(format!("a call that was running ended with {other:?}")),
    }
}
