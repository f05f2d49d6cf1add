//! The questions that show whether a site treats an account as a visitor, and the verdicts, which are valid for a
//! while. This module must not know how sites are asked, or which software they run.

use std::time::Duration;

use serde_json::Value;

use super::expiring::ExpiringMap;

/// The time for which a verdict is valid: the site's owner may repair the site in the meantime.
const COUNTS: Duration = Duration::from_mins(10);

/// The questions that show whether a site treats the caller as a visitor, and the hint to give if it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorCheck {
    /// Returns true if a refusal with this status and code makes the questions necessary.
    pub(crate) may_be: fn(u16, &str) -> bool,
    /// The questions, in order. The first one that yields a verdict decides.
    pub(crate) questions: &'static [VisitorQuestion],
    /// The hint to append to a refusal.
    pub(crate) hint: &'static str,
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorQuestion {
    /// The name of the API to ask; `None` for the API that refused the request.
    pub(crate) base: Option<&'static str>,
    /// The route, with `{me}` for the ID of the caller's account.
    pub(crate) route: &'static str,
    /// Reads the verdict from the status and the answer; `None` if they do not show it.
    pub(crate) judge: fn(u16, &Value) -> Option<bool>,
}

/// The verdicts by site, account and API.
#[derive(Default)]
pub(crate) struct VisitorVerdicts(ExpiringMap<([u8; 32], &'static str), VisitorVerdict>);

/// The verdict about an account at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VisitorVerdict {
    /// `None` if the answers did not show it.
    pub(super) is_visitor: Option<bool>,
}

impl VisitorVerdicts {
    pub(super) fn get(&self, key: &([u8; 32], &'static str), now: Duration) -> Option<VisitorVerdict> {
        self.0.get(key, now)
    }

    pub(super) fn put(&self, key: ([u8; 32], &'static str), is_visitor: Option<bool>, now: Duration) {
        self.0.put(key, VisitorVerdict { is_visitor }, now, now + COUNTS);
    }
}
