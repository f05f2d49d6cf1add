//! The operations on the record of calls, and live events. This module must not know how calls are recorded.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use config::Management;
use proto::codec::sse::{KEEP_ALIVE, encode_event};
use store::audit::{CallOutcome, Query};
use tokio::time::{MissedTickBehavior, interval};
use transport::net::{Body, BodySender};

use super::super::answers::ok;
use super::super::request::{Door, ManagementRequest};
use super::super::table::{Answered, Operation, QueryKind, get, now, query};
use crate::insight::calls::{self, CallPage, CallSummary, GROUPS, RecordedCall};
use crate::insight::in_progress::{self, CallsNow};
use crate::insight::keys::key_names;
use crate::insight::live::{DroppedEvents, LiveEvent, LiveEvents, MOST_READERS};
use crate::insight::moment::PointInTime;
use crate::insight::shared_calls::{self, SharedCallPage};
use gateway::admission::audit::WatchedShare;
use gateway::changes::Refusal;
use gateway::front::http::answer;
use gateway::process::{Shard, Thread};
use gateway::session::until::OpenStreamEntry;

/// The number of events that may wait for a reader; further events are dropped and counted.
const WAITING: usize = 256;

/// The time between two comments that show that the stream is alive, and between two checks of the reader's rights.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The longest period before now that a query can cover, in seconds.
const LONGEST: u64 = 400 * 24 * 60 * 60;

const OUTCOMES: &[&str] = &["ok", "error", "denied", "unknown"];

pub(super) const OPERATIONS: &[Operation] = &[
    get("/api/calls", "listCalls", "Lists recorded calls, the newest first. In patterns, `*` and `?` match characters.", |request| {
        Box::pin(list(request))
    })
    .asking(&[
        query("sinceSeconds", QueryKind::Number(0, LONGEST), "Only calls that arrived at most this many seconds ago."),
        query("untilSeconds", QueryKind::Number(0, LONGEST), "Only calls that arrived more than this many seconds ago."),
        query("principal", QueryKind::Text, "A pattern for the principal."),
        query("profile", QueryKind::Text, "A pattern for the profile."),
        query("server", QueryKind::Text, "A pattern for the server."),
        query("tool", QueryKind::Text, "A pattern for the tool."),
        query("method", QueryKind::Text, "A pattern for the method."),
        query("client", QueryKind::Text, "A pattern for the client's name, or for its name and version."),
        query("address", QueryKind::Text, "A pattern for the client's address."),
        query("text", QueryKind::Text, "Only calls whose tool or recorded arguments contain this text."),
        query("outcome", QueryKind::Word(OUTCOMES), "Only calls with this outcome."),
        query("before", QueryKind::Number(0, i64::MAX as u64), "Only calls recorded before the one with this number."),
        query("limit", QueryKind::Number(1, 1000), "The maximum number of calls; 100 if omitted."),
    ])
    .giving::<CallPage>(),
    get("/api/replicas/calls", "listCallsOfAllGateways", "Lists recorded calls of all gateways of the cluster, the newest first. In patterns, `*` and `?` match characters.", |request| {
        Box::pin(list_of_all(request))
    })
    .asking(&[
        query("sinceSeconds", QueryKind::Number(0, LONGEST), "Only calls that arrived at most this many seconds ago."),
        query("untilSeconds", QueryKind::Number(0, LONGEST), "Only calls that arrived more than this many seconds ago."),
        query("principal", QueryKind::Text, "A pattern for the principal."),
        query("profile", QueryKind::Text, "A pattern for the profile."),
        query("server", QueryKind::Text, "A pattern for the server."),
        query("tool", QueryKind::Text, "A pattern for the tool."),
        query("method", QueryKind::Text, "A pattern for the method."),
        query("client", QueryKind::Text, "A pattern for the client's name and version."),
        query("address", QueryKind::Text, "A pattern for the client's address."),
        query("text", QueryKind::Text, "Only calls whose tool contains this text."),
        query("outcome", QueryKind::Word(OUTCOMES), "Only calls with this outcome."),
        query("before", QueryKind::Text, "The text that the previous page has named as `older`."),
        query("limit", QueryKind::Number(1, 1000), "The maximum number of calls; 100 if omitted."),
    ])
    .giving::<SharedCallPage>(),
    get("/api/calls/summary", "summarizeCalls", "Counts recorded calls by one of their properties, with durations.", |request| {
        Box::pin(summary(request))
    })
    .asking(&[
        query("by", QueryKind::Word(GROUPS), "The property; `server` if omitted."),
        query("sinceSeconds", QueryKind::Number(1, LONGEST), "The length of the period, in seconds; a day if omitted."),
    ])
    .giving::<CallSummary>(),
    get(
        "/api/calls/running",
        "listRunningCalls",
        "Lists the calls that run, wait for their turn, or wait for an answer from their client; the oldest first.",
        |request| Box::pin(running(request)),
    )
    .giving::<CallsNow>(),
    get("/api/calls/{call}", "getCall", "Shows one recorded call.", |request| Box::pin(show(request)))
        .giving::<RecordedCall>(),
    get(
        "/api/events",
        "streamEvents",
        "Streams events as they happen: calls, changes in servers' states, and figures. A slow reader loses events.",
        |request| now(events(request)),
    )
    .asking(&[query("kinds", QueryKind::Text, "The kinds of events, separated by commas: call, state, figures.")])
    .streaming::<LiveEvent>(),
];

async fn list(request: &mut ManagementRequest) -> Answered {
    let before = request.number("before").and_then(|id| i64::try_from(id).ok());
    let query = Query { before, ..filter(request) };
    Ok(ok(&calls::calls(&request.shard, query).await?))
}

async fn list_of_all(request: &mut ManagementRequest) -> Answered {
    let before = request.chosen("before");
    Ok(ok(&shared_calls::calls(&request.shard, filter(request), before.as_deref()).await?))
}

/// Returns the conditions in a request.
fn filter(request: &ManagementRequest) -> Query {
    let ago =
        |name: &str| request.number(name).map(|seconds| PointInTime::before(Duration::from_secs(seconds)).0);
    Query {
        since_ms: ago("sinceSeconds"),
        until_ms: ago("untilSeconds"),
        principal: request.chosen("principal"),
        profile: request.chosen("profile"),
        upstream: request.chosen("server"),
        tool: request.chosen("tool"),
        methods: request.chosen("method").into_iter().collect(),
        client: request.chosen("client"),
        address: request.chosen("address"),
        text: request.chosen("text"),
        outcome: request.chosen("outcome").and_then(|word| word.parse::<CallOutcome>().ok()),
        limit: request.number("limit").and_then(|limit| u32::try_from(limit).ok()).unwrap_or(100),
        ..Query::default()
    }
}

async fn summary(request: &mut ManagementRequest) -> Answered {
    let by = request.chosen("by").unwrap_or_else(|| GROUPS[0].to_owned());
    let since = Duration::from_secs(request.number("sinceSeconds").unwrap_or(24 * 60 * 60));
    Ok(ok(&calls::summary(&request.shard, PointInTime::before(since), &by).await?))
}

async fn show(request: &mut ManagementRequest) -> Answered {
    let id = request.named("call").parse();
    let id =
        id.map_err(|_| Refusal::new(404, "CALL_NOT_FOUND", "the number of a call must consist of digits"))?;
    Ok(ok(&calls::call(&request.shard, id).await?))
}

fn events(request: &ManagementRequest) -> Answered {
    let (shard, wanted) = (&request.shard, request.chosen("kinds").unwrap_or_default());
    let thread = shard.thread();
    let events = thread.as_ref().and_then(|thread| LiveEvents::start(thread, WatchedShare::All));
    let (Some(events), Some(thread)) = (events, thread) else {
        let message = format!("{MOST_READERS} readers of events are open, which is the maximum; close some");
        return Err(Refusal::new(429, "TOO_MANY_READERS", message));
    };
    let (sender, body) = Body::channel(WAITING);
    let reader = EventReader {
        sender,
        dropped: 0,
        kinds: wanted.split(',').map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty()).collect(),
        holding: OpenStreamEntry::new(&shard.session.state.holders, &request.identity, "GET /api/events"),
        admitted: (request.door == Door::Network).then(|| rules(shard)),
        thread,
    };
    // The task ends when the reader is gone or no longer admitted, or when the gateway stops.
    transport::task::spawn(send(events, reader));
    Ok(answer::events(body))
}

/// Returns the rules by which a reader over the network is admitted.
fn rules(shard: &Shard) -> (Option<Management>, u64) {
    (shard.gateway.standing.config().management.clone(), shard.gateway.snapshot.regime)
}

/// A reader of events.
struct EventReader {
    sender: BodySender,
    /// The number of events that were dropped and not reported yet.
    dropped: u64,
    /// The names of the events to send; if empty, all events are sent.
    kinds: Vec<String>,
    /// The entry in the list of open streams. A stream ends when the credentials that opened it are no longer
    /// valid.
    holding: OpenStreamEntry,
    /// The rules by which the reader was admitted; `None` for the local user.
    admitted: Option<(Option<Management>, u64)>,
    thread: Arc<Thread>,
}

impl EventReader {
    fn wants(&self, event: &LiveEvent) -> bool {
        self.kinds.is_empty()
            || event.name() == "dropped"
            || self.kinds.iter().any(|kind| kind == event.name())
    }

    /// Returns true if the rules by which the reader was admitted are still in force.
    fn is_admitted(&self) -> bool {
        self.admitted.as_ref().is_none_or(|admitted| *admitted == rules(&self.thread.now()))
    }

    /// Sends an event, or counts it if the reader is too slow.
    fn send(&mut self, event: &LiveEvent) {
        if self.dropped > 0 {
            let dropped = LiveEvent::Dropped(DroppedEvents { number: self.dropped });
            if self.sender.try_send(encoded(&dropped)).is_ok() {
                self.dropped = 0;
            }
        }
        if self.dropped > 0 || self.sender.try_send(encoded(event)).is_err() {
            self.dropped += 1;
        }
    }
}

fn encoded(event: &LiveEvent) -> Bytes {
    let mut bytes = BytesMut::new();
    encode_event(&mut bytes, Some(event.name()), None, None, &serde_json::to_vec(event).unwrap_or_default());
    bytes.freeze()
}

async fn send(mut events: LiveEvents, mut reader: EventReader) {
    let stop = reader.thread.now().gateway.process.stop.clone();
    let held = reader.holding.held.clone();
    let mut alive = interval(SIGN_OF_LIFE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) if reader.wants(&event) => reader.send(&event),
                Some(_) => {}
                None => return,
            },
            _ = alive.tick() => {
                // A full channel shows that the reader is alive, or the connection's own deadline ends it.
                drop(reader.sender.try_send(Bytes::from_static(KEEP_ALIVE)));
                if !reader.is_admitted() {
                    return;
                }
            }
            () = held.revoked() => return,
            () = stop.stopped() => return,
        }
        if reader.sender.is_gone() {
            return;
        }
    }
}

/// Answers `GET /api/calls/running`.
async fn running(request: &mut ManagementRequest) -> Answered {
    let names = key_names(&request.shard).await;
    Ok(ok(&in_progress::calls(&request.shard, &names)))
}
