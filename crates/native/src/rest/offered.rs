//! The routes that sites reported, remembered for a short time. This module must not know how sites are asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time for which a site's report determines the URLs of requests.
pub(super) const COUNTS: Duration = Duration::from_mins(5);
/// The time after a report for which the site is not asked again, whichever route is missing.
pub(super) const ASKED: Duration = Duration::from_secs(30);
/// The largest number of remembered sites.
const MOST: usize = 4096;

/// The namespaces that sites reported, by the URL of the report.
#[derive(Default)]
pub(crate) struct ReportedNamespaces(Mutex<HashMap<String, SiteReport>>);

#[derive(Clone)]
struct SiteReport {
    at: Duration,
    names: Namespaces,
}

pub(super) type Namespaces = Arc<[String]>;

impl ReportedNamespaces {
    /// The site's report, unless it is older than `age`.
    pub(super) fn get(&self, site: &str, now: Duration, age: Duration) -> Option<Namespaces> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.get(site).filter(|said| said.at + age > now).map(|said| said.names.clone())
    }

    pub(super) fn put(&self, site: &str, now: Duration, names: Namespaces) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= MOST && !said.contains_key(site) {
            said.retain(|_, said| said.at + COUNTS > now);
            // Forgetting the reports costs only two more requests.
            if said.len() >= MOST {
                said.clear();
            }
        }
        said.insert(site.to_owned(), SiteReport { at: now, names });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sites_say_is_kept_for_a_time_and_for_so_many() {
        let offered = ReportedNamespaces::default();
        let (then, names) = (Duration::from_secs(7), Namespaces::from(["a/v1".to_owned()]));
        offered.put("one", then, names.clone());
        let known = |site: &str, now| offered.get(site, now, COUNTS).is_some();
        assert!(known("one", then + Duration::from_secs(299)));
        assert!(!known("one", then + COUNTS) && !known("two", then));
        for number in 0..2 * MOST {
            offered.put(&number.to_string(), then, names.clone());
            assert!(offered.0.lock().unwrap().len() <= MOST);
        }
        assert!(known(&(2 * MOST - 1).to_string(), then));
        // Only expired entries are removed to make room.
        let later = then + COUNTS;
        offered.0.lock().unwrap().clear();
        (0..MOST).for_each(|number| {
            offered.put(&number.to_string(), if number == 5 { later } else { then }, names.clone());
        });
        offered.put("new", later, names.clone());
        assert!(known("new", later) && known("5", later) && !known("6", later));
    }
}
