//! How many requests in how much time, exactly, however many threads count at once.
//!
//! Pure: the time is an argument, randomness a seed. It must not know transports, or what a refusal looks like.
//!
//! | file | is for |
//! |---|---|
//! | `quota` | the arithmetic of one count |
//! | `cells` | all counts, in bounded memory |
//! | `limiter` | which limits speak of a request, and what they say |

mod cells;
mod limiter;
mod quota;

#[cfg(test)]
mod tests;

pub use limiter::{Connection, Entering, Limiter, Request, Verdict};
pub use quota::Quota;
