//! The side that opens a handshake, as negotiation sees it. This module must not know transports.

use std::time::Duration;

use bytes::Bytes;
use proto::era::{Era, ServerHello};
use transport::up::LinkError;

use super::negotiator::Candidate;

/// The side that opens a handshake with a server.
pub trait Guest: Sync {
    /// Returns the id and the text of the handshake request; no other request on the connection may have this id.
    fn introduction(&self, era: &'static Era) -> (u64, Bytes);

    /// Returns true if this candidate is known to work, so it needs no short deadline.
    fn is_sure_of(&self, candidate: Candidate) -> bool;

    /// Returns the time limit for a server's answer over HTTP.
    fn patience(&self, candidate: Candidate) -> Duration;

    /// Checks that a server uses the wanted version, if only one version is wanted.
    ///
    /// # Errors
    /// Returns the reason why the candidate counts as refused.
    fn accepts(&self, hello: &ServerHello) -> Result<(), LinkError>;

    /// Ends another child so that this one may start; returns true if that was possible. Called if the limit of
    /// children is reached.
    fn make_room(&self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// Receives the reason why a candidate does not work.
    fn hears(&self, candidate: Candidate, why: &LinkError);

    /// Returns the receiver of the first line of a child's output that is not a message.
    fn talk(&self) -> impl FnOnce(&str) + Send + 'static;
}
