//! The calls that run or wait now, for operators. The table is kept only if there are operators. This module must not
//! know how a call is performed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

/// The number of parts of the table. Each part has its own lock, so threads rarely wait for each other.
const PARTS: usize = 8;

/// The stage of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStage {
    /// The call waits until another call of its server has ended.
    Waits,
    /// The call runs.
    Runs,
    /// The call waits for its client, which has to answer a question.
    Asks,
}

/// The facts about a call in progress.
#[derive(Debug, Clone)]
pub struct CallInProgress {
    /// The time at which the call began.
    pub since: Instant,
    /// The stage.
    pub stage: CallStage,
    /// The method.
    pub method: Cow<'static, str>,
    /// The tool by the name that clients use, if a tool is called.
    pub tool: Option<Arc<str>>,
    /// The server.
    pub server: Arc<str>,
    /// The caller.
    pub principal: Arc<str>,
    /// The client's name and version, if they are known.
    pub client: Option<Arc<str>>,
}

/// The calls in progress of a process.
#[derive(Default)]
pub struct CallsInProgress {
    is_on: AtomicBool,
    next: AtomicU64,
    parts: [Mutex<BTreeMap<u64, CallInProgress>>; PARTS],
}

/// A call's entry in the table; dropping it removes the entry.
pub(crate) struct CallEntry {
    table: Arc<CallsInProgress>,
    number: u64,
    is_asking: AtomicBool,
}

impl CallsInProgress {
    /// Begins or ends keeping the table. Calls that are already running are not added.
    pub(crate) fn keep(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Adds a call, if the table is kept.
    pub(crate) fn enter(self: &Arc<Self>, call: impl FnOnce() -> CallInProgress) -> Option<CallEntry> {
        if !self.is_on.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.part(number).lock().insert(number, call());
        Some(CallEntry { table: self.clone(), number, is_asking: AtomicBool::new(false) })
    }

    /// Returns all calls, the oldest first.
    pub fn listed(&self) -> Vec<CallInProgress> {
        let mut all: Vec<CallInProgress> = Vec::new();
        for part in &self.parts {
            all.extend(part.lock().values().cloned());
        }
        all.sort_by_key(|call| call.since);
        all
    }

    fn part(&self, number: u64) -> &Mutex<BTreeMap<u64, CallInProgress>> {
        let at = usize::try_from(number % PARTS as u64).unwrap_or_default();
        &self.parts[at]
    }
}

impl CallEntry {
    /// Changes the call's stage.
    pub(crate) fn set(&self, stage: CallStage) {
        self.is_asking.store(stage == CallStage::Asks, Ordering::Relaxed);
        if let Some(call) = self.table.part(self.number).lock().get_mut(&self.number) {
            call.stage = stage;
        }
    }

    /// Notes that the server works again, if the call was waiting for its client.
    pub(crate) fn goes_on(&self) {
        if self.is_asking.load(Ordering::Relaxed) {
            self.set(CallStage::Runs);
        }
    }
}

impl Drop for CallEntry {
    fn drop(&mut self) {
        let removed = self.table.part(self.number).lock().remove(&self.number);
        // The texts are freed after the lock.
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str) -> CallInProgress {
        CallInProgress {
            since: Instant::now(),
            stage: CallStage::Waits,
            method: "tools/call".into(),
            tool: Some(tool.into()),
            server: "render".into(),
            principal: "key:abc".into(),
            client: None,
        }
    }

    #[test]
    fn calls_are_listed_from_their_beginning_to_their_end() {
        let table = Arc::new(CallsInProgress::default());
        assert!(table.enter(|| call("unseen")).is_none(), "nobody looks");
        table.keep(true);
        let entries: Vec<CallEntry> = (0..20).filter_map(|n| table.enter(|| call(&n.to_string()))).collect();
        entries[3].set(CallStage::Runs);
        let listed = table.listed();
        let names: Vec<String> =
            listed.iter().filter_map(|one| one.tool.as_deref()).map(str::to_owned).collect();
        assert_eq!(names, (0..20).map(|n| n.to_string()).collect::<Vec<_>>(), "the oldest first");
        let running: Vec<_> = listed.iter().filter(|one| one.stage == CallStage::Runs).collect();
        assert_eq!((running.len(), running[0].tool.as_deref()), (1, Some("3")));
        let stage = || table.listed()[3].stage;
        entries[3].set(CallStage::Asks);
        assert_eq!(stage(), CallStage::Asks);
        entries[3].goes_on();
        assert_eq!(stage(), CallStage::Runs);
        entries[3].set(CallStage::Waits);
        entries[3].goes_on();
        assert_eq!(stage(), CallStage::Waits, "only a call that asks goes on");
        drop(entries);
        assert!(table.listed().is_empty());
    }
}
