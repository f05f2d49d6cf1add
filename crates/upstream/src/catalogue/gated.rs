//! Items that a server shows only to clients that can be asked questions. The gateway learns these items once for
//! each class of clients, over links that such clients open anyway. This module must not know who these clients
//! are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::catalogue::UpstreamCatalogue;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use proto::era::Era;

use super::served::ServedLists;
use crate::pool::{DedicatedLink, LinkCell};

/// The time between a failed attempt and the next one.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// The link for learning the items of a class of clients, and the properties of these clients.
pub struct Learner {
    /// A link on which the server knows, from the handshake or from each request, that these clients can be asked
    /// questions.
    pub cell: Arc<LinkCell>,
    /// The reservation of the link, if the link is reserved for one call at a time.
    pub dedicated: Option<DedicatedLink>,
    /// The clients' capabilities, as a JSON object in the form of their version.
    pub capabilities: Bytes,
    /// The clients' version.
    pub era: &'static Era,
}

/// The state of one class.
enum ClassState {
    /// The class is being learned for the first time; the value is true if the result may already be out of date.
    Learning(bool),
    /// The items of the class beyond those shown to all clients.
    Known(ServedLists, ClassAge),
    Failed(Instant),
}

/// The age of a class's known items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassAge {
    Current,
    /// The items may have changed. The value is the time of the last failed attempt to learn them again, if there was
    /// one.
    Stale(Option<Instant>),
    /// The class is being learned again; the value is true if the result may already be out of date.
    Relearning(bool),
}

/// The items of each class seen so far. There are at most as many classes as [`Askable`] has values.
#[derive(Default)]
pub(super) struct Gated {
    classes: Mutex<HashMap<Askable, ClassState>>,
}

impl Gated {
    /// Returns true if the items of a class are unknown, or may have changed.
    pub(super) fn is_unlearned(&self, class: Askable, now: Instant) -> bool {
        !class.is_nothing() && is_due(self.classes.lock().get(&class), now)
    }

    /// Returns true if a running attempt may soon give clients of a class more items.
    pub(super) fn is_being_learned(&self, class: Askable) -> bool {
        matches!(self.classes.lock().get(&class), Some(ClassState::Learning(_)))
    }

    /// Begins to learn a class; returns `false` if another caller is learning the class, or tried to do so a short time
    /// ago. Until the attempt ends, the known items of the class are shown.
    pub(super) fn begin(&self, class: Askable, now: Instant) -> bool {
        let mut classes = self.classes.lock();
        if !is_due(classes.get(&class), now) {
            return false;
        }
        if let Some(ClassState::Known(_, age)) = classes.get_mut(&class) {
            *age = ClassAge::Relearning(false);
        } else {
            classes.insert(class, ClassState::Learning(false));
        }
        true
    }

    /// Returns the items of a class, if they are known.
    pub(super) fn known(&self, class: Askable) -> Option<Arc<UpstreamCatalogue>> {
        match self.classes.lock().get(&class) {
            Some(ClassState::Known(lists, _)) => Some(lists.listed.clone()),
            _ => None,
        }
    }

    /// Stores the items of a class; returns `true` if they differ from the previous ones.
    pub(super) fn keep(&self, class: Askable, more: ServedLists) -> bool {
        let mut classes = self.classes.lock();
        let is_old = matches!(
            classes.get(&class),
            Some(ClassState::Learning(true) | ClassState::Known(_, ClassAge::Relearning(true)))
        );
        let age = if is_old { ClassAge::Stale(None) } else { ClassAge::Current };
        let listed = more.listed.clone();
        match classes.insert(class, ClassState::Known(more, age)) {
            Some(ClassState::Known(before, _)) => !before.listed.same_lists(&listed),
            _ => !listed.is_empty(),
        }
    }

    /// Replaces the items of each class by the same items as judged by `judge`. Returns true if the set of withheld tools has
    /// changed.
    pub(super) fn judge_again(&self, judge: impl Fn(Askable, &ServedLists) -> ServedLists) -> bool {
        let mut differs = false;
        for (class, state) in self.classes.lock().iter_mut() {
            if let ClassState::Known(lists, _) = state {
                let again = judge(*class, lists);
                differs |= again.differs(lists);
                *lists = again;
            }
        }
        differs
    }

    /// All classes that have been learned, with their items.
    pub(super) fn all(&self) -> Vec<(Askable, Arc<UpstreamCatalogue>)> {
        let known = |(class, state): (&Askable, &ClassState)| match state {
            ClassState::Known(lists, _) => Some((*class, lists.listed.clone())),
            ClassState::Learning(_) | ClassState::Failed(_) => None,
        };
        self.classes.lock().iter().filter_map(known).collect()
    }

    /// Records that an attempt to learn a class has ended. Unless items were stored, the attempt has failed, and another
    /// one is made after a while.
    pub(super) fn end(&self, class: Askable, now: Instant) {
        let mut classes = self.classes.lock();
        match classes.get_mut(&class) {
            Some(ClassState::Known(_, age @ ClassAge::Relearning(_))) => *age = ClassAge::Stale(Some(now)),
            Some(state @ ClassState::Learning(_)) => *state = ClassState::Failed(now),
            _ => {}
        }
    }

    /// Marks a class as stale, because its items have changed and could not be learned again.
    pub(super) fn miss(&self, class: Askable, now: Instant) {
        if let Some(ClassState::Known(_, age @ ClassAge::Current)) = self.classes.lock().get_mut(&class) {
            *age = ClassAge::Stale(Some(now));
        }
    }

    /// Marks all classes as stale, because the lists shown to all clients have changed.
    pub(super) fn grow_stale(&self) {
        for state in self.classes.lock().values_mut() {
            match state {
                ClassState::Known(_, ClassAge::Relearning(is_old)) | ClassState::Learning(is_old) => {
                    *is_old = true;
                }
                ClassState::Known(_, age) => *age = ClassAge::Stale(None),
                ClassState::Failed(_) => {}
            }
        }
    }

    /// Returns the items that clients with these capabilities see in addition to the items for all clients. These
    /// are the items that were learned for exactly this class or, as long as there are none, the items that were
    /// learned for classes of clients that can be asked fewer kinds of questions.
    pub(super) fn shown_to(&self, askable: Askable) -> Vec<Arc<UpstreamCatalogue>> {
        if askable.is_nothing() {
            return Vec::new();
        }
        let classes = self.classes.lock();
        if let Some(ClassState::Known(own, _)) = classes.get(&askable) {
            return if own.listed.is_empty() { Vec::new() } else { vec![own.served.clone()] };
        }
        let mut shown: Vec<(Askable, Arc<UpstreamCatalogue>)> = classes
            .iter()
            .filter(|(class, _)| askable.includes(**class))
            .filter_map(|(class, state)| match state {
                ClassState::Known(lists, _) if !lists.listed.is_empty() => {
                    Some((*class, lists.served.clone()))
                }
                _ => None,
            })
            .collect();
        shown.sort_by_key(|(class, _)| *class);
        shown.into_iter().map(|(_, catalogue)| catalogue).collect()
    }

    /// Returns those questions in `askable` that decide which items a client is shown.
    pub(super) fn deciding(&self, askable: Askable) -> Askable {
        if askable.is_nothing() {
            return askable;
        }
        let classes = self.classes.lock();
        if let Some(ClassState::Known(own, _)) = classes.get(&askable) {
            return if own.listed.is_empty() { Askable::NOTHING } else { askable };
        }
        let decides =
            |state: &ClassState| matches!(state, ClassState::Known(lists, _) if !lists.listed.is_empty());
        let own = classes.iter().filter(|(class, state)| askable.includes(**class) && decides(state));
        own.fold(Askable::NOTHING, |all, (class, _)| all.and(*class))
    }

    /// Forgets all classes.
    pub(super) fn forget_all(&self) {
        self.classes.lock().clear();
    }
}

/// Returns true if a class in this state should be learned.
fn is_due(state: Option<&ClassState>, now: Instant) -> bool {
    let is_over = |at: &Instant| now.saturating_duration_since(*at) > RETRY_AFTER;
    match state {
        None => true,
        Some(ClassState::Known(_, ClassAge::Stale(failed))) => failed.as_ref().is_none_or(is_over),
        Some(ClassState::Failed(at)) => is_over(at),
        Some(ClassState::Learning(_) | ClassState::Known(..)) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use engine::catalogue::ListKind;

    use super::super::testing::{catalogue, tool};
    use super::*;

    fn keep(gated: &Gated, class: Askable, more: UpstreamCatalogue) -> bool {
        gated.keep(class, ServedLists::without(Arc::new(more), None, &HashSet::new()))
    }

    #[test]
    fn a_class_that_was_learned_is_shown_what_was_seen_on_its_own_links() {
        let (less, more) = (Askable::from_bits(1), Askable::from_bits(3));
        let gated = Gated::default();
        assert!(keep(&gated, less, catalogue(&tool("a", "as of then"))));
        assert_eq!(gated.shown_to(more).len(), 1, "until it is learned what else there is");
        assert_eq!(gated.deciding(more), less);
        assert!(!keep(&gated, more, catalogue("")), "nothing beyond the lists for everybody");
        assert!(gated.shown_to(more).is_empty());
        assert_eq!(gated.deciding(more), Askable::NOTHING);
        assert!(keep(&gated, more, catalogue(&tool("a", "as of now"))));
        let shown = gated.shown_to(more);
        assert_eq!((shown.len(), shown[0].list(ListKind::Tools).len()), (1, 1));
        assert_eq!(gated.deciding(more), more);
        assert_eq!(gated.deciding(less), less);
    }

    #[test]
    fn a_class_that_cannot_be_learned_again_stays_stale_and_is_tried_later() {
        let (class, gated, now) = (Askable::from_bits(1), Gated::default(), Instant::now());
        let later = now + RETRY_AFTER + Duration::from_millis(1);
        keep(&gated, class, catalogue(&tool("a", "as of then")));
        assert!(!gated.is_unlearned(class, now) && !gated.begin(class, now));
        gated.grow_stale();
        assert!(gated.begin(class, now) && !gated.is_unlearned(class, now));
        assert!(!gated.begin(class, now), "one learns at a time");
        gated.end(class, now);
        assert_eq!(gated.shown_to(class).len(), 1, "what was known is shown");
        assert!(!gated.is_unlearned(class, now) && gated.is_unlearned(class, later));
        assert!(gated.begin(class, later));
        gated.grow_stale();
        keep(&gated, class, catalogue(&tool("a", "as of now")));
        gated.end(class, later);
        assert!(gated.is_unlearned(class, later), "the lists changed while they were read");
        keep(&gated, class, catalogue(&tool("a", "as of now")));
        gated.miss(class, later);
        assert!(!gated.is_unlearned(class, later), "a moment after a failure");
        assert!(gated.is_unlearned(class, later + RETRY_AFTER * 2));
    }
}
