//! The sampling decision for a request (OpenTelemetry, trace SDK: sampling). This module must not know where a
//! trace comes from.

use super::TraceContext;

/// A rule for sampling decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sampler {
    /// True if the decision of a request's sender is followed.
    pub(super) follows_parent: bool,
    /// The decision for all other requests.
    pub(super) root: Root,
}

/// The decision about a request whose sender has not decided if it is traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Root {
    /// All requests are traced.
    All,
    /// No request is traced.
    None,
    /// A request is traced if the last eight bytes of its trace's id, shifted by one, are below this number. All
    /// programs with the same ratio make the same decision.
    Below(u64),
}

impl Root {
    /// Returns the decision by which this share of all requests is traced.
    pub(super) fn ratio(ratio: f64) -> Self {
        if ratio >= 1.0 {
            return Self::All;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the share is between 0 and 1"
        )]
        let below = (ratio.max(0.0) * (1_u64 << 63) as f64) as u64;
        Self::Below(below)
    }
}

impl Sampler {
    /// Returns true if a request is traced; `parent` is the sender's span, `trace` the id of the trace.
    pub(super) fn takes(self, parent: Option<&TraceContext>, trace: [u8; 16]) -> bool {
        if let Some(parent) = parent.filter(|_| self.follows_parent) {
            return parent.is_sampled;
        }
        match self.root {
            Root::All => true,
            Root::None => false,
            Root::Below(below) => {
                let mut low = [0; 8];
                low.copy_from_slice(&trace[8..]);
                u64::from_be_bytes(low) >> 1 < below
            }
        }
    }
}
