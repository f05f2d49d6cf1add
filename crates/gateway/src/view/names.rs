//! The names that profiles have given to tools and prompts. These names outlive views, configurations and, if catalogues are
//! stored, the process. This module must not know how a name is formed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Book, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::catalogue::{FormerNames, NameBook};
use parking_lot::Mutex;
use upstream::catalogue::CatalogueStore;

/// The names of one profile.
#[derive(Default)]
pub(crate) struct ProfileNames {
    book: Book<NameBook>,
    kept_in: OnceLock<(Arc<dyn CatalogueStore>, [u8; 32])>,
}

impl ProfileNames {
    /// Runs `build` with the names given so far, and stores the names that `build` adds. `grace` is the time for
    /// which clients can still use former names. Items of servers for which `is_configured` is false are forgotten.
    pub(super) fn during<T>(
        &self,
        grace: Duration,
        is_configured: impl Fn(&str) -> bool,
        build: impl FnOnce(&Book<NameBook>) -> T,
    ) -> T {
        self.opened().begin(now(), grace.as_secs(), is_configured);
        let outcome = build(&self.book);
        if let Some((store, digest)) = self.kept_in.get()
            && let Some(text) = self.opened().unsaved()
        {
            store.save(digest, text);
        }
        outcome
    }

    /// Forgets expired former names. If any name has expired, returns the former names that are still valid.
    fn expire(&self) -> Option<Arc<FormerNames>> {
        self.opened().expire(now())
    }

    /// Locks the names. They remain usable even after a panic while the lock was held.
    fn opened(&self) -> MutexGuard<'_, NameBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restore(&self, slug: &str, store: &Arc<dyn CatalogueStore>) {
        let digest = store.digest(format!("names of profile {slug}").as_bytes());
        let stored = store.load(&digest).and_then(|text| NameBook::stored(&text));
        if self.kept_in.set((store.clone(), digest)).is_ok()
            && let Some(book) = stored
        {
            *self.opened() = book;
        }
    }
}

/// The current time, in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The names of all profiles.
#[derive(Default)]
pub(crate) struct NameBooks(Mutex<HashMap<Arc<str>, Arc<ProfileNames>>>);

impl NameBooks {
    /// Returns the names of a profile.
    pub(super) fn of(&self, slug: &Arc<str>) -> Arc<ProfileNames> {
        self.0.lock().entry(slug.clone()).or_default().clone()
    }

    /// Forgets expired former names. Returns the names of each affected profile, with the former names that are
    /// still valid.
    pub(super) fn expire(&self) -> Vec<(Arc<ProfileNames>, Arc<FormerNames>)> {
        let all: Vec<_> = self.0.lock().values().cloned().collect();
        all.into_iter().filter_map(|names| names.expire().map(|former| (names, former))).collect()
    }

    /// Reads the stored names of these profiles, unless they are already known. This blocks.
    pub(crate) fn restore<'s>(
        &self,
        slugs: impl Iterator<Item = &'s Arc<str>>,
        store: &Arc<dyn CatalogueStore>,
    ) {
        for slug in slugs {
            let names = self.of(slug);
            if names.kept_in.get().is_none() {
                names.restore(slug, store);
            }
        }
    }
}
