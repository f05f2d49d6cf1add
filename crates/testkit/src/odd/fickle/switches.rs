//! The words that change the server's behavior.
//!
//! | word | does |
//! |---|---|
//! | `down` | does not start |
//! | `die` | ends at once |
//! | `hang` | accepts connections, reads and answers nothing |
//! | `slow=MS` | delays answers by this time |
//! | `forget=N` | forgets, for good, the sessions that were opened while the number was smaller |
//! | `wording=NAME` | selects the error message for the sessions that are forgotten ([`super::wording`]) |
//! | `tool=NAME` | lists and serves one more tool; a change is announced |
//! | `quiet` | announces nothing |
//! | `flood=N` | sends N log messages and an announcement to all clients, every 20 ms |
//! | `malformed`, `deep` | lists a malformed tool, or one whose schema nests 200 levels |
//! | `gate` | lists the tool `gated` for clients that support questions |
//! | `cut` | ends the stream of a call in place of its answer |
//! | `deafen` | ends each stream of notifications after a moment |
//! | `idle-close=MS` | drops a request that comes over a connection that was idle for this time |

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The words that are currently set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches(BTreeSet<String>);

impl Switches {
    /// The words of a text, separated by white space.
    pub(super) fn of(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }

    /// The words of a file; none if it cannot be read.
    pub(super) fn read(path: &Path) -> Self {
        Self::of(&fs::read_to_string(path).unwrap_or_default())
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// All values that are set for `key`.
    pub(super) fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> {
        let key = format!("{key}=");
        self.0.iter().filter_map(move |word| word.strip_prefix(key.as_str()))
    }

    /// The first value that is set for `key`.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }

    /// The number that is set for `key`; 0 if there is none.
    pub(super) fn number(&self, key: &str) -> u64 {
        self.text(key).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Returns true if both list the same tools.
    pub(super) fn same_lists(&self, other: &Self) -> bool {
        let listed = |of: &Self| {
            let words = ["malformed", "deep", "gate"].map(|word| of.has(word));
            (words, of.all("tool").map(str::to_owned).collect::<Vec<_>>())
        };
        listed(self) == listed(other)
    }
}
