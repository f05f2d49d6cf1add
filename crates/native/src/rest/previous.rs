//! The content that calls have replaced. A later call can restore it, even if the site keeps no revisions. It is
//! kept for a day, in memory, for the account that replaced it. This module must not know the format of content.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The time for which content is kept.
const COUNTS: Duration = Duration::from_hours(24);
/// The limits of all kept contents.
const OF_ALL: KeptLimits = KeptLimits { contents: 512, bytes: 32 << 20 };
/// The limits of the contents of one account: otherwise, one busy account would remove the contents of all others.
const OF_ACCOUNT: KeptLimits = KeptLimits { contents: 32, bytes: LARGEST };
/// The size of the largest content that is kept, in bytes.
const LARGEST: usize = 4 << 20;
/// The member of an answer that contains the address of the content that the call has replaced.
pub(crate) const PREVIOUS: &str = "previous_content";
/// The prefix of the addresses of kept content.
pub(super) const ADDRESS: &str = "wp://previous/";

/// A maximum number of contents, and a maximum of their total size.
struct KeptLimits {
    contents: usize,
    bytes: usize,
}

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
    /// Keeps the content of an item. To make room, the oldest contents of the account are removed, and then the oldest
    /// of all. Content that is too large is not kept.
    pub(super) fn put(&self, content: PreviousContent) -> bool {
        let bytes = content.content.len();
        if bytes > LARGEST {
            return false;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = content.at;
        all.retain(|one| one.at + COUNTS > now);
        make_room(&mut all, &OF_ACCOUNT, bytes, |one| one.account == content.account);
        make_room(&mut all, &OF_ALL, bytes, |_| true);
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

/// Removes the oldest of these contents, until another content of this size keeps them within the limits.
fn make_room(
    all: &mut VecDeque<PreviousContent>,
    limits: &KeptLimits,
    bytes: usize,
    is_counted: impl Fn(&PreviousContent) -> bool,
) {
    let sizes = all.iter().filter(|one| is_counted(one)).map(|one| one.content.len());
    let (mut count, mut sum) = sizes.fold((0, bytes), |(count, sum), size| (count + 1, sum + size));
    all.retain(|one| {
        let is_removed = is_counted(one) && (count >= limits.contents || sum > limits.bytes);
        if is_removed {
            (count, sum) = (count - 1, sum - one.content.len());
        }
        !is_removed
    });
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

    fn content(account: u8, id: usize, length: usize, at: Duration) -> PreviousContent {
        PreviousContent {
            id: id.to_string(),
            account: [account; 32],
            url: "u".to_owned(),
            content: "x".repeat(length),
            at,
        }
    }

    const NOW: Duration = Duration::from_secs(5);

    fn has(contents: &PreviousContents, account: u8, id: usize) -> bool {
        contents.get(&id.to_string(), &[account; 32], NOW).is_some()
    }

    #[test]
    fn contents_are_kept_for_their_account_and_for_a_time() {
        let contents = PreviousContents::default();
        assert!(contents.put(content(1, 1, 10, NOW)) && !contents.put(content(1, 2, LARGEST + 1, NOW)));
        assert!(has(&contents, 1, 1));
        assert!(!has(&contents, 2, 1), "another account");
        assert!(contents.get("1", &[1; 32], NOW + COUNTS).is_none());
    }

    #[test]
    fn a_busy_account_removes_only_its_own_contents() {
        let contents = PreviousContents::default();
        contents.put(content(1, 1, 10, NOW));
        for id in 10..10 + 2 * OF_ACCOUNT.contents {
            contents.put(content(2, id, 10, NOW));
        }
        assert!(has(&contents, 1, 1));
        assert!(!has(&contents, 2, 9 + OF_ACCOUNT.contents) && has(&contents, 2, 10 + OF_ACCOUNT.contents));
        for id in 200..220 {
            contents.put(content(2, id, LARGEST, NOW));
        }
        assert!(has(&contents, 1, 1) && has(&contents, 2, 219) && !has(&contents, 2, 218));
    }

    #[test]
    fn all_contents_together_are_limited() {
        for length in [1, LARGEST / 2] {
            let contents = PreviousContents::default();
            for id in 0..1000 {
                contents.put(content(u8::try_from(id / 16).unwrap(), id, length, NOW));
            }
            let all = contents.0.lock().unwrap();
            let bytes: usize = all.iter().map(|one| one.content.len()).sum();
            assert!(all.len() <= OF_ALL.contents && bytes <= OF_ALL.bytes, "{} {bytes}", all.len());
            assert!(all.back().is_some_and(|one| one.id == "999"));
        }
    }
}
