//! The links that calls and tasks hold while they wait for their clients, and the choice of the link that is given
//! up when others need one. This module must not know what a call is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::quota::Holder;

/// The age at which a call that waits for its client gives up its link to another call of the same caller. By then,
/// a person has had time to answer, and the caller itself has started another call.
const OWN_AGE: Duration = Duration::from_secs(10);

/// The age at which a call that waits for its client, or a task that no client polls, gives up its link to other
/// callers.
pub const AGE: Duration = Duration::from_mins(1);

/// The time for which a caller must have waited before another caller's call gives up its link.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two checks of whether a task has ended.
const TASK_LOOK: Duration = Duration::from_secs(5);

/// The minimum time between two requests to give up a link. Within this time, the link that was requested first may
/// become free.
const PACE: Duration = Duration::from_secs(1);

/// A call or task that waits for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DormantWork {
    /// A call whose question its client has to answer.
    Call,
    /// A task whose client has to poll it.
    Task,
}

/// A caller that needs a link.
#[derive(Debug)]
pub struct LinkRequester<'a> {
    /// The caller, if it is known.
    pub holder: Option<&'a Holder>,
    /// The time for which the caller has already waited.
    pub waited: Duration,
}

/// The links of one server that calls or tasks hold while they wait for their clients.
#[derive(Default)]
pub struct DormantLinks {
    state: Mutex<DormantState>,
}

#[derive(Default)]
struct DormantState {
    next: u64,
    sleepers: BTreeMap<u64, SleeperState>,
    /// The time at which a call or task was last requested to give up its link.
    asked: Option<Instant>,
}

struct SleeperState {
    work: DormantWork,
    holder: Holder,
    touched: Instant,
    asked: Option<Instant>,
    wake: Arc<Notify>,
}

impl SleeperState {
    fn makes_way(&self, demand: &LinkRequester<'_>, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.touched);
        let is_own = demand.holder == Some(&self.holder);
        match (self.work, self.asked) {
            (DormantWork::Call, Some(_)) => false,
            (DormantWork::Call, None) => {
                (is_own && age >= OWN_AGE) || (age >= AGE && demand.waited >= PATIENCE)
            }
            (DormantWork::Task, asked) => {
                let looked = asked.map_or(age, |asked| now.saturating_duration_since(asked));
                age >= TASK_LOOK && looked >= TASK_LOOK
            }
        }
    }
}

/// The hold on a dormant link; the link stays dormant as long as this value exists.
pub struct Dormant {
    links: Arc<DormantLinks>,
    number: u64,
    wake: Arc<Notify>,
}

impl DormantLinks {
    /// Records that a link waits for a client.
    pub fn sleep(self: &Arc<Self>, work: DormantWork, holder: Holder, now: Instant) -> Dormant {
        let wake = Arc::new(Notify::new());
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let entry = SleeperState { work, holder, touched: now, asked: None, wake: wake.clone() };
        state.sleepers.insert(number, entry);
        Dormant { links: self.clone(), number, wake }
    }

    /// Returns the number of dormant links.
    pub fn count(&self) -> usize {
        self.state.lock().sleepers.len()
    }

    /// Requests the call or task that has waited longest to give up its link; returns false if none may be
    /// requested.
    pub fn make_way(&self, demand: &LinkRequester<'_>, now: Instant) -> bool {
        let mut state = self.state.lock();
        if state.asked.is_some_and(|asked| now.saturating_duration_since(asked) < PACE) {
            return false;
        }
        let oldest = state.sleepers.values_mut().filter(|entry| entry.makes_way(demand, now));
        let Some(entry) = oldest.min_by_key(|entry| entry.touched) else { return false };
        entry.asked = Some(now);
        entry.wake.notify_one();
        state.asked = Some(now);
        true
    }
}

impl Dormant {
    /// Completes once the call or task is requested to give up its link.
    pub async fn asked_to_leave(&self) {
        self.wake.notified().await;
    }

    /// Records that the client has polled, and continues to wait.
    pub fn touch(&self, now: Instant) {
        if let Some(entry) = self.links.state.lock().sleepers.get_mut(&self.number) {
            entry.touched = now;
        }
    }

    /// Returns the time since the client last polled.
    pub fn age(&self, now: Instant) -> Duration {
        let state = self.links.state.lock();
        let touched = state.sleepers.get(&self.number).map(|entry| entry.touched);
        touched.map_or(Duration::ZERO, |touched| now.saturating_duration_since(touched))
    }
}

impl Drop for Dormant {
    fn drop(&mut self) {
        self.links.state.lock().sleepers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Holder {
        Holder::Principal(name.into())
    }

    fn demand(holder: &Holder, waited: u64) -> LinkRequester<'_> {
        LinkRequester { holder: Some(holder), waited: Duration::from_secs(waited) }
    }

    fn asked(dormant: &Dormant) -> bool {
        let mut future = std::pin::pin!(dormant.asked_to_leave());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        future.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn a_caller_s_own_call_makes_way_after_a_short_time() {
        let (links, now, ann) = (Arc::new(DormantLinks::default()), Instant::now(), caller("ann"));
        let first = links.sleep(DormantWork::Call, ann.clone(), now);
        let second = links.sleep(DormantWork::Call, ann.clone(), now + Duration::from_secs(1));
        assert!(!links.make_way(&demand(&ann, 0), now + Duration::from_secs(9)));
        assert!(links.make_way(&demand(&ann, 0), now + Duration::from_secs(12)));
        assert!(asked(&first) && !asked(&second), "the oldest goes first");
        assert!(!links.make_way(&demand(&ann, 0), now + Duration::from_millis(12_500)), "one at a time");
        assert!(links.make_way(&demand(&ann, 0), now + Duration::from_secs(13)));
        assert!(asked(&second));
        drop((first, second));
        assert_eq!(links.count(), 0);
    }

    #[test]
    fn another_caller_s_call_makes_way_after_a_minute_and_only_for_somebody_who_waited() {
        let (links, now) = (Arc::new(DormantLinks::default()), Instant::now());
        let (ann, bob) = (caller("ann"), caller("bob"));
        let parked = links.sleep(DormantWork::Call, ann, now);
        assert!(!links.make_way(&demand(&bob, 30), now + Duration::from_secs(59)));
        assert!(!links.make_way(&demand(&bob, 9), now + Duration::from_secs(61)));
        assert!(!links.make_way(&LinkRequester { holder: None, waited: Duration::ZERO }, now + AGE));
        assert!(links.make_way(&demand(&bob, 10), now + Duration::from_secs(61)));
        assert!(asked(&parked));
        assert!(!links.make_way(&demand(&bob, 10), now + Duration::from_secs(99)), "it goes already");
    }

    #[test]
    fn a_task_is_looked_at_again_and_again_but_not_while_its_client_asks() {
        let (links, now, ann) = (Arc::new(DormantLinks::default()), Instant::now(), caller("ann"));
        let task = links.sleep(DormantWork::Task, ann.clone(), now);
        task.touch(now + Duration::from_secs(3));
        assert!(!links.make_way(&demand(&ann, 2), now + Duration::from_secs(7)));
        assert!(links.make_way(&demand(&ann, 2), now + Duration::from_secs(8)));
        assert!(asked(&task));
        assert!(!links.make_way(&demand(&ann, 2), now + Duration::from_secs(12)));
        assert!(links.make_way(&demand(&ann, 2), now + Duration::from_secs(13)));
        assert_eq!(task.age(now + Duration::from_secs(13)), Duration::from_secs(10));
    }
}
