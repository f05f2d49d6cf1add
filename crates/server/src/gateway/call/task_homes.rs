//! Tasks that need the link over which they were begun, by number, until nobody asks for them any more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::task_home::Home;

/// All such tasks.
pub(crate) struct Homes {
    max: usize,
    lifetime: Duration,
    residents: Mutex<HashMap<u64, Resident>>,
}

struct Resident {
    home: Arc<Home>,
    until: Instant,
}

impl Homes {
    /// At most `max`, each until nobody has asked for it for `lifetime`.
    pub(crate) fn new(max: usize, lifetime: Duration) -> Self {
        Self { max, lifetime, residents: Mutex::default() }
    }

    /// Returns true if another would be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.residents.lock().len() < self.max
    }

    /// Keeps one.
    pub(crate) fn keep(&self, number: u64, home: Arc<Home>) {
        let until = Instant::now() + self.lifetime;
        self.residents.lock().insert(number, Resident { home, until });
    }

    /// The one with this number.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Home>> {
        let mut homes = self.residents.lock();
        let resident = homes.get_mut(&number)?;
        resident.until = Instant::now() + self.lifetime;
        Some(resident.home.clone())
    }

    /// Lets go of those that nobody asks for. What they wait for is given up.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let late: Vec<Resident> = {
            let mut homes = self.residents.lock();
            homes.extract_if(|_, resident| resident.until <= now).map(|(_, resident)| resident).collect()
        };
        for Resident { home, .. } in late {
            tracing::info!(server = %home.server(), "nobody asked for a task for {:?}; it is given up", self.lifetime);
            home.give_up();
        }
    }
}
