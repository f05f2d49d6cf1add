//! The result of a form submission on its way to the next page in a cookie, because another gateway of the cluster may answer
//! the request for that page. This module must not know how a page shows a result.

use gateway::admission::admin::sessions::FormNotice;
use parking_lot::Mutex;

/// The result that a request has brought, and what became of it.
#[derive(Debug)]
pub(super) struct CarriedNotice(Mutex<NoticeState>);

/// The change to the browser's cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoticeChange {
    /// The cookie stays as it is.
    None,
    /// The cookie is removed, because a page shows the result.
    Removed,
    /// The cookie carries this result.
    Set(FormNotice),
}

#[derive(Debug)]
struct NoticeState {
    brought: Option<FormNotice>,
    change: NoticeChange,
}

impl CarriedNotice {
    /// Begins with the result that the request's cookie has brought.
    pub(super) fn new(brought: Option<FormNotice>) -> Self {
        Self(Mutex::new(NoticeState { brought, change: NoticeChange::None }))
    }

    /// Takes the result for a page.
    pub(super) fn take(&self) -> Option<FormNotice> {
        let mut state = self.0.lock();
        let taken = state.brought.take()?;
        state.change = NoticeChange::Removed;
        Some(taken)
    }

    /// Gives the next page a result.
    pub(super) fn tell(&self, notice: FormNotice) {
        self.0.lock().change = NoticeChange::Set(notice);
    }

    /// Returns the change to the browser's cookie.
    pub(super) fn change(self) -> NoticeChange {
        self.0.into_inner().change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> FormNotice {
        FormNotice { is_fault: false, text: text.to_owned(), advice: None }
    }

    #[test]
    fn a_result_is_shown_once_and_stays_until_then() {
        assert_eq!(CarriedNotice::new(Some(notice("a"))).change(), NoticeChange::None, "not shown yet");
        let carried = CarriedNotice::new(Some(notice("a")));
        assert_eq!((carried.take(), carried.take()), (Some(notice("a")), None));
        assert_eq!(carried.change(), NoticeChange::Removed);
        let carried = CarriedNotice::new(None);
        assert_eq!((carried.take(), carried.change()), (None, NoticeChange::None));
    }

    #[test]
    fn the_last_result_counts() {
        let carried = CarriedNotice::new(Some(notice("a")));
        carried.tell(notice("b"));
        carried.tell(notice("c"));
        assert_eq!(carried.change(), NoticeChange::Set(notice("c")));
    }
}
