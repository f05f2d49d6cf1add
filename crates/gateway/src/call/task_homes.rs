//! Tasks that need the link on which they were started. Each has a number, and is kept as long as clients ask about
//! it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::task_home::Home;

/// All tasks that need their link, by number.
pub(crate) struct Homes {
    rules: Mutex<HomeRules>,
    residents: Mutex<HashMap<u64, Resident>>,
}

/// The maximum number of tasks, and the time for which each is kept after the last request about it.
#[derive(Clone, Copy)]
struct HomeRules {
    max: usize,
    lifetime: Duration,
}

struct Resident {
    home: Arc<Home>,
    until: Instant,
}

impl Homes {
    /// Creates a table of at most `max` tasks. A task is kept until no client has asked about it for `lifetime`.
    pub(crate) fn new(max: usize, lifetime: Duration) -> Self {
        Self { rules: Mutex::new(HomeRules { max, lifetime }), residents: Mutex::default() }
    }

    /// Changes the maximum number of tasks, and the time for which they are kept. Tasks already in the table stay.
    pub(crate) fn follow(&self, max: usize, lifetime: Duration) {
        *self.rules.lock() = HomeRules { max, lifetime };
    }

    fn rules(&self) -> HomeRules {
        *self.rules.lock()
    }

    /// Returns true if another task can be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.residents.lock().len() < self.rules().max
    }

    /// Keeps a task.
    pub(crate) fn keep(&self, number: u64, home: Arc<Home>) {
        let until = Instant::now() + self.rules().lifetime;
        self.residents.lock().insert(number, Resident { home, until });
    }

    /// Returns the task with this number.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Home>> {
        let mut homes = self.residents.lock();
        let resident = homes.get_mut(&number)?;
        resident.until = Instant::now() + self.rules().lifetime;
        resident.home.touch();
        Some(resident.home.clone())
    }

    /// Gives up the tasks without a recent request from a client.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let late: Vec<Resident> = {
            let mut homes = self.residents.lock();
            homes.extract_if(|_, resident| resident.until <= now).map(|(_, resident)| resident).collect()
        };
        for Resident { home, .. } in late {
            tracing::info!(server = %home.server(), "abandoned a task: no client has asked about it for {:?}", self.rules().lifetime);
            home.give_up();
        }
    }
}
