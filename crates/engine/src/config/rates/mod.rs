//! `rateLimits`: how many requests in how much time.

mod model;
mod read;

pub use model::{RateLimit, RateMethods, RatePer};
pub(super) use read::{read, read_rate};
