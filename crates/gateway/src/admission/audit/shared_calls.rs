//! The record of calls of all gateways of a cluster: the writer hands over the entries that it has written, and a task appends them to
//! the cluster's journal, many at once. No call waits for the store. Entries that the store cannot take in time are dropped and counted.
//! This module must not know how entries are shown.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cluster::Cluster;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::audit::{AuditEntry, RecordedReason};
use tokio::sync::Notify;
use transport::net::Stop;

/// The maximum number of entries that wait to be sent.
const WAITING: usize = 8192;

/// The maximum number of calls in an entry of the journal, and their maximum size in bytes.
const MOST: (usize, usize) = (50, 16 << 10);

/// The time for which further entries are gathered after the first one.
const GATHER: Duration = Duration::from_millis(300);

/// The time after a failure until the next attempt.
const AGAIN: Duration = Duration::from_secs(1);

/// The entries that wait to be sent to the other gateways.
#[derive(Default)]
pub(super) struct SharedCalls {
    waiting: Mutex<WaitingCalls>,
    arrived: Notify,
    /// True while the gateway belongs to a cluster.
    is_on: AtomicBool,
    lost: AtomicU64,
}

#[derive(Default)]
struct WaitingCalls {
    calls: VecDeque<SharedCall>,
    /// The number of entries that were dropped since the last batch.
    lost: u64,
    /// The time for which the record keeps entries.
    keep: Duration,
    /// The number of batches.
    number: u64,
}

/// Calls of one gateway, as an entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallBatch {
    /// The name of the gateway.
    pub gateway: String,
    /// The id of the gateway's process.
    pub process: String,
    /// The number of the batch, so that a copy is recognized.
    pub number: u64,
    /// The number of calls before this batch that could not be sent.
    pub lost: u64,
    /// The calls, in the order in which they were recorded.
    pub calls: Vec<SharedCall>,
}

/// A call without its arguments, which stay in the record of its gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedCall {
    at: u64,
    principal: String,
    profile: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    method: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    duration: u64,
    request: u64,
    response: u64,
    tries: u32,
    waited: u64,
    cached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason_text: Option<String>,
}

impl SharedCall {
    fn of(entry: &AuditEntry) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        Self {
            at: entry.at_ms,
            principal: entry.principal.to_string(),
            profile: entry.profile.to_string(),
            server: text(&entry.upstream),
            tool: text(&entry.tool),
            method: entry.method.to_string(),
            outcome: entry.outcome.as_str().to_owned(),
            code: entry.code,
            duration: entry.duration_us,
            request: entry.request_bytes,
            response: entry.response_bytes,
            tries: entry.tries,
            waited: entry.waited_us,
            cached: entry.cached,
            address: text(&entry.address),
            client: text(&entry.client),
            reason: entry.reason.as_ref().map(|reason| reason.kind.as_str().to_owned()),
            reason_text: entry.reason.as_ref().map(|reason| reason.text.to_string()),
        }
    }

    /// Returns the call as an entry of the record; `None` if a newer version has another kind of outcome.
    pub fn entry(self) -> Option<AuditEntry> {
        Some(AuditEntry {
            at_ms: self.at,
            principal: self.principal.into(),
            profile: self.profile.into(),
            upstream: self.server.map(Into::into),
            tool: self.tool.map(Into::into),
            method: Cow::Owned(self.method),
            outcome: self.outcome.parse().ok()?,
            code: self.code,
            duration_us: self.duration,
            request_bytes: self.request,
            response_bytes: self.response,
            tries: self.tries,
            waited_us: self.waited,
            cached: self.cached,
            arguments: None,
            address: self.address.map(Into::into),
            client: self.client.map(Into::into),
            // A newer version may know other kinds.
            reason: self.reason.and_then(|kind| kind.parse().ok()).map(|kind| {
                Box::new(RecordedReason { kind, text: self.reason_text.unwrap_or_default().into() })
            }),
        })
    }

    /// The approximate size of the call in the journal.
    fn size(&self) -> usize {
        let texts = [&self.server, &self.tool, &self.address, &self.client, &self.reason_text];
        let optional: usize = texts.into_iter().flatten().map(String::len).sum();
        200 + self.principal.len() + self.profile.len() + self.method.len() + optional
    }
}

impl SharedCalls {
    /// Takes over entries that were written to the record, which keeps them for some time.
    pub(super) fn take(&self, entries: &[AuditEntry], keep: Duration) {
        if entries.is_empty() || !self.is_on.load(Relaxed) {
            return;
        }
        let mut waiting = self.waiting.lock();
        waiting.keep = keep;
        waiting.calls.extend(entries.iter().map(SharedCall::of));
        let extra = waiting.calls.len().saturating_sub(WAITING);
        waiting.calls.drain(..extra);
        waiting.lost += extra as u64;
        drop(waiting);
        self.lost.fetch_add(extra as u64, Relaxed);
        self.arrived.notify_one();
    }

    /// Returns the number of entries that could not be sent.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Sends entries to the journal until the gateway stops.
    pub(super) async fn send(&self, cluster: &Cluster, stop: &Stop) {
        self.is_on.store(true, Relaxed);
        loop {
            tokio::select! {
                () = self.arrived.notified() => {}
                () = stop.stopped() => break,
            }
            tokio::time::sleep(GATHER).await;
            while let Some((batch, keep)) = self.next(cluster) {
                let sent = match serde_json::to_vec(&batch) {
                    Ok(text) => cluster.append_to_journal(&text, keep).await,
                    Err(_) => continue,
                };
                let Err(error) = sent else { continue };
                tracing::debug!("calls wait until the cluster's store can take them: {error}");
                self.put_back(batch);
                tokio::select! {
                    () = tokio::time::sleep(AGAIN) => {}
                    () = stop.stopped() => return,
                }
            }
        }
        self.is_on.store(false, Relaxed);
    }

    fn next(&self, cluster: &Cluster) -> Option<(CallBatch, Duration)> {
        let me = cluster.me();
        self.batch(&me.name, &me.id)
    }

    fn batch(&self, gateway: &str, process: &str) -> Option<(CallBatch, Duration)> {
        let mut waiting = self.waiting.lock();
        let (mut calls, mut size) = (Vec::new(), 0);
        while calls.len() < MOST.0 && size < MOST.1 {
            let Some(call) = waiting.calls.pop_front() else { break };
            size += call.size();
            calls.push(call);
        }
        if calls.is_empty() {
            return None;
        }
        waiting.number += 1;
        let (number, lost, keep) = (waiting.number, mem::take(&mut waiting.lost), waiting.keep);
        let batch =
            CallBatch { gateway: gateway.to_owned(), process: process.to_owned(), number, lost, calls };
        Some((batch, keep))
    }

    /// Lets the calls of a batch wait again. If too many wait, the oldest are dropped.
    fn put_back(&self, batch: CallBatch) {
        let mut waiting = self.waiting.lock();
        waiting.lost += batch.lost;
        for call in batch.calls.into_iter().rev() {
            if waiting.calls.len() < WAITING {
                waiting.calls.push_front(call);
            } else {
                waiting.lost += 1;
                self.lost.fetch_add(1, Relaxed);
            }
        }
        self.arrived.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use store::audit::ReasonKind;

    use super::super::tests::entry;
    use super::*;

    fn waiting(count: usize) -> SharedCalls {
        let calls = SharedCalls::default();
        calls.is_on.store(true, Relaxed);
        let entries: Vec<AuditEntry> = (0..count).map(entry).collect();
        calls.take(&entries, Duration::from_secs(7));
        calls
    }

    #[test]
    fn calls_are_sent_in_their_order_and_without_arguments() {
        let reason = RecordedReason { kind: ReasonKind::Timeout, text: "late".into() };
        let secret = AuditEntry {
            arguments: Some("{\"secret\":1}".to_owned()),
            reason: Some(Box::new(reason)),
            ..entry(7)
        };
        let calls = waiting(0);
        calls.take(std::slice::from_ref(&secret), Duration::from_secs(7));
        let (batch, keep) = calls.batch("gw", "00aa").unwrap();
        assert_eq!(
            (keep, batch.number, batch.lost, calls.batch("gw", "00aa")),
            (Duration::from_secs(7), 1, 0, None)
        );
        let text = serde_json::to_string(&batch).unwrap();
        assert!(!text.contains("secret"), "{text}");
        let read: CallBatch = serde_json::from_str(&text).unwrap();
        assert_eq!(read.calls[0].clone().entry(), Some(AuditEntry { arguments: None, ..secret }));
        let batches: Vec<CallBatch> = {
            let calls = waiting(120);
            std::iter::from_fn(|| calls.batch("gw", "00aa").map(|(batch, _)| batch)).collect()
        };
        let tools: Vec<_> =
            batches.iter().flat_map(|batch| &batch.calls).map(|call| call.tool.clone().unwrap()).collect();
        assert_eq!(tools, (0..120).map(|number| format!("tool-{number}")).collect::<Vec<_>>());
        assert!(batches.iter().all(|batch| batch.calls.len() <= MOST.0));
    }

    #[test]
    fn calls_beyond_the_cap_are_dropped_and_counted_once() {
        let calls = waiting(WAITING + 3);
        assert_eq!(calls.lost(), 3);
        let (batch, _) = calls.batch("gw", "00aa").unwrap();
        assert_eq!((batch.lost, batch.calls[0].tool.as_deref()), (3, Some("tool-3")));
        let count = batch.calls.len();
        // The store did not take the batch, and as many calls have arrived meanwhile.
        calls.take(&(0..count - 1).map(entry).collect::<Vec<_>>(), Duration::ZERO);
        calls.put_back(batch);
        assert_eq!(calls.lost(), 3 + count as u64 - 1);
        let (batch, _) = calls.batch("gw", "00aa").unwrap();
        assert_eq!((batch.lost, batch.number), (3 + count as u64 - 1, 2));
    }

    #[test]
    fn nothing_waits_without_a_cluster() {
        let calls = SharedCalls::default();
        calls.take(&[entry(1)], Duration::ZERO);
        assert_eq!(calls.batch("gw", "00aa"), None);
    }
}
