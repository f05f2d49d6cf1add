//! Rate limits, exact with any number of concurrent threads.
//!
//! Pure: the time and a random seed are arguments. This module must not know transports, or the form of a refusal.
//!
//! | file | is for |
//! |---|---|
//! | `quota` | the arithmetic of one counter |
//! | `cells` | all counters, in bounded memory |
//! | `limiter` | the limits that concern a request, and their verdict |

mod cells;
mod limiter;
mod quota;

#[cfg(test)]
mod tests;

pub use limiter::{Connection, Entering, Limiter, RatedRequest, Verdict};
pub use quota::Quota;
