//! The first lists of a caller that has its own upstream. Until lists have been fetched over the caller's own link,
//! these are the lists of the common catalogue. This module must not know callers.

use std::sync::atomic::Ordering;

use engine::catalogue::ListKind;
use proto::era::Era;

use super::cell::Catalogue;
use super::lifecycle_lists::LifecycleLists;
use super::served::ServedLists;
use crate::health::HealthEvent;

impl Catalogue {
    /// Initializes the catalogue from the common catalogue of the same server: if everybody may see the common
    /// lists, they are shown as unconfirmed. Items that were learned over one client's link are not copied.
    pub(crate) fn begin_as(&self, common: &Self) {
        let shown = self.lifecycles.iter().zip(&common.lifecycles);
        let shown: Vec<_> =
            shown.filter_map(|(lifecycle, common)| Some((lifecycle, self.public(common)?))).collect();
        if shown.is_empty() {
            return;
        }
        self.is_borrowed.store(true, Ordering::Relaxed);
        self.introductions.lock().clone_from(&common.introductions.lock());
        for (lifecycle, lists) in shown {
            self.server.health.note(HealthEvent::ListsKept(lists.listed.list(ListKind::Tools).len()));
            self.show_borrowed(lifecycle, &lists);
        }
    }

    /// Returns the common lists, if everybody may see them. If each caller gives consent to a server, the common
    /// upstream sends no token, so anybody could fetch the same lists. There are two exceptions: lists from an
    /// earlier run may have been fetched with somebody's token, and a server that now refuses to list its items may
    /// require consent for this.
    fn public(&self, common: &LifecycleLists) -> Option<ServedLists> {
        let lists = common.lists()?;
        let is_public = !self.server.spec.own_consent || (lists.listed.is_confirmed && !common.has_failed());
        is_public.then_some(lists)
    }

    /// Returns true if clients of a version are shown the lists of the common catalogue because the caller's own lists
    /// are not known.
    pub fn is_borrowed(&self, client: &'static Era) -> bool {
        self.is_borrowed.load(Ordering::Relaxed) && self.is_known(client)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::Duration;

    use config::{Lookup, load};
    use engine::catalogue::{UpstreamAbsence, UpstreamCatalogue, UpstreamId};
    use engine::{Snapshot, principal::Principal};
    use proto::era::V2025_11_25;

    use super::super::testing::{catalogue, tool};
    use super::*;
    use crate::oauth::{CallerId, Consents};
    use crate::upstreams::Upstreams;

    /// The lists of a server with one tool.
    fn lists() -> UpstreamCatalogue {
        catalogue(&tool("a", ""))
    }

    fn keep(lifecycle: &LifecycleLists, lists: UpstreamCatalogue) {
        lifecycle.keep(ServedLists::without(Arc::new(lists), None, &HashSet::new()));
    }

    /// Returns the same lists, marked as unconfirmed.
    fn unconfirmed(lists: &UpstreamCatalogue) -> UpstreamCatalogue {
        let mut lists = lists.clone();
        lists.is_confirmed = false;
        lists
    }

    /// The lists of a new caller's catalogue, and true if they are borrowed. `keys` is added to the server's
    /// configuration, and `prepare` sets up the common lists.
    fn begun(keys: &str, prepare: impl Fn(&LifecycleLists)) -> (Option<Arc<UpstreamCatalogue>>, bool) {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let server = format!("{{ url: 'http://127.0.0.1:1/mcp', affinity: caller{keys} }}");
        let text = format!("auth: {{ keys: true }}\nmcpServers: {{ a: {server} }}\n");
        let snapshot = Snapshot::compile(&load(&text, "test", &nothing).unwrap().config, "0");
        let consents = Arc::new(Consents::new(None, Duration::from_secs(5)));
        let upstreams = Upstreams::new(&snapshot, consents).unwrap();
        let common = upstreams.get(UpstreamId(0));
        prepare(&common.catalogue.lifecycles[0]);
        let own = upstreams.of(UpstreamId(0), &CallerId::of(&Principal::anyone()));
        assert!(!Arc::ptr_eq(&own, &common));
        (own.catalogue.lifecycles[0].known(), own.catalogue.is_borrowed(&V2025_11_25))
    }

    #[test]
    fn a_caller_begins_with_the_lists_that_everybody_may_see() {
        let with_key = ", headers: { Authorization: 'Bearer k' }";
        let known = |lifecycle: &LifecycleLists| keep(lifecycle, lists());
        let stored = |lifecycle: &LifecycleLists| keep(lifecycle, unconfirmed(&lists()));
        let refused = |lifecycle: &LifecycleLists| {
            known(lifecycle);
            lifecycle.miss(UpstreamAbsence { reason: "401".to_owned(), retry: true });
        };
        let shown = |keys: &str, prepare: &dyn Fn(&LifecycleLists)| match begun(keys, prepare) {
            (Some(lists), true) => {
                assert!(!lists.is_confirmed, "its own link may list others");
                true
            }
            (None, false) => false,
            other => panic!("{other:?}"),
        };
        assert!(shown(with_key, &known) && shown(with_key, &stored) && shown(with_key, &refused));
        assert!(!shown(with_key, &|_| {}));
        assert!(shown("", &known), "they were fetched without anybody's token");
        assert!(!shown("", &stored), "they may have been fetched with somebody's token");
        assert!(!shown("", &refused), "the server may require consent by now");
    }
}
