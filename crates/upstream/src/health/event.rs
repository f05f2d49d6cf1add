//! Events that concern a server's health. This module must not know their consequences.

use std::time::Instant;

use super::state::HealthCause;

/// A failure, classified by what it reveals about the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server cannot be reached.
    Unreachable(HealthCause),
    /// The server may be gone: it stopped answering, or closed the connection.
    Doubtful(HealthCause),
    /// The server is reachable, but did not answer correctly.
    Unwell(HealthCause),
    /// The server requires a credential.
    Unauthorized(HealthCause),
    /// The failure reveals nothing about the server.
    Nothing,
}

/// An event at a server. "Opening" and "link" refer only to links that all clients share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthEvent {
    /// A link is being opened; [`HealthEvent::OpeningEnded`] follows.
    OpeningBegan,
    /// An opening has ended.
    OpeningEnded(Result<(), Failure>),
    /// The link with this number ended by itself.
    LinkEnded(u64, HealthCause),
    /// The server's process is not started again before this time.
    NextStart(Instant),
    /// The process was stopped because nobody used it.
    Rested,
    /// The lists are being fetched; [`HealthEvent::ListingEnded`] follows.
    ListingBegan,
    /// A fetch of lists has ended.
    ListingEnded,
    /// Lists with this number of tools were kept from an earlier run.
    ListsKept(usize),
    /// Lists were fetched: the number of tools, and the number of items that were left out.
    ListsFetched(usize, usize),
    /// Some lists were fetched, and others failed; of the lists that failed, the known items are kept. The numbers
    /// mean the same as in [`HealthEvent::ListsFetched`].
    ListsFetchedInPart(usize, usize, HealthCause),
    /// The server has listed its items on a dedicated link, for clients that can be asked questions. The value
    /// describes these clients.
    ListedFor(&'static str),
    /// Lists could not be fetched.
    ListsFailed(Failure),
    /// The server answered a client's request.
    ExchangeGood,
    /// The server did not answer a client's request.
    ExchangeFailed(Failure),
    /// One of the gateway's own streams broke, or an owner's link could not be opened.
    StreamFailed(Failure),
    /// The notification stream of this link is lost, and could not be reopened.
    NoticesLost(u64, HealthCause),
    /// The notification stream of this link is open again, or is no longer needed.
    NoticesHeard(u64),
    /// The server is no longer configured.
    Leaving,
}
