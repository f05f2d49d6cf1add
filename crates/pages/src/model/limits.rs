//! Limits and how much of them is used.

use super::{ForeignText, Millis};

/// The limits.
#[derive(Debug, Clone, Default)]
pub struct LimitsPage {
    /// The rate limits.
    pub rates: Vec<RateRow>,
    /// Caps on sizes, counts and times, the fullest first.
    pub caps: Vec<CapRow>,
}

/// A rate limit.
#[derive(Debug, Clone, Default)]
pub struct RateRow {
    /// The requests that the limit counts: `tools matching blog__*`.
    pub scope: ForeignText,
    /// The quota: `100/1m`.
    pub quota: ForeignText,
    /// The requests that share a count: `caller`, `address`, `everyone`.
    pub per: ForeignText,
    /// The requests that were refused in the last 24 hours.
    pub refused: u64,
    /// Those who have used most of their quota now.
    pub users: Vec<RateUse>,
}

/// The use of a rate limit.
#[derive(Debug, Clone, Default)]
pub struct RateUse {
    /// The caller or the address.
    pub who: ForeignText,
    /// The requests that count now.
    pub used: u64,
    /// The requests that are possible.
    pub of: u64,
    /// The moment at which the count is 0 again, if there are no more requests.
    pub free_at: Option<Millis>,
}

/// A cap.
#[derive(Debug, Clone, Default)]
pub struct CapRow {
    /// The key in the configuration: `limits.sessions`.
    pub key: ForeignText,
    /// The meaning.
    pub means: ForeignText,
    /// The value, as the configuration writes it: `10000`, `4MiB`.
    pub limit: ForeignText,
    /// The use now, and the maximum in the same unit; `None` for caps that apply to one message.
    pub used: Option<(u64, u64)>,
    /// The requests that the cap refused since the start.
    pub refused: u64,
}
