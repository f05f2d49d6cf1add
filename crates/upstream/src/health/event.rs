//! Events that concern a server's health. It must not know what follows.

use std::time::Instant;

use super::state::HealthCause;

/// A failure, by what it says of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It is not there.
    Unreachable(HealthCause),
    /// It may have gone: it fell silent, or broke off.
    Doubtful(HealthCause),
    /// It is there, and did not answer as it should.
    Unwell(HealthCause),
    /// It wants a credential.
    Unauthorized(HealthCause),
    /// It says nothing of the server.
    Nothing,
}

/// Something that happened to a server. Openings and links are those that all clients share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthEvent {
    /// A link is being opened; [`HealthEvent::OpeningEnded`] follows.
    OpeningBegan,
    /// An opening has come to an end.
    OpeningEnded(Result<(), Failure>),
    /// The link with this number ended on its own.
    LinkEnded(u64, HealthCause),
    /// The process is not started again before this time.
    NextStart(Instant),
    /// The process was stopped because nobody used it.
    Rested,
    /// Its lists are being fetched; [`HealthEvent::ListingEnded`] follows.
    ListingBegan,
    /// A fetch of lists has come to an end.
    ListingEnded,
    /// Lists were kept from an earlier run, with this number of tools.
    ListsKept(usize),
    /// Lists were fetched: the number of tools, and of the items that were left out.
    ListsFetched(usize, usize),
    /// The same, but for lists that failed, of which what was known before stays.
    ListsFetchedInPart(usize, usize, HealthCause),
    /// It has listed its items for clients that can be asked something, described so, over a link of theirs.
    ListedFor(&'static str),
    /// Lists could not be fetched.
    ListsFailed(Failure),
    /// It answered a client's request.
    ExchangeGood,
    /// It did not answer a client's request.
    ExchangeFailed(Failure),
    /// A stream of the gateway's own broke, or an owner's link could not be opened.
    StreamFailed(Failure),
    /// The stream of notices of this link is gone, and could not be opened again.
    NoticesLost(u64, HealthCause),
    /// The stream of notices of this link is heard again, or not needed any more.
    NoticesHeard(u64),
    /// It is no longer configured.
    Leaving,
}
