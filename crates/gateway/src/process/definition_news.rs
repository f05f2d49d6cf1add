//! Reasons to compare the approved definitions of tools with those of the other gateways of a cluster. This module must not know
//! how they are compared.

use std::collections::{HashMap, HashSet};
use std::mem::take;

use parking_lot::Mutex;
use store::catalogues::ServerDigest;
use tokio::sync::Notify;

/// The maximum number of announced servers that are remembered one by one.
const MOST_NAMES: usize = 1000;

/// The servers whose definitions may differ from those of the other gateways.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DueServers {
    /// The names under which gateways share the servers.
    names: HashSet<String>,
    /// True for all servers.
    pub(crate) all: bool,
    /// True if this gateway has just connected to the store.
    pub(crate) has_joined: bool,
}

impl DueServers {
    /// Returns true if the server with this name is due.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// The state of a server at the last comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComparedServer {
    /// The text in place of the version in the store.
    pub(crate) mark: String,
    /// The digest of the decisions in the file.
    pub(crate) own: [u8; 32],
    /// The key under which the store's content is sealed.
    pub(crate) sealed_under: String,
}

/// The servers that are due, and the outcomes of earlier comparisons.
#[derive(Debug, Default)]
pub(crate) struct DefinitionNews {
    due: Mutex<DueServers>,
    arrived: Notify,
    compared: Mutex<HashMap<ServerDigest, ComparedServer>>,
}

impl DefinitionNews {
    /// Records that all servers are due again a little later, because a comparison has failed.
    pub(crate) fn failed(&self, has_joined: bool) {
        let mut due = self.due.lock();
        due.all = true;
        due.has_joined |= has_joined;
    }

    /// Records that all servers are due, because the file has changed.
    pub(crate) fn all(&self) {
        self.due.lock().all = true;
        self.arrived.notify_one();
    }

    /// Records that all servers are due, because the gateway has connected to the store.
    pub(crate) fn joined(&self) {
        self.due.lock().has_joined = true;
        self.all();
    }

    /// Records that another gateway has announced changes to servers.
    pub(crate) fn announced(&self, names: &[String]) {
        let mut due = self.due.lock();
        if due.names.len() + names.len() > MOST_NAMES {
            due.all = true;
        } else {
            due.names.extend(names.iter().cloned());
        }
        drop(due);
        self.arrived.notify_one();
    }

    /// Waits until a server is due.
    pub(crate) async fn arrival(&self) {
        self.arrived.notified().await;
    }

    /// Takes the servers that are due.
    pub(crate) fn take(&self) -> DueServers {
        take(&mut self.due.lock())
    }

    /// Returns the outcome of the last comparison of a server.
    pub(crate) fn compared(&self, server: &ServerDigest) -> Option<ComparedServer> {
        self.compared.lock().get(server).cloned()
    }

    /// Records the outcome of a comparison. The file has no more servers than this.
    pub(crate) fn note(&self, server: ServerDigest, compared: ComparedServer) {
        self.compared.lock().insert(server, compared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_servers_are_due_once_and_too_many_make_all_due() {
        let news = DefinitionNews::default();
        assert_eq!(news.take(), DueServers::default());
        news.announced(&["a".to_owned()]);
        let due = news.take();
        assert!(due.contains("a") && !due.contains("b") && !due.has_joined);
        assert!(!news.take().contains("a"));
        news.announced(&(0..=MOST_NAMES).map(|number| number.to_string()).collect::<Vec<_>>());
        let due = news.take();
        assert!(due.contains("b") && due.names.is_empty());
        news.joined();
        assert!(news.take().has_joined);
    }
}
