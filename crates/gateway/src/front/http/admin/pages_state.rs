//! What the pages keep between requests. It belongs to the process, and all of it has a cap. This module must not know how a page looks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use pages::model::DoctorPage;
use parking_lot::Mutex;

use crate::changes::Refusal;
use crate::insight::usage::{Usage, usage};
use crate::process::Shard;

/// The time for which figures are shown again, because they take a while to gather.
const FRESH: Duration = Duration::from_secs(5);

/// A day, the period of the figures beside servers, tools and keys.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// Figures with the time when they were gathered, by the length of their period.
type GatheredUsage = HashMap<Duration, (Instant, Arc<Usage>)>;

/// The state of the pages.
#[derive(Default)]
pub(super) struct PagesState {
    /// There are as many entries as lengths of periods.
    usage: Mutex<GatheredUsage>,
    /// The results of the last checks.
    pub(super) doctor: Mutex<Option<DoctorPage>>,
    /// The number of open streams.
    pub(super) streams: AtomicUsize,
}

impl PagesState {
    /// Returns the state of the process's pages.
    pub(super) fn of(shard: &Shard) -> Arc<Self> {
        let kept = shard.gateway.process.pages.get_or_init(|| Arc::new(Self::default()));
        // Nobody else sets this value, so the type is always right.
        kept.clone().downcast().unwrap_or_default()
    }

    /// Returns the figures of the period of this length, at most some seconds old.
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
}
