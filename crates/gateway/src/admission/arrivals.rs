//! Requests as they arrive, including refused ones, for operators who connect a client. While nobody watches,
//! reading one number is the only cost for a request. This module must not know HTTP's types, or how events are
//! shown.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast::{Receiver, Sender, channel};

/// The maximum number of events by which a watcher may lag; a slower watcher loses the oldest ones.
const LAG: usize = 256;

/// The maximum number of watchers.
const MOST: usize = 16;

/// An event that a client caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivalEvent {
    /// A request was answered.
    Answered {
        /// The address from which the request came.
        address: IpAddr,
        /// The HTTP method and the path, clipped.
        request: String,
        /// The HTTP status of the response.
        status: u16,
        /// True if the request carried credentials.
        has_credentials: bool,
        /// The client's program, as it states it in a header.
        agent: Option<String>,
        /// The content of the answer, if it is one message.
        answer: Option<AnswerContent>,
    },
    /// An MCP message was read.
    Message {
        /// The profile that the request is for.
        profile: String,
        /// The JSON-RPC method.
        method: String,
        /// The name and version of the client, if it sent them.
        client: Option<String>,
        /// The version of the protocol.
        version: Option<String>,
    },
}

/// The content of an answer, as far as it explains why a client sees no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerContent {
    /// An error, with its message.
    Error(String),
    /// A list of tools.
    Tools {
        /// The number of tools in the answer.
        count: usize,
        /// True if more tools follow on further pages.
        is_more: bool,
    },
}

/// The watchers of requests.
#[derive(Debug, Default)]
pub struct Arrivals {
    watchers: AtomicUsize,
    sender: OnceLock<Sender<ArrivalEvent>>,
}

/// A watcher; dropping it ends the watch.
pub struct WatchedArrivals {
    arrivals: Arc<Arrivals>,
    /// The events, oldest first.
    pub events: Receiver<ArrivalEvent>,
}

impl Drop for WatchedArrivals {
    fn drop(&mut self) {
        self.arrivals.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Arrivals {
    /// Returns true if somebody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }

    /// Begins to watch; `None` if there are too many watchers.
    pub fn watch(self: &Arc<Self>) -> Option<WatchedArrivals> {
        let one_more = |now: usize| (now < MOST).then_some(now + 1);
        self.watchers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        let events = self.sender.get_or_init(|| channel(LAG).0).subscribe();
        Some(WatchedArrivals { arrivals: self.clone(), events })
    }

    /// Passes an event to the watchers.
    pub(crate) fn tell(&self, event: ArrivalEvent) {
        if let Some(sender) = self.sender.get() {
            // The last watcher may just have left.
            let _ = sender.send(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchers_are_few_and_see_what_happens_while_they_watch() {
        let arrivals = Arc::new(Arrivals::default());
        let event = ArrivalEvent::Message {
            profile: "default".to_owned(),
            method: "ping".to_owned(),
            client: None,
            version: None,
        };
        arrivals.tell(event.clone());
        assert!(!arrivals.is_watched());
        let mut watched: Vec<_> = (0..MOST).map(|_| arrivals.watch().unwrap()).collect();
        assert!(arrivals.watch().is_none());
        arrivals.tell(event.clone());
        assert_eq!(watched[0].events.try_recv().unwrap(), event);
        watched.clear();
        assert!(!arrivals.is_watched());
    }
}
