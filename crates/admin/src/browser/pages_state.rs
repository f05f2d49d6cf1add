//! The state that the pages keep between requests. The process holds one such state, and each part of it has a
//! maximum size. This module must not know how a page looks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use pages::model::DoctorPage;
use parking_lot::Mutex;

use super::played_call::{PlayedCall, PlayedRequest};
use super::self_test::RunningTest;
use crate::insight::usage::{Usage, usage};
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The time for which gathered figures are reused, because gathering them takes a while.
const FRESH: Duration = Duration::from_secs(5);

/// The maximum number of calls that are kept for the playground.
const RUNS: usize = 32;

/// The maximum number of kept self-tests.
const TESTS: usize = 16;

/// A day, the period of the figures beside servers, tools and keys.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// The gathered figures and the time at which they were gathered, by the length of their period.
type GatheredUsage = HashMap<Duration, (Instant, Arc<Usage>)>;

/// The state of the pages.
#[derive(Default)]
pub(crate) struct PagesState {
    /// The gathered figures; there is one entry for each length of a period.
    usage: Mutex<GatheredUsage>,
    /// The results of the last checks.
    pub(super) doctor: Mutex<Option<DoctorPage>>,
    /// The calls that operators made, the oldest first.
    runs: Mutex<VecDeque<Arc<PlayedCall>>>,
    /// The self-tests, the oldest first.
    tests: Mutex<VecDeque<Arc<RunningTest>>>,
    /// The number of open streams.
    pub(super) streams: AtomicUsize,
}

impl PagesState {
    /// Returns the figures about the last `period`; they are at most some seconds old.
    ///
    /// # Errors
    /// Fails if the record cannot be read.
    pub(super) async fn usage(&self, shard: &Arc<Shard>, period: Duration) -> Result<Arc<Usage>, Refusal> {
        if let Some((at, known)) = self.usage.lock().get(&period)
            && at.elapsed() < FRESH
        {
            return Ok(known.clone());
        }
        let gathered = Arc::new(usage(shard, period).await?);
        self.usage.lock().insert(period, (Instant::now(), gathered.clone()));
        Ok(gathered)
    }

    /// Returns the call with this id.
    pub(super) fn run(&self, id: &str) -> Option<Arc<PlayedCall>> {
        self.runs.lock().iter().find(|run| run.id == id).cloned()
    }

    /// Begins a call. If the maximum number of calls is kept, the oldest call that has ended is removed first.
    ///
    /// # Errors
    /// Fails if too many calls are running.
    pub(super) fn play(
        &self,
        shard: &Arc<Shard>,
        (owner, operator): (Arc<str>, &str),
        wanted: PlayedRequest,
    ) -> Result<Arc<PlayedCall>, Refusal> {
        let id = random_id()?;
        let mut runs = self.runs.lock();
        if runs.len() >= RUNS {
            let over = runs.iter().position(|run| run.is_over());
            let busy = || {
                Refusal::new(
                    429,
                    "TOO_MANY_RUNS",
                    format!("{RUNS} calls of the playground are running; cancel some"),
                )
            };
            runs.remove(over.ok_or_else(busy)?);
        }
        let run = PlayedCall::begin(shard, (id, owner, operator), wanted);
        runs.push_back(run.clone());
        Ok(run)
    }

    /// Returns the self-test with this id.
    pub(super) fn test(&self, id: &str) -> Option<Arc<RunningTest>> {
        self.tests.lock().iter().find(|test| test.id == id).cloned()
    }

    /// Begins a self-test. If the maximum number of self-tests is kept, the oldest one is removed first.
    ///
    /// # Errors
    /// Fails if too many tests are running.
    pub(super) fn begin_test(
        &self,
        shard: &Shard,
        owner: Arc<str>,
        (profile, client): (String, String),
    ) -> Result<Arc<RunningTest>, Refusal> {
        let id = random_id()?;
        let process = &shard.gateway.process;
        let busy = || Refusal::new(429, "TOO_MANY_TESTS", "too many self-tests are running; stop some");
        let mut tests = self.tests.lock();
        tests.retain(|test| !test.is_over() || !is_of(test, &owner));
        if tests.len() >= TESTS {
            tests.pop_front();
        }
        let watched = process.arrivals.watch().ok_or_else(busy)?;
        let test = RunningTest::begin((id, owner, (profile, client)), watched, process.stop.clone());
        tests.push_back(test.clone());
        Ok(test)
    }
}

/// Returns true if the session with this token began the test.
fn is_of(test: &RunningTest, owner: &Arc<str>) -> bool {
    Arc::ptr_eq(&test.owner, owner) || test.owner == *owner
}

/// Returns an unguessable id.
///
/// # Errors
/// Fails if the operating system's random number generator fails.
pub(super) fn random_id() -> Result<String, Refusal> {
    let mut random = [0; 16];
    let failed = |_| Refusal::internal("the operating system's random number generator failed");
    getrandom::fill(&mut random).map_err(failed)?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}
