//! The views of profiles as operators see them: over the lists that all callers share, without access rules. A view is built when an
//! operator asks for it, and kept while it is current and in use, because building a view of thousands of tools takes long. This
//! module must not know what operators are shown.

use std::sync::Arc;

use engine::catalogue::{View, ViewCosts};
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use proto::era::Era;

use super::ClientClass;
use super::basis::ViewInput;
use super::page_use::PageUse;

/// The maximum number of kept views.
const MOST_KEPT: usize = 8;

/// A view of a profile without access rules.
pub struct WholeView {
    /// The view.
    pub view: View,
    /// The listed tools, and the costs of all tools.
    pub costs: ViewCosts,
}

/// A view with everything that it was built from.
struct KeptView {
    profile: usize,
    era: &'static Era,
    schema_bytes: usize,
    /// The count of changes to catalogues before the view was built.
    changes: u64,
    basis: ViewInput,
    page_use: PageUse,
    whole: Arc<WholeView>,
}

impl KeptView {
    /// Returns true if building the view again would give the same view.
    fn is_current(&self, changes: u64, schema_bytes: usize, basis: &ViewInput) -> bool {
        (self.changes, self.schema_bytes) == (changes, schema_bytes)
            && self.basis.is_like(basis)
            && self.basis.shares_names(basis)
            && basis.upstreams.iter().zip(self.whole.view.upstreams()).all(|(upstream, shown)| {
                // A change of a list is counted; a change of the reason for its absence is not.
                let now = upstream.catalogue.part(self.era, Askable::NOTHING).catalogue;
                now.as_ref().err() == shown.catalogue.as_ref().err()
            })
    }
}

/// The kept views, the least recently used first.
#[derive(Default)]
pub(super) struct WholeViews {
    kept: Mutex<Vec<KeptView>>,
    /// Held while a view is built, so that several requests wait for one view instead of building several.
    building: Mutex<()>,
}

impl WholeViews {
    /// Returns the view of a profile if it is kept and current.
    pub(super) fn find(
        &self,
        (profile, era): (usize, &'static Era),
        (changes, schema_bytes): (u64, usize),
        basis: &ViewInput,
    ) -> Option<Arc<WholeView>> {
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|one| one.profile == profile && one.era == era)?;
        let found = kept.remove(at);
        if !found.is_current(changes, schema_bytes, basis) {
            return None;
        }
        found.page_use.note();
        let whole = found.whole.clone();
        kept.push(found);
        Some(whole)
    }

    /// Keeps a view if it is still current; `now` returns the inputs of a view at the moment.
    fn keep(&self, view: KeptView, now: impl FnOnce() -> ((u64, usize), ViewInput)) {
        let mut kept = self.kept.lock();
        // Under the lock, `clear` for a new configuration either finds this view or has already run.
        let ((changes, schema_bytes), basis) = now();
        if !view.is_current(changes, schema_bytes, &basis) {
            return;
        }
        kept.retain(|one| (one.profile, one.era) != (view.profile, view.era));
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push(view);
    }

    /// Builds the view of a profile, unless it is kept; `now` returns the inputs of a view at the moment. The new view shares its
    /// unchanged parts with the view `beside`.
    pub(super) fn build(
        &self,
        (profile, era): (usize, &'static Era),
        now: impl Fn() -> ((u64, usize), ViewInput),
        beside: impl FnOnce() -> Option<Arc<View>>,
    ) -> Arc<WholeView> {
        let _one = self.building.lock();
        // Read before building: if the count of changes rises later, the view is not kept.
        let ((changes, schema_bytes), basis) = now();
        if let Some(known) = self.find((profile, era), (changes, schema_bytes), &basis) {
            return known;
        }
        let view = basis.build(ClientClass::plain(era), None, schema_bytes, beside().as_deref());
        let whole = Arc::new(WholeView { costs: ViewCosts::of(&view), view });
        let page_use = PageUse::new();
        let kept = KeptView { profile, era, schema_bytes, changes, basis, page_use, whole: whole.clone() };
        self.keep(kept, now);
        whole
    }

    /// Forgets all views.
    pub(super) fn clear(&self) {
        self.kept.lock().clear();
    }

    /// Forgets the views that nobody has used for ten minutes; called every ten seconds.
    pub(super) fn drop_unused(&self) {
        self.kept.lock().retain(|one| !one.page_use.look());
    }

    /// Returns the size of the ready pages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.kept.lock().iter().map(|one| one.whole.view.page_bytes()).sum()
    }
}
