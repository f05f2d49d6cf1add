//! The pages that are still to be requested from an upstream, within a cap. This module must not know what the pages
//! contain.

use std::collections::{HashSet, VecDeque};

use super::ListKind;

/// A request for one page of a list.
#[derive(Debug)]
pub(super) struct PageRequest {
    pub(super) kind: ListKind,
    /// The upstream's cursor, as JSON; `None` for the first page.
    pub(super) cursor: Option<String>,
    /// The number of earlier pages of this list.
    previous: usize,
}

/// The next request, and the lists after it.
#[derive(Debug)]
pub(super) struct PageQueue {
    requests: VecDeque<PageRequest>,
    /// The cursors that were followed.
    followed: HashSet<(ListKind, String)>,
    /// The maximum number of pages of one list.
    most: usize,
}

impl PageQueue {
    /// Creates a queue with a request for the first page of each of these lists.
    pub(super) fn new(kinds: impl Iterator<Item = ListKind>, most: usize) -> Self {
        let requests = kinds.map(|kind| PageRequest { kind, cursor: None, previous: 0 }).collect();
        Self { requests, followed: HashSet::new(), most }
    }

    /// The next request; `None` once all lists are complete.
    pub(super) fn next(&self) -> Option<&PageRequest> {
        self.requests.front()
    }

    /// Removes the next request.
    pub(super) fn pop(&mut self) -> Option<PageRequest> {
        self.requests.pop_front()
    }

    /// Continues a list with the page after this one.
    ///
    /// # Errors
    /// Returns a note if the upstream's cursors form a cycle, or the list has too many pages.
    pub(super) fn follow(
        &mut self,
        PageRequest { kind, previous, .. }: PageRequest,
        cursor: String,
    ) -> Result<(), String> {
        if !self.followed.insert((kind, cursor.clone())) {
            return Err(format!(
                "the pages of {} form a loop; the loop was fetched only once",
                kind.member()
            ));
        }
        let previous = previous + 1;
        if previous >= self.most {
            return Err(format!(
                "the server has more than {} pages of {}; the rest was not fetched",
                self.most,
                kind.member()
            ));
        }
        self.requests.push_front(PageRequest { kind, cursor: Some(cursor), previous });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_at_a_cursor_that_was_followed_and_at_the_cap() {
        let mut queue = PageQueue::new([ListKind::Tools, ListKind::Prompts].into_iter(), 3);
        let mut followed = |cursor: &str| {
            let asked = queue.pop().unwrap();
            (asked.kind, queue.follow(asked, cursor.to_owned()).err().unwrap_or_default())
        };
        assert_eq!(followed("\"a\""), (ListKind::Tools, String::new()));
        assert_eq!(
            followed("\"a\""),
            (ListKind::Tools, "the pages of tools form a loop; the loop was fetched only once".to_owned())
        );
        // The cursors and the pages of another list are counted separately.
        assert_eq!(followed("\"a\""), (ListKind::Prompts, String::new()));
        assert_eq!(followed("\"b\""), (ListKind::Prompts, String::new()));
        assert_eq!(
            followed("\"c\""),
            (
                ListKind::Prompts,
                "the server has more than 3 pages of prompts; the rest was not fetched".to_owned()
            )
        );
        assert!(queue.next().is_none());
    }
}
