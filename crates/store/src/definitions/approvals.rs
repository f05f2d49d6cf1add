//! The approved definitions of a server as one value, which several files can exchange: each file then has the same approvals,
//! in whatever order they arrive. This module must not know how a value reaches another file.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FIRST_SIGHT;

/// The maximum number of removed tools that are remembered for one server.
const MOST_REMOVED: usize = 1000;

/// The definition of a tool that is approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedDefinition {
    /// The digest of the body, in hexadecimal digits.
    pub fingerprint: String,
    /// The definition in its normal form; `None` if the bodies of the server are too large.
    pub body: Option<String>,
}

/// The last decision about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolApproval {
    /// The server's own name for the tool.
    pub tool: String,
    /// The time of the decision, in milliseconds since 1970.
    pub at_ms: u64,
    /// The person who decided, or [`FIRST_SIGHT`].
    pub by: String,
    /// The approved definitions, by fingerprint; none if the tool was removed.
    pub definitions: Vec<ApprovedDefinition>,
}

/// The decisions about the tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerApprovals {
    /// The time at which the record of the server began, in milliseconds since 1970.
    pub since_ms: u64,
    /// The audiences whose first lists have been seen, in order.
    pub audiences: Vec<u32>,
    /// The number of incomplete lists so far.
    pub incomplete: u32,
    /// The decisions, by tool.
    pub tools: Vec<ToolApproval>,
}

impl ToolApproval {
    fn is_first_sight(&self) -> bool {
        self.by == FIRST_SIGHT
    }

    /// Of two decisions about a tool, the one with the higher rank counts: people before first sights, the last decision of a
    /// person, and the first sight of a definition.
    fn rank(&self) -> impl Ord + use<'_> {
        let is_person = !self.is_first_sight();
        let at = if is_person { self.at_ms } else { u64::MAX - self.at_ms };
        let definitions: Vec<&str> = self.definitions.iter().map(|one| one.fingerprint.as_str()).collect();
        let bodies = self.definitions.iter().filter(|one| one.body.is_some()).count();
        (is_person, at, &self.by, definitions, bodies)
    }
}

impl ServerApprovals {
    /// Merges the decisions of two records, whose order does not matter.
    ///
    /// If the records began at different times, the first sights in the younger one do not count: it began without the older
    /// record, so it approved whatever the server listed at that moment.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let (elder, mut younger) =
            if self.since_ms <= other.since_ms { (self, other) } else { (other, self) };
        if elder.since_ms < younger.since_ms {
            younger.tools.retain(|one| !one.is_first_sight());
            (younger.audiences, younger.incomplete) = (Vec::new(), 0);
        }
        let mut tools: BTreeMap<String, ToolApproval> = BTreeMap::new();
        for one in elder.tools.into_iter().chain(younger.tools) {
            match tools.get_mut(&one.tool) {
                Some(known) if known.rank() >= one.rank() => {}
                Some(known) => *known = one,
                None => drop(tools.insert(one.tool.clone(), one)),
            }
        }
        let mut audiences = [elder.audiences, younger.audiences].concat();
        audiences.sort_unstable();
        audiences.dedup();
        let mut merged = Self {
            since_ms: elder.since_ms,
            audiences,
            incomplete: elder.incomplete.max(younger.incomplete),
            tools: tools.into_values().collect(),
        };
        merged.forget_removed();
        merged
    }

    /// Forgets the oldest removals if there are too many.
    fn forget_removed(&mut self) {
        let removed = self.tools.iter().filter(|one| one.definitions.is_empty());
        let mut removed: Vec<_> = removed.map(|one| (one.at_ms, one.tool.clone())).collect();
        if removed.len() > MOST_REMOVED {
            removed.sort_unstable_by_key(|one| Reverse(one.clone()));
            let oldest = removed.swap_remove(MOST_REMOVED - 1);
            self.tools
                .retain(|one| !one.definitions.is_empty() || (one.at_ms, &one.tool) >= (oldest.0, &oldest.1));
        }
    }

    /// Leaves out all bodies if they exceed `most` bytes together.
    pub fn limit_bodies(&mut self, most: usize) {
        let all = || self.tools.iter().flat_map(|one| &one.definitions);
        let size: usize = all().filter_map(|one| one.body.as_ref()).map(String::len).sum();
        if size > most {
            let all = self.tools.iter_mut().flat_map(|one| &mut one.definitions);
            all.for_each(|one| one.body = None);
        }
    }

    /// Returns true if two records have made the same decisions, even if one of them lacks bodies.
    pub fn decides_like(&self, other: &Self) -> bool {
        let ranks = |all: &Self| -> Vec<_> {
            let each = all.tools.iter().map(|one| {
                let definitions: Vec<_> = one.definitions.iter().map(|one| one.fingerprint.clone()).collect();
                (one.tool.clone(), one.at_ms, one.by.clone(), definitions)
            });
            each.collect()
        };
        (self.since_ms, &self.audiences, self.incomplete)
            == (other.since_ms, &other.audiences, other.incomplete)
            && ranks(self) == ranks(other)
    }
}

/// Reads a fingerprint; `None` for any other text.
pub(super) fn digest(fingerprint: &str) -> Option<[u8; 32]> {
    let (digits, rest) = fingerprint.as_bytes().as_chunks::<2>();
    let mut digest = [0; 32];
    if digits.len() != digest.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits) {
        let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(digest)
}
