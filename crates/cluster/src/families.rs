//! The keys of the store: one row for each family of keys. Every value except counts is sealed under the key ring, and bound to the
//! key under which it is stored. This module must not know connections.
//!
//! | family | holds | expires |
//! |---|---|---|
//! | `epoch` | a random number, written by the replica that finds an empty store | never |
//! | `log` | a stream of notices between replicas, at most [`MOST_NOTICES`] | with later notices |
//! | `replicas` | the ids of replicas, by the time of their last heartbeat | [`REPLICA_LIFE`] after it |
//! | `replica:ID` | a replica's description of itself | [`REPLICA_LIFE`] after its last heartbeat |
//! | `keys` | the API keys, by their digests | never |
//! | `changes` | the managed configuration, with its version | never |
//! | `definitions:NAME` | the approved definitions of a server's tools, with their version | half a year after the last change |
//! | `consent:NAME` | the tokens of a consent, with their version | half a year after the last change |
//! | `consent-lock:NAME` | the replica that renews the tokens of a consent | after a minute |
//! | `logins` | the ends of operators' logins | never; ends that no longer matter are removed |
//! | `sign-in:NAME` | grants with their tokens, clients, uses of tokens | with the grant, the client or the token |
//! | `used:NAME` | the use of a thing that works once | with the thing |
//! | `session:ID` | what a client has sent in its session | with the session |
//! | `events:STREAM` | a list of chunks of events that a client may request again, at most [`MOST_EVENTS`] and [`MOST_EVENT_BYTES`] | [`EVENT_LIFE`] after the last event |
//! | `home:OWNER` | the replica that has the process of an owner | two hours after its last use |
//! | `count:DIGEST` | the number of requests that a rate limit has counted | when they no longer count, after a day at most for each request of a burst |
//! | `journal` | a stream of what the gateways record, at most [`MOST_JOURNAL`] entries | some time after the last entry |
//! | `ended:ID` | the end of a session | an hour after the session would have expired |

use std::time::Duration;

/// The maximum number of notices that the store keeps. A replica that missed more notices than this compares
/// everything.
pub(crate) const MOST_NOTICES: usize = 100_000;

/// The maximum number of entries of the journal that the store keeps.
pub(crate) const MOST_JOURNAL: usize = 5000;

/// The maximum number of events of a client's event stream that the store keeps.
pub(crate) const MOST_EVENTS: usize = 256;

/// The maximum size of the events of a client's event stream that the store keeps, in bytes.
pub(crate) const MOST_EVENT_BYTES: usize = 1 << 20;

/// The time for which the store keeps the events of a client's event stream after the last one.
pub(crate) const EVENT_LIFE: Duration = Duration::from_mins(5);

/// The time without a heartbeat after which a replica is considered gone.
pub(crate) const REPLICA_LIFE: Duration = Duration::from_secs(10);

/// The keys of one cluster.
#[derive(Debug, Clone)]
pub(crate) struct StoreKeys {
    prefix: Box<str>,
}

impl StoreKeys {
    /// Creates the keys with this prefix, so that several clusters can use one store.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The prefix of all keys.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The key of the random number by which replicas detect that the store has lost its data.
    pub(crate) fn epoch(&self) -> String {
        self.key("epoch")
    }

    /// The key of the stream of notices; also the name of the channel on which new notices are announced.
    pub(crate) fn log(&self) -> String {
        self.key("log")
    }

    /// The key of the replicas' ids.
    pub(crate) fn replicas(&self) -> String {
        self.key("replicas")
    }

    /// The key of one replica.
    pub(crate) fn replica(&self, id: &str) -> String {
        self.named("replica", id)
    }

    /// The store's key for the API keys.
    pub(crate) fn api_keys(&self) -> String {
        self.key("keys")
    }

    /// The key of the managed configuration.
    pub(crate) fn changes(&self) -> String {
        self.key("changes")
    }

    /// The key of the approved definitions of a server.
    pub(crate) fn definitions(&self, name: &str) -> String {
        self.named("definitions", name)
    }

    /// The key of a consent.
    pub(crate) fn consent(&self, name: &str) -> String {
        self.named("consent", name)
    }

    /// The key of the lock of a consent.
    pub(crate) fn consent_lock(&self, name: &str) -> String {
        self.named("consent-lock", name)
    }

    /// The key of a document about signing in.
    pub(crate) fn sign_in(&self, name: &str) -> String {
        self.named("sign-in", name)
    }

    /// The key of the ends of operators' logins.
    pub(crate) fn logins(&self) -> String {
        self.key("logins")
    }

    /// The key of the use of a thing that works once.
    pub(crate) fn used(&self, name: &str) -> String {
        self.named("used", name)
    }

    /// The key of an open session.
    pub(crate) fn session(&self, id: &str) -> String {
        self.named("session", id)
    }

    /// The key of the end of a session.
    pub(crate) fn ended(&self, id: &str) -> String {
        self.named("ended", id)
    }

    /// The key of the events of a client's event stream.
    pub(crate) fn events(&self, stream: &str) -> String {
        self.key(&format!("events:{stream}"))
    }

    /// The key of the home of an owner.
    pub(crate) fn home(&self, owner: &str) -> String {
        self.named("home", owner)
    }

    /// The key of the journal.
    pub(crate) fn journal(&self) -> String {
        self.key("journal")
    }

    /// The key of a count.
    pub(crate) fn count(&self, digest: &str) -> String {
        self.named("count", digest)
    }

    fn key(&self, family: &str) -> String {
        self.named_by(&[family])
    }

    fn named(&self, family: &str, name: &str) -> String {
        self.named_by(&[family, name])
    }

    fn named_by(&self, parts: &[&str]) -> String {
        let rest: usize = parts.iter().map(|part| part.len() + 1).sum();
        let mut key = String::with_capacity(self.prefix.len() + rest);
        key.push_str(&self.prefix);
        for part in parts {
            key.push(':');
            key.push_str(part);
        }
        key
    }
}
