//! The limits that a profile sets for calls of one tool. This module must not know how a call is made.

use std::time::Duration;

use bytes::Bytes;
use config::ToolSetting;

use super::Item;
use crate::access::Annotations;
use crate::pinning::normal_form;

/// The limits of calls of one tool in one profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolLimits {
    /// The maximum total time of a call.
    pub timeout: Option<Duration>,
    /// The maximum number of calls that run at the same time.
    pub at_once: Option<usize>,
    /// The rule for keeping results.
    pub cache: Option<CacheRule>,
}

/// The rule for keeping a tool's results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheRule {
    /// The time for which a result is kept.
    pub keep_for: Duration,
    /// The tool's definition in its normal form: results that were kept under another definition are not used.
    pub definition: Bytes,
}

/// The note about a tool whose results cannot be kept, although the profile sets `cache` for it.
pub const NOTHING_KEPT: &str =
    "`cache` has no effect, because the server does not mark the tool as read-only and idempotent";

impl ToolLimits {
    /// The limits that a setting describes, and a note if the results of this tool cannot be kept. Only the
    /// server's own hints are used, because hints that the profile sets may be wrong.
    pub(super) fn of(
        setting: &ToolSetting,
        tool: &Item,
        annotations: Annotations,
    ) -> (Option<Self>, Option<&'static str>) {
        let is_repeatable = annotations.are_repeatable();
        let keep_for = setting.keep_for.filter(|_| is_repeatable);
        let cache = keep_for.map(|keep_for| CacheRule { keep_for, definition: normal_form(&tool.text) });
        let note = (setting.keep_for.is_some() && !is_repeatable).then_some(NOTHING_KEPT);
        let limits = Self { timeout: setting.timeout, at_once: setting.at_once, cache };
        let are_there = limits.timeout.is_some() || limits.at_once.is_some() || limits.cache.is_some();
        (are_there.then_some(limits), note)
    }
}
