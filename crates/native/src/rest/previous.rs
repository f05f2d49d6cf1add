//! The content and the values that calls have replaced. A later call can restore them, even if the site keeps no revisions.
//! They are kept for a day, in memory, for the account that replaced them. This module must not know the format of content.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::step::KeptState;
use crate::tools::ToolArgument;

/// The time for which content is kept.
const COUNTS: Duration = Duration::from_hours(24);
/// The limits of all kept contents.
const OF_ALL: KeptLimits = KeptLimits { contents: 512, bytes: 32 << 20 };
/// The limits of the contents of one account: otherwise, one busy account would remove the contents of all others.
const OF_ACCOUNT: KeptLimits = KeptLimits { contents: 32, bytes: LARGEST };
/// The size of the largest content that is kept, in bytes.
const LARGEST: usize = 4 << 20;
/// The names under which a server presents what calls have replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreviousNames {
    /// The prefix of the addresses.
    pub(crate) address: &'static str,
    /// The member of an answer that contains the address of what the call has replaced.
    pub(crate) member: &'static str,
    /// The name of the tool that restores it.
    pub(crate) tool: &'static str,
    /// The message for an address at which nothing is kept.
    pub(crate) gone: &'static str,
}

/// The names for replaced content.
pub(crate) const CONTENT_NAMES: PreviousNames = PreviousNames {
    address: "wp://previous/",
    member: "previous_content",
    tool: "wp_restore_content",
    gone: "no content is kept at this address for this account: the content that an update replaced is kept for at \
           most a day, and is lost when Dragoman restarts. Look for a revision of the item instead",
};

/// The names for replaced values.
pub(crate) const VALUE_NAMES: PreviousNames = PreviousNames {
    address: "woo://previous/",
    member: "previous_values",
    tool: "woo_restore_values",
    gone: "no values are kept at this address for this account: the values that an update replaced are kept for at \
           most a day, and are lost when Dragoman restarts",
};

/// A maximum number of contents, and a maximum of their total size.
struct KeptLimits {
    contents: usize,
    bytes: usize,
}

/// The replaced contents, oldest first.
pub(crate) struct PreviousContents {
    /// The names under which they are presented.
    pub(super) names: &'static PreviousNames,
    all: Mutex<VecDeque<PreviousContent>>,
}

/// One replaced content, or the values that one call replaced.
#[derive(Clone)]
pub(super) struct PreviousContent {
    /// The part of its address after the prefix, which nobody can guess.
    pub(super) id: String,
    /// The digest that identifies the account and its site.
    pub(super) account: [u8; 32],
    /// The URL of the item that had the content.
    pub(super) url: String,
    /// The values as the text of an object that a change can send.
    pub(super) values: String,
    /// The arguments of the tool that replaced them, and its rule for keeping values.
    pub(super) form: (&'static [ToolArgument], KeptState),
    /// The time of the change.
    pub(super) at: Duration,
}

impl PreviousContent {
    /// The content as the answer to a request for it.
    pub(super) fn shown(&self) -> Value {
        let values = self.values();
        json!({"content": values.get("content"), "values": values, "url": self.url})
    }

    /// The values by name.
    pub(super) fn values(&self) -> Map<String, Value> {
        serde_json::from_str(&self.values).unwrap_or_default()
    }
}

impl PreviousContents {
    pub(crate) const fn new(names: &'static PreviousNames) -> Self {
        Self { names, all: Mutex::new(VecDeque::new()) }
    }

    /// Keeps the content of an item. To make room, the oldest contents of the account are removed, and then the oldest
    /// of all. Content that is too large is not kept.
    pub(super) fn put(&self, content: PreviousContent) -> bool {
        let bytes = content.values.len();
        if bytes > LARGEST {
            return false;
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let now = content.at;
        all.retain(|one| one.at + COUNTS > now);
        make_room(&mut all, &OF_ACCOUNT, bytes, |one| one.account == content.account);
        make_room(&mut all, &OF_ALL, bytes, |_| true);
        all.push_back(content);
        true
    }

    /// The content with this ID, if this account replaced it recently.
    pub(super) fn get(&self, id: &str, account: &[u8; 32], now: Duration) -> Option<PreviousContent> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
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
    let sizes = all.iter().filter(|one| is_counted(one)).map(|one| one.values.len());
    let (mut count, mut sum) = sizes.fold((0, bytes), |(count, sum), size| (count + 1, sum + size));
    all.retain(|one| {
        let is_removed = is_counted(one) && (count >= limits.contents || sum > limits.bytes);
        if is_removed {
            (count, sum) = (count - 1, sum - one.values.len());
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
            values: "x".repeat(length),
            form: (&[], KeptState::Content),
            at,
        }
    }

    const NOW: Duration = Duration::from_secs(5);

    fn has(contents: &PreviousContents, account: u8, id: usize) -> bool {
        contents.get(&id.to_string(), &[account; 32], NOW).is_some()
    }

    #[test]
    fn contents_are_kept_for_their_account_and_for_a_time() {
        let contents = PreviousContents::new(&CONTENT_NAMES);
        assert!(contents.put(content(1, 1, 10, NOW)) && !contents.put(content(1, 2, LARGEST + 1, NOW)));
        assert!(has(&contents, 1, 1));
        assert!(!has(&contents, 2, 1), "another account");
        assert!(contents.get("1", &[1; 32], NOW + COUNTS).is_none());
    }

    #[test]
    fn a_busy_account_removes_only_its_own_contents() {
        let contents = PreviousContents::new(&CONTENT_NAMES);
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
            let contents = PreviousContents::new(&CONTENT_NAMES);
            for id in 0..1000 {
                contents.put(content(u8::try_from(id / 16).unwrap(), id, length, NOW));
            }
            let all = contents.all.lock().unwrap();
            let bytes: usize = all.iter().map(|one| one.values.len()).sum();
            assert!(all.len() <= OF_ALL.contents && bytes <= OF_ALL.bytes, "{} {bytes}", all.len());
            assert!(all.back().is_some_and(|one| one.id == "999"));
        }
    }
}
