//! Requests that shared limits have to count, and the requests to the store that this needs. This module must not know the limits.

use super::rated_request::Verdict;

/// Requests of one counter that have to be counted.
#[derive(Debug, Clone)]
pub struct SharedTake {
    pub(super) rule: usize,
    pub(super) key: u64,
    pub(super) count: u32,
    /// The counter's name, the same in all processes.
    pub(super) subject: Vec<u8>,
    pub(super) held: CountingPlace,
}

/// The place in which requests are counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountingPlace {
    /// Not yet.
    Not,
    /// From the lease of this process.
    Leased(Verdict),
    /// Without the store, each for this time in nanoseconds.
    Alone(u64),
}

/// A request to the store to count requests for this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountRequest {
    /// The index of the limit.
    pub rule: usize,
    /// The number of the counter in this process.
    pub key: u64,
    /// The counter's name, the same in all processes.
    pub subject: Vec<u8>,
    /// The time in which one request is paid back, in nanoseconds.
    pub interval: u64,
    /// The number of requests that may arrive at once.
    pub burst: u32,
    /// The minimum number of requests: if the limit does not allow them, nothing is counted.
    pub least: u32,
    /// The maximum number of requests.
    pub most: u32,
    /// The time until all requests that this process knows about are paid back, in nanoseconds. The store may have lost its data.
    pub owed: u64,
}

/// The next step for requests.
#[derive(Debug, PartialEq, Eq)]
pub enum SharedStep {
    /// They are decided.
    Decided(Verdict),
    /// The counter with this number waits for a lease. Nothing is counted; try again afterwards.
    Waits(u64),
    /// The store has to count these, all or none. Everything else is counted.
    Store(Vec<CountRequest>),
}
