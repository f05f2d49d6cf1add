//! `rateLimits`: how many requests in how much time.

mod model;

pub use model::{RateLimit, RateMethods, RatePer};
