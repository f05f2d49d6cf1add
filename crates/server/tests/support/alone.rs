//! A gateway for one client, of any version over any transport, and that client.

use std::ops::{Deref, DerefMut};

use serde_json::Value;
use testkit::client::{Peer, Wire};

use super::{Gateway, Output, Start, Started, Stdio};

/// The transport of messages, on either side of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Over HTTP, in each version's way.
    Http,
    /// Over pipes.
    Stdio,
}

/// Starts a gateway; returns its process, which must be kept, and a client's wire to it.
pub(crate) async fn connect(over: Over, with: &Start<'_>, version: &str) -> (Started, Wire) {
    if over == Over::Stdio {
        let (process, lines) = Stdio::start_with(with).parts();
        return (process, Wire::lines(lines, version));
    }
    let (process, http) = Gateway::start_with(with).await.parts();
    (process, Wire::http(http, version).await)
}

/// The gateway, and the client, whose methods it exposes.
pub(crate) struct Alone {
    process: Started,
    client: Peer,
}

impl Deref for Alone {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.client
    }
}

impl DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.client
    }
}

impl Alone {
    /// Starts a gateway for a client of this version that has sent nothing yet.
    pub(crate) async fn start(over: Over, with: &Start<'_>, version: &Value, capabilities: &Value) -> Self {
        let name = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        let (process, wire) = connect(over, with, &name).await;
        Self { process, client: Peer::new(wire, version, capabilities) }
    }

    /// The log of the gateway.
    pub(crate) fn log(&self) -> &Output {
        &self.process.err
    }
}
