//! Rate limits, exact with any number of concurrent threads: those of one process, and those that several processes share.
//!
//! Pure: the time and a random seed are arguments. This module must not know transports, or the form of a refusal.
//!
//! | file | is for |
//! |---|---|
//! | `quota` | the arithmetic of one counter |
//! | `rated_request` | a request, as limits see it, and their verdict |
//! | `active_limit` | one limit: which requests it concerns, and which counter a request belongs to |
//! | `cells`, `limiter` | limits of one process: all counters, in bounded memory; the verdict of all limits |
//! | `lease_cell`, `lease_table` | the part of a shared count that this process may use on its own; all parts, in bounded memory |
//! | `shared_take` | requests that shared limits have to count, and requests to the store |
//! | `shared_limit`, `shared_limiter` | limits of several processes: one limit; which counts need the store, and the verdict of all limits |

mod active_limit;
mod cells;
mod lease_cell;
mod lease_table;
mod limiter;
mod quota;
mod rated_request;
mod shared_limit;
mod shared_limiter;
mod shared_take;

#[cfg(test)]
mod lease_tests;
#[cfg(test)]
mod tests;

pub use lease_cell::CountAnswer;
pub use limiter::Limiter;
pub use quota::Quota;
pub use rated_request::{Connection, RatedRequest, UnknownCaller, Verdict};
pub use shared_limiter::SharedLimiter;
pub use shared_take::{CountRequest, SharedStep, SharedTake};
