//! A call's turn at its server: the call runs immediately, or waits until another call has ended. This module must
//! not know links.

use std::time::Instant;

use engine::{Condition, Fault};
use proto::json::quote;
use proto::rpc::code;
use upstream::Upstream;
use upstream::concurrency::{QueueEntry, QueuedCall, RunningCall};
use upstream::quota::QuotaError;

use super::caller::Caller;
use super::input::CallInput;
use super::lazy_deadline::LazyDeadline;
use super::waiting_client::WaitingClient;

/// A call's turn at its server.
pub(crate) enum CallTurn {
    /// The call waits for its turn.
    Waits(QueuedCall),
    /// The call runs, and counts toward the server's limit while this value is held.
    Runs { _held: RunningCall },
    /// The call waits for its client, or has ended.
    Over,
}

impl CallTurn {
    /// Returns the turn of a new call. A client with an unanswered question may make another call; that call does
    /// not queue behind the call that waits for the answer.
    ///
    /// # Errors
    /// Returns the fault to answer with if too many calls are already waiting.
    pub(super) fn of(caller: &Caller, upstream: &Upstream) -> Result<Self, Fault> {
        if let Some(held) = upstream.server.concurrency.begin() {
            return Ok(Self::Runs { _held: held });
        }
        let is_asked = matches!(caller, Caller::Session(session) if !session.asks.lock().is_empty());
        if is_asked {
            return Ok(Self::joined(upstream));
        }
        match upstream.server.concurrency.wait(caller.identity().holder()) {
            Ok(QueueEntry::Runs(held)) => Ok(Self::Runs { _held: held }),
            Ok(QueueEntry::Waits(queued)) => {
                tracing::debug!(server = %upstream.name(), "a call waits for its turn");
                Ok(Self::Waits(queued))
            }
            Err(full) => Err(refusal(upstream, &full)),
        }
    }

    /// Returns the turn of a call that continues because its client has answered.
    pub(super) fn joined(upstream: &Upstream) -> Self {
        Self::Runs { _held: upstream.server.concurrency.join() }
    }

    /// Waits for the call's turn; if another event ends the wait, returns that event.
    pub(super) async fn take(
        &mut self,
        upstream: &Upstream,
        client: &mut WaitingClient,
        deadline: Instant,
    ) -> Option<CallInput> {
        let Self::Waits(queued) = self else {
            *self = Self::joined(upstream);
            return None;
        };
        let held = tokio::select! {
            held = queued.turn() => held,
            notice = client.cancellation() => {
                *self = Self::Over;
                return Some(CallInput::Cancelled(notice));
            }
            () = LazyDeadline::new(deadline) => return Some(CallInput::Late),
        };
        *self = Self::Runs { _held: held };
        None
    }

    /// Returns the message for a call whose turn did not come in time.
    pub(super) fn overdue(upstream: &Upstream) -> String {
        let most = upstream.server.concurrency.most();
        format!(
            "is at its limit of concurrent calls ({most}, `concurrentCalls`), and none of the running calls ended in time"
        )
    }

    /// Returns true if the call is running.
    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Runs { .. })
    }

    /// Returns true if the call waits for another call to end.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Waits(_))
    }
}

/// Returns the fault for a call above the limit.
fn refusal(upstream: &Upstream, full: &QuotaError) -> Fault {
    let (most, server) = (upstream.server.concurrency.most(), upstream.name());
    let (whose, count, key) = match full {
        QuotaError::Whole(count) => ("", count, "`waitingCalls`"),
        QuotaError::Own(_, count) => (" from this caller", count, "a quarter of `waitingCalls`"),
    };
    let message = format!(
        "server {server:?} is at its limit of concurrent calls ({most}, `concurrentCalls`), and its queue is full ({count} \
         waiting{whose}; the limit is {key}); call again later"
    );
    let data = format!("{{\"server\":{},\"retry\":true,\"executed\":\"no\"}}", quote(server));
    let fault = Fault::client(code::REFUSED, message).about(Condition::RateLimited, "").with_status(429);
    Fault { retry: true, ..fault.with_data(data) }
}
