//! Notices of changed resources between eras that subscribe to each resource in a session and eras that name all of them
//! when they ask for a stream: whose interest it is, what has to be said to the server, and which of two streams counts.
//! It must not know who listens, or over what.

use std::collections::{BTreeMap, BTreeSet};

/// Which resources of one server are listened to, and by how many.
#[derive(Debug, Default)]
pub struct Interest {
    wanted: BTreeMap<String, usize>,
    told: BTreeSet<String>,
    /// What is wanted, but not told of by the server, as it said when it was asked.
    refused: BTreeSet<String>,
}

/// What a server that subscribes in a session has to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Somebody wants to hear of this resource.
    Subscribe(String),
    /// Nobody does any more.
    Unsubscribe(String),
}

impl Interest {
    /// One more wants to hear of these. The server is asked again for what it has refused.
    pub fn add<'a>(&mut self, uris: impl IntoIterator<Item = &'a str>) {
        for uri in uris {
            self.refused.remove(uri);
            *self.wanted.entry(uri.to_owned()).or_default() += 1;
        }
    }

    /// One less wants to hear of these.
    pub fn remove<'a>(&mut self, uris: impl IntoIterator<Item = &'a str>) {
        for uri in uris {
            if let Some(count) = self.wanted.get_mut(uri) {
                *count -= 1;
                if *count == 0 {
                    self.wanted.remove(uri);
                    self.refused.remove(uri);
                }
            }
        }
    }

    /// Returns true if nobody wants to hear of anything.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Everything that somebody wants to hear of.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.wanted.keys().map(String::as_str)
    }

    /// Returns true if the server has not been told what is wanted now.
    pub fn is_due(&self) -> bool {
        !self.told.iter().map(String::as_str).eq(self.uris().filter(|uri| !self.is_refused(uri)))
    }

    /// The next thing to tell a server that subscribes in a session; `None` when it knows. What is wanted comes first.
    pub fn next_change(&self) -> Option<Change> {
        let missing = self.wanted.keys().find(|uri| !self.told.contains(*uri) && !self.is_refused(uri));
        let spare = || self.told.iter().find(|uri| !self.wanted.contains_key(*uri));
        missing.cloned().map(Change::Subscribe).or_else(|| spare().cloned().map(Change::Unsubscribe))
    }

    /// The server was told this.
    pub fn tell(&mut self, change: Change) {
        match change {
            Change::Subscribe(uri) => self.told.insert(uri),
            Change::Unsubscribe(uri) => self.told.remove(&uri),
        };
    }

    /// The server will not tell of this.
    pub fn refuse(&mut self, uri: String) {
        self.told.remove(&uri);
        if self.wanted.contains_key(&uri) {
            self.refused.insert(uri);
        }
    }

    /// Returns true if the server said that it will not tell of this.
    pub fn is_refused(&self, uri: &str) -> bool {
        self.refused.contains(uri)
    }

    /// The server was asked for exactly these on a new stream, and honours some of them.
    pub fn tell_all(&mut self, uris: impl IntoIterator<Item = String>, honours: impl Fn(&str) -> bool) {
        let (told, refused): (Vec<_>, Vec<_>) = uris.into_iter().partition(|uri| honours(uri));
        self.told = told.into_iter().collect();
        for uri in refused {
            self.refuse(uri);
        }
    }

    /// The server has forgotten all that it was told.
    pub fn forget(&mut self) {
        self.told.clear();
        self.refused.clear();
    }
}

/// Returns true if a notice about `changed` is for whoever asked for `wanted`: the same resource, or a part of it (MCP
/// 2024-11-05, resources: a server may tell of a sub-resource of the one that was subscribed to).
pub fn concerns(wanted: &str, changed: &str) -> bool {
    changed
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || wanted.ends_with('/') || rest.starts_with(['/', '#', '?']))
}

/// Two streams of one server while one takes the other's place: which of them is listened to, so that nothing is heard
/// twice and nothing is missed.
#[derive(Debug, Default)]
pub struct Succession {
    opened: u64,
    heard: u64,
}

impl Succession {
    /// A new stream is asked for; its number.
    pub fn open(&mut self) -> u64 {
        self.opened += 1;
        self.opened
    }

    /// The server has acknowledged a stream. `true` when it takes the place of those before, which are to be closed.
    pub fn acknowledge(&mut self, stream: u64) -> bool {
        let newer = stream > self.heard;
        self.heard = self.heard.max(stream);
        newer
    }

    /// Returns true if what a stream says counts.
    pub fn counts(&self, stream: u64) -> bool {
        stream == self.heard
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_of_a_resource_concerns_those_who_asked_for_the_whole() {
        assert!(concerns("file:///a", "file:///a"));
        assert!(concerns("file:///a", "file:///a/b"));
        assert!(concerns("file:///a/", "file:///a/b"));
        assert!(!concerns("file:///a", "file:///ab"));
        assert!(!concerns("file:///a/b", "file:///a"));
    }

    #[test]
    fn the_newest_acknowledged_stream_is_heard_and_no_other() {
        let mut streams = Succession::default();
        let first = streams.open();
        assert!(!streams.counts(first));
        assert!(streams.acknowledge(first));
        let second = streams.open();
        assert!(streams.counts(first), "until the second is there");
        assert!(streams.acknowledge(second));
        assert!(!streams.counts(first) && streams.counts(second));
        assert!(!streams.acknowledge(first), "late");
    }

    proptest! {
        #[test]
        fn a_server_is_subscribed_to_what_somebody_wants_and_to_nothing_else(
            steps in prop::collection::vec((any::<bool>(), 0_usize..4), 0..60)
        ) {
            let names = ["a", "b", "c", "d"];
            let mut interest = Interest::default();
            let mut counts = [0_usize; 4];
            for (add, at) in steps {
                if add {
                    counts[at] += 1;
                    interest.add([names[at]]);
                } else if counts[at] > 0 {
                    counts[at] -= 1;
                    interest.remove([names[at]]);
                }
                let mut rounds = 0;
                while let Some(change) = interest.next_change() {
                    interest.tell(change);
                    rounds += 1;
                    prop_assert!(rounds <= 2, "one change of interest is one message");
                }
                prop_assert!(!interest.is_due());
                let wanted: Vec<&str> = (0..4).filter(|at| counts[*at] > 0).map(|at| names[at]).collect();
                prop_assert_eq!(interest.told.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
            }
        }
    }
}
