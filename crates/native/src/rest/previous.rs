//! The content that calls have replaced. A later call can restore it, even if the site keeps no revisions. It is
//! kept for a day, in memory, for the account that replaced it. This module must not know the format of content.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The time for which content is kept.
const COUNTS: Duration = Duration::from_hours(24);
/// The maximum number of replaced contents that are kept. The next two constants limit the total size of these
/// contents, and the size of one of them, in bytes.
const MOST: usize = 512;
const MOST_BYTES: usize = 32 << 20;
const LARGEST: usize = 4 << 20;
/// The member of an answer that contains the address of the content that the call has replaced.
pub(crate) const PREVIOUS: &str = "previous_content";
/// The prefix of the addresses of kept content.
pub(super) const ADDRESS: &str = "wp://previous/";

/// The replaced contents, oldest first.
#[derive(Default)]
pub(crate) struct PreviousContents(Mutex<VecDeque<PreviousContent>>);

/// One replaced content.
#[derive(Clone)]
pub(super) struct PreviousContent {
    /// The part of its address after [`ADDRESS`], which nobody can guess.
    pub(super) id: String,
    /// The digest that identifies the account and its site.
    pub(super) account: [u8; 32],
    /// The URL of the item that had the content.
    pub(super) url: String,
    /// The content as editors see it.
    pub(super) content: String,
    /// The time of the change.
    pub(super) at: Duration,
}

impl PreviousContent {
    /// The content as the answer to a request for it.
    pub(super) fn shown(self) -> Value {
        json!({"content": self.content, "url": self.url})
    }
}

impl PreviousContents {
    /// Keeps the content of an item; the oldest contents are removed to make room. Content that is too large is not
    /// kept.
    pub(super) fn put(&self, content: PreviousContent) -> bool {
        if content.content.len() > LARGEST {
            return false;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = content.at;
        all.retain(|one| one.at + COUNTS > now);
        let mut bytes: usize = all.iter().map(|one| one.content.len()).sum();
        while all.len() >= MOST || bytes + content.content.len() > MOST_BYTES {
            let Some(oldest) = all.pop_front() else { break };
            bytes -= oldest.content.len();
        }
        all.push_back(content);
        true
    }

    /// The content with this ID, if this account replaced it recently.
    pub(super) fn get(&self, id: &str, account: &[u8; 32], now: Duration) -> Option<PreviousContent> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |one: &&PreviousContent| one.id == id && one.account == *account && one.at + COUNTS > now;
        all.iter().find(is_it).cloned()
    }
}

/// The ID that belongs to a secret digest.
pub(super) fn id_of(digest: [u8; 32]) -> String {
    digest.iter().take(12).fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(id: usize, length: usize, at: Duration) -> PreviousContent {
        PreviousContent {
            id: id.to_string(),
            account: [1; 32],
            url: "u".to_owned(),
            content: "x".repeat(length),
            at,
        }
    }

    #[test]
    fn contents_are_kept_for_their_account_for_a_time_and_for_so_many() {
        let contents = PreviousContents::default();
        let now = Duration::from_secs(5);
        assert!(contents.put(content(1, 10, now)) && !contents.put(content(2, LARGEST + 1, now)));
        assert!(contents.get("1", &[1; 32], now).is_some());
        assert!(contents.get("1", &[2; 32], now).is_none(), "another account");
        assert!(contents.get("1", &[1; 32], now + COUNTS).is_none());
        for id in 10..30 {
            assert!(contents.put(content(id, LARGEST, now)));
        }
        assert!(contents.get("1", &[1; 32], now).is_none() && contents.get("29", &[1; 32], now).is_some());
        for id in 100..100 + 2 * MOST {
            contents.put(content(id, 1, now));
        }
        let all = contents.0.lock().unwrap();
        assert!(all.len() <= MOST && all.iter().map(|one| one.content.len()).sum::<usize>() <= MOST_BYTES);
    }
}
