//! Change notices about resources, between eras that subscribe to each resource in a session and eras that name all
//! resources when they open a stream. This module tracks the number of listeners of each resource, the calls that
//! must still be sent to the server, and, if there are two streams, the one whose notices are delivered. This
//! module must not know who listens, or over which transport.

use std::collections::{BTreeMap, BTreeSet};

/// The resources of one server that have listeners, with the number of listeners of each.
#[derive(Debug, Default)]
pub struct Interest {
    wanted: BTreeMap<String, usize>,
    told: BTreeSet<String>,
    /// Resources that have listeners, but for which the server declined the subscription.
    refused: BTreeSet<String>,
}

/// A call that must still be sent to a server with sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionChange {
    /// The first listener of this resource has arrived.
    Subscribe(String),
    /// The last listener of this resource has left.
    Unsubscribe(String),
}

impl Interest {
    /// Adds a listener to these resources. A resource that the server declined is requested again.
    pub fn add<'a>(&mut self, uris: impl IntoIterator<Item = &'a str>) {
        for uri in uris {
            self.refused.remove(uri);
            *self.wanted.entry(uri.to_owned()).or_default() += 1;
        }
    }

    /// Removes a listener from these resources.
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

    /// Returns true if no resource has listeners.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// The resources that have listeners.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.wanted.keys().map(String::as_str)
    }

    /// Returns true if the server's subscriptions differ from those that are needed now.
    pub fn is_due(&self) -> bool {
        !self.told.iter().map(String::as_str).eq(self.uris().filter(|uri| !self.is_refused(uri)))
    }

    /// The next call that must be sent to a server with sessions; `None` if its subscriptions are up to date.
    /// Subscribing comes before unsubscribing.
    pub fn next_change(&self) -> Option<SubscriptionChange> {
        let missing = self.wanted.keys().find(|uri| !self.told.contains(*uri) && !self.is_refused(uri));
        let spare = || self.told.iter().find(|uri| !self.wanted.contains_key(*uri));
        missing
            .cloned()
            .map(SubscriptionChange::Subscribe)
            .or_else(|| spare().cloned().map(SubscriptionChange::Unsubscribe))
    }

    /// Records that the server got this call.
    pub fn tell(&mut self, change: SubscriptionChange) {
        match change {
            SubscriptionChange::Subscribe(uri) => self.told.insert(uri),
            SubscriptionChange::Unsubscribe(uri) => self.told.remove(&uri),
        };
    }

    /// Records that the server declined the subscription to this resource.
    pub fn refuse(&mut self, uri: String) {
        self.told.remove(&uri);
        if self.wanted.contains_key(&uri) {
            self.refused.insert(uri);
        }
    }

    /// Returns true if the server declined the subscription to this resource.
    pub fn is_refused(&self, uri: &str) -> bool {
        self.refused.contains(uri)
    }

    /// Records that a new stream requested exactly these resources from the server, which honors some of
    /// them.
    pub fn tell_all(&mut self, uris: impl IntoIterator<Item = String>, honours: impl Fn(&str) -> bool) {
        let (told, refused): (Vec<_>, Vec<_>) = uris.into_iter().partition(|uri| honours(uri));
        self.told = told.into_iter().collect();
        for uri in refused {
            self.refuse(uri);
        }
    }

    /// Records that the server has lost all subscriptions.
    pub fn forget(&mut self) {
        self.told.clear();
        self.refused.clear();
    }
}

/// Returns true if a notice about the resource `changed` concerns a listener of `wanted`. This is so if both are
/// the same resource, or if `changed` is a part of `wanted` (MCP 2024-11-05, resources: a server may report a
/// sub-resource of the subscribed one).
pub fn concerns(wanted: &str, changed: &str) -> bool {
    changed
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || wanted.ends_with('/') || rest.starts_with(['/', '#', '?']))
}

/// Two streams of one server while one replaces the other. Only the notices on one of them are delivered, so no
/// notice is lost or delivered twice.
#[derive(Debug, Default)]
pub struct StreamHandover {
    opened: u64,
    heard: u64,
}

impl StreamHandover {
    /// Registers a new stream and returns its number.
    pub fn open(&mut self) -> u64 {
        self.opened += 1;
        self.opened
    }

    /// Records that the server acknowledged a stream. Returns `true` if it replaces the older ones, which the
    /// caller then closes.
    pub fn acknowledge(&mut self, stream: u64) -> bool {
        let newer = stream > self.heard;
        self.heard = self.heard.max(stream);
        newer
    }

    /// Returns true if notices on this stream are delivered.
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
        let mut streams = StreamHandover::default();
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
