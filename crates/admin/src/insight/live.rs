//! Events as they happen: recorded calls, changes in servers' states, and figures. If there are too many calls, or if a reader is too
//! slow, the reader learns how many calls were left out. This module must not know how events are sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::catalogue::UpstreamId;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::calls::RecordedCall;
use super::consents;
use super::keys::key_names;
use super::limits::{LimitInUse, counted};
use super::moment::PointInTime;
use gateway::admission::audit::{AuditEntry, WatchedCalls, WatchedCounts, WatchedShare};
use gateway::key_names::KeyNames;
use gateway::process::{Shard, Thread};

/// The interval at which servers' states are read again.
const LOOK: Duration = Duration::from_secs(1);

/// The number of state checks between two events with figures.
const FIGURES: u32 = 5;

/// The minimum interval at which the names of keys are read again.
const RENEWAL: Duration = Duration::from_secs(2);

/// The maximum number of readers at a time.
pub(crate) const MOST_READERS: usize = 32;

/// An event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "event")]
pub(crate) enum LiveEvent {
    /// A request has ended.
    Call(LiveCall),
    /// The state of a server has changed.
    State(LiveState),
    /// Figures, every 5 seconds.
    Figures(LiveFigures),
    /// Calls were left out, because there were too many, or because the reader was too slow.
    Dropped(DroppedEvents),
}

impl LiveEvent {
    /// Returns the name of the event.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Call(_) => "call",
            Self::State(_) => "state",
            Self::Figures(_) => "figures",
            Self::Dropped(_) => "dropped",
        }
    }
}

/// A request that has ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveCall {
    pub(crate) call: Box<RecordedCall>,
}

/// A server's new state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveState {
    pub(crate) server: String,
    pub(crate) state: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) since: PointInTime,
}

/// Figures at one moment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveFigures {
    pub(crate) at: PointInTime,
    /// The number of requests that have ended since the previous figures.
    pub(crate) calls: u64,
    /// The number of requests that have failed since the previous figures.
    pub(crate) errors: u64,
    pub(crate) limits: Vec<LimitInUse>,
}

/// A number of calls that were left out.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DroppedEvents {
    pub(crate) number: u64,
}

/// The events for one reader. While a reader exists, calls are observed even if they are not recorded.
pub(crate) struct LiveEvents {
    pub(crate) thread: Arc<Thread>,
    pub(crate) calls: Receiver<Arc<AuditEntry>>,
    pub(crate) _watched: WatchedCalls,
    pub(crate) looks: Interval,
    pub(crate) looked: u32,
    /// For each server, the number of its state changes that were already seen.
    pub(crate) seen: HashMap<UpstreamId, u64>,
    /// The counts at the time of the previous figures.
    pub(crate) counted: WatchedCounts,
    /// The number of omitted calls that were already reported to the reader.
    pub(crate) told: u64,
    pub(crate) share: WatchedShare,
    /// A call whose caller's name is being looked up.
    pub(crate) pending: Option<Arc<AuditEntry>>,
    /// The names of keys, and the time when they were read.
    pub(crate) names: (KeyNames, Option<Instant>),
    /// Events that were found together, and are returned one after the other.
    pub(crate) ready: Vec<LiveEvent>,
}

impl LiveEvents {
    /// Starts to observe; returns `None` if there are too many readers.
    pub(crate) fn start(thread: &Arc<Thread>, wanted: WatchedShare) -> Option<Self> {
        let shard = thread.now();
        let (watched, calls) = shard.call.state.audit.watch(MOST_READERS, wanted)?;
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut events = Self {
            thread: thread.clone(),
            calls,
            _watched: watched,
            looks,
            looked: 0,
            seen: HashMap::new(),
            counted: shard.call.state.audit.watched(),
            share: wanted,
            told: shard.call.state.audit.watched().left_out,
            pending: None,
            names: (KeyNames::default(), None),
            ready: Vec::new(),
        };
        // The first look only notes the states; the reader can request them.
        events.look(&shard);
        events.ready.clear();
        Some(events)
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> Option<LiveEvent> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(event);
            }
            if let Some(entry) = self.pending.clone() {
                self.look_up(&entry.principal).await;
                self.pending = None;
                let call = RecordedCall::of_entry(&self.names.0, AuditEntry::clone(&entry));
                return Some(LiveEvent::Call(LiveCall { call: Box::new(call) }));
            }
            tokio::select! {
                call = self.calls.recv() => match call {
                    Ok(entry) => self.pending = Some(entry),
                    Err(RecvError::Lagged(number)) => return Some(LiveEvent::Dropped(DroppedEvents { number })),
                    Err(RecvError::Closed) => return None,
                },
                _ = self.looks.tick() => self.look(&self.thread.now()),
            }
        }
    }

    /// Reads the names of keys again if this caller is unknown, but not too often.
    async fn look_up(&mut self, principal: &str) {
        if self.names.0.lacks(principal) && self.names.1.is_none_or(|at| at.elapsed() >= RENEWAL) {
            self.names = (key_names(&self.thread.now()).await, Some(Instant::now()));
        }
    }

    fn look(&mut self, shard: &Shard) {
        let upstreams = shard.view.state.upstreams.all();
        for one in upstreams.iter() {
            let server = &one.common.server;
            let changes = server.health.changes();
            if self.seen.insert(server.spec.id, changes) == Some(changes) {
                continue;
            }
            let health = server.health.report();
            let per_caller = consents::of_each_caller(shard, server);
            self.ready.push(LiveEvent::State(LiveState {
                server: one.common.name().to_string(),
                state: if per_caller.is_some() { consents::PER_CALLER } else { health.word.name() },
                reason: per_caller.or(Some(health.cause.detail)).filter(|detail| !detail.is_empty()),
                since: PointInTime::at(health.since),
            }));
        }
        let is_there = |id: &UpstreamId| upstreams.iter().any(|one| one.common.server.spec.id == *id);
        self.seen.retain(|id, _| is_there(id));
        let now = shard.call.state.audit.watched();
        let number = now.left_out.saturating_sub(std::mem::replace(&mut self.told, now.left_out));
        if number > 0 && self.share == WatchedShare::Readable {
            self.ready.push(LiveEvent::Dropped(DroppedEvents { number }));
        }
        self.looked += 1;
        if self.looked.is_multiple_of(FIGURES) {
            let before = std::mem::replace(&mut self.counted, now);
            let limits = counted(shard);
            self.ready.push(LiveEvent::Figures(LiveFigures {
                at: PointInTime::now(),
                calls: now.calls.saturating_sub(before.calls),
                errors: now.errors.saturating_sub(before.errors),
                limits,
            }));
        }
    }
}
