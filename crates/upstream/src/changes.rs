//! Announced list changes. A separate task handles them one after the other, so the link's stream is not held up.
//! This module must not know what a list contains.

mod pace;

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use proto::mcp::Notice;

use self::pace::ChangePace;
use crate::egress::Announcement;

/// The changes that were received together.
pub struct HeardChanges {
    /// The lists that have changed.
    pub lists: Vec<Notice>,
    /// The number of the first fetch that is new enough to include the changes.
    pub wanted: u64,
    before: Vec<Announcement>,
}

impl HeardChanges {
    /// Notifies clients of the changes. Clients that were notified after the first of these changes was received
    /// are left out.
    pub fn announce(self, lists: &[Notice]) {
        for announce in self.before.into_iter().filter(|_| !lists.is_empty()) {
            announce(lists);
        }
    }
}

/// Announced changes that have not been handled yet.
#[derive(Default)]
pub struct Changes(Mutex<PendingChanges>);

#[derive(Default)]
struct PendingChanges {
    lists: Vec<Notice>,
    wanted: u64,
    before: Vec<Announcement>,
    pace: ChangePace,
    /// True while a task handles the changes.
    is_seen_to: bool,
}

impl Changes {
    /// Records that a list has changed. Returns `true` if the caller has to handle the change. Repeated notifications
    /// about the same list count as one.
    pub fn note(&self, list: Notice, wanted: u64, before: impl FnOnce() -> Vec<Announcement>) -> bool {
        let mut told = self.0.lock();
        told.wanted = wanted;
        if told.lists.is_empty() {
            told.before = before();
        }
        if !told.lists.contains(&list) {
            told.lists.push(list);
        }
        !std::mem::replace(&mut told.is_seen_to, true)
    }

    /// Returns the time at which the unhandled changes have to be handled, if no further change arrives after
    /// `now`. Returns `None` if there are no unhandled changes; the caller's task then ends.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let mut told = self.0.lock();
        told.is_seen_to = !told.lists.is_empty();
        told.is_seen_to.then(|| told.pace.due(now))
    }

    /// Takes the changes that are not handled yet.
    pub fn take(&self, now: Instant) -> HeardChanges {
        let mut told = self.0.lock();
        told.pace.begin(now);
        let (lists, before) = (std::mem::take(&mut told.lists), std::mem::take(&mut told.before));
        HeardChanges { lists, wanted: told.wanted, before }
    }

    /// Records whether the lists differed from the earlier ones.
    pub fn found(&self, differs: bool) {
        self.0.lock().pace.found(differs);
    }
}

/// The time within which a repeated announcement counts as an echo: a server with several links announces each
/// change on all of them. If a link was opened after the first announcement, an announcement on that link is a new
/// change.
const ECHO: Duration = Duration::from_secs(1);

/// The link on which an announcement was received.
#[derive(Clone, Copy)]
pub struct HeardOn {
    /// The number of the link.
    pub id: u64,
    /// The time when the link was opened.
    pub opened: Instant,
    /// True if the link leads to a process that serves one client at a time. Announcements of such a process do not
    /// concern other links.
    pub is_own_process: bool,
}

/// The announcements of one server that were passed on, each with the list, the number of the link, and the time.
#[derive(Default)]
pub struct Announced(Mutex<Vec<(Notice, u64, Instant)>>);

impl Announced {
    /// Returns the lists whose announcement is not an echo of a recent announcement on another link, and records
    /// these lists as announced.
    pub fn news(&self, lists: &[Notice], link: HeardOn, now: Instant) -> Vec<Notice> {
        let news = self.no_echoes(lists, link, now);
        let mut announced = self.0.lock();
        announced.retain(|(list, ..)| !news.contains(list));
        announced.extend(news.iter().map(|list| (*list, link.id, now)));
        news
    }

    /// Returns the same lists as [`Announced::news`], without recording anything.
    pub fn no_echoes(&self, lists: &[Notice], link: HeardOn, now: Instant) -> Vec<Notice> {
        let mut announced = self.0.lock();
        announced.retain(|(.., at)| now.saturating_duration_since(*at) < ECHO);
        let is_echo = |list: &Notice| {
            !link.is_own_process
                && announced
                    .iter()
                    .any(|(other, on, at)| other == list && *on != link.id && link.opened <= *at)
        };
        lists.iter().filter(|list| !is_echo(list)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_looks_until_there_is_nothing_new() {
        let (changes, now) = (Changes::default(), Instant::now());
        assert!(changes.note(Notice::ToolsChanged, 1, Vec::new));
        assert!(
            !changes.note(Notice::ToolsChanged, 1, Vec::new)
                && !changes.note(Notice::PromptsChanged, 2, Vec::new)
        );
        assert!(changes.due(now).is_some_and(|due| due > now), "more may be announced");
        let heard = changes.take(now);
        assert_eq!(
            (&heard.lists[..], heard.wanted),
            (&[Notice::ToolsChanged, Notice::PromptsChanged][..], 2)
        );
        assert!(!changes.note(Notice::ToolsChanged, 3, Vec::new), "somebody still looks");
        assert!(changes.due(now).is_some());
        assert_eq!(changes.take(now).lists, [Notice::ToolsChanged]);
        assert_eq!(changes.due(now), None);
        assert!(changes.note(Notice::ToolsChanged, 4, Vec::new), "nobody does any more");
    }

    #[test]
    fn what_is_announced_on_several_links_is_news_once() {
        let (announced, opened) = (Announced::default(), Instant::now());
        let (now, on) = (opened + ECHO, |id| HeardOn { id, opened, is_own_process: false });
        let (tools, prompts) = (Notice::ToolsChanged, Notice::PromptsChanged);
        assert_eq!(announced.news(&[tools], on(1), now), [tools]);
        assert_eq!(announced.news(&[tools, prompts], on(2), now), [prompts]);
        assert_eq!(announced.news(&[tools], on(1), now), [tools], "the same link tells of another change");
        assert_eq!(announced.news(&[tools], on(2), now + ECHO), [tools]);
    }

    #[test]
    fn a_process_of_one_client_is_no_echo_of_another() {
        let (announced, opened) = (Announced::default(), Instant::now());
        let on = |id| HeardOn { id, opened, is_own_process: true };
        let tools = Notice::ToolsChanged;
        assert_eq!(announced.news(&[tools], on(1), opened), [tools]);
        assert_eq!(announced.news(&[tools], on(2), opened), [tools]);
    }

    #[test]
    fn a_link_that_was_opened_since_tells_of_another_change() {
        let (announced, now) = (Announced::default(), Instant::now());
        let tools = Notice::ToolsChanged;
        assert_eq!(
            announced.news(&[tools], HeardOn { id: 1, opened: now, is_own_process: false }, now),
            [tools]
        );
        let opened = now + ECHO / 4;
        assert_eq!(
            announced.news(&[tools], HeardOn { id: 2, opened, is_own_process: false }, now + ECHO / 2),
            [tools]
        );
    }
}
