//! The words that change how the server behaves.
//!
//! | word | does |
//! |---|---|
//! | `down` | does not start |
//! | `die` | ends at once |
//! | `hang` | accepts, reads and answers nothing |
//! | `slow=MS` | answers so much later |
//! | `forget=N` | knows no session that was opened while the number was smaller |
//! | `wording=NAME` | says so in this way ([`super::wording`]) |
//! | `tool=NAME` | lists and serves one more tool; a change is announced |
//! | `quiet` | announces nothing |
//! | `malformed`, `deep` | lists one tool that is no tool, or one whose schema nests 200 levels |
//! | `gate` | lists the tool `gated` to clients that can be asked |
//! | `cut` | ends the stream of a call where its answer should come |
//! | `deafen` | ends each stream of notices after a moment |
//! | `idle-close=MS` | drops a request that comes over a connection that was idle for so long |

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The words that are set now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches(BTreeSet<String>);

impl Switches {
    /// The words of a text, separated by white space.
    pub(super) fn of(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }

    /// The words of a file; none when it cannot be read.
    pub(super) fn read(path: &Path) -> Self {
        Self::of(&fs::read_to_string(path).unwrap_or_default())
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// The values of every `KEY=VALUE`.
    pub(super) fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> {
        let key = format!("{key}=");
        self.0.iter().filter_map(move |word| word.strip_prefix(key.as_str()))
    }

    /// The value of `KEY=VALUE`.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }

    /// The number of `KEY=NUMBER`; 0 when it is not set.
    pub(super) fn number(&self, key: &str) -> u64 {
        self.text(key).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// True when both list the same tools.
    pub(super) fn same_lists(&self, other: &Self) -> bool {
        let listed = |of: &Self| {
            let words = ["malformed", "deep", "gate"].map(|word| of.has(word));
            (words, of.all("tool").map(str::to_owned).collect::<Vec<_>>())
        };
        listed(self) == listed(other)
    }
}
