//! Limits, and their current use.

use super::ForeignText;

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
    /// The number of requests that were refused since this configuration came into force.
    pub refused: u64,
}

/// A cap.
#[derive(Debug, Clone, Default)]
pub struct CapRow {
    /// The key in the configuration: `limits.sessions`.
    pub key: ForeignText,
    /// The meaning of the cap.
    pub means: ForeignText,
    /// The value, as the configuration writes it: `10000`, `4MiB`.
    pub limit: ForeignText,
    /// The use now, and the maximum in the same unit; `None` if nothing is counted.
    pub used: Option<(u64, u64)>,
}
