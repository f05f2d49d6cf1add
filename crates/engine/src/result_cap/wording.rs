//! The texts about shortened results, for models: they state what is missing and how to get it. This module must
//! not know which parts are missing.

use std::time::Duration;

use proto::json::quote;

use super::plan::{CapRules, UncutReason};

/// The sizes that a notice names, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) missing: usize,
    pub(super) total: usize,
}

impl Sizes {
    /// The sizes that lead to the longest notice.
    pub(super) const LONGEST: Self = Self { missing: usize::MAX, total: usize::MAX };
}

/// The notice in a shortened result.
pub(super) fn notice(rules: &CapRules<'_>, sizes: Sizes, is_kept: bool) -> String {
    let Sizes { missing, total } = sizes;
    let CapRules { most, server, uri, .. } = rules;
    let then = if is_kept {
        format!("Read the rest from the resource {uri} within {}", shown_time(rules.kept_for))
    } else {
        "The rest was not kept; request less".to_owned()
    };
    format!(
        "[Shortened by the gateway: {missing} of {total} bytes are missing, because results of server {server:?} are limited \
         to {most} bytes. {then}.]"
    )
}

/// The link to the rest, in the form of the newest version.
pub(super) fn link(rules: &CapRules<'_>, size: usize, kind: Option<&str>) -> String {
    let (uri, name) = (quote(rules.uri), quote(&format!("rest of {}", rules.tool)));
    let kind = kind.map(|kind| format!(",\"mimeType\":{kind}")).unwrap_or_default();
    format!("{{\"type\":\"resource_link\",\"uri\":{uri},\"name\":{name}{kind},\"size\":{size}}}")
}

impl UncutReason {
    /// The answer to the call, with the reason and what to do.
    pub fn describe(&self, tool: &str, server: &str, (size, most): (usize, usize)) -> String {
        let why = match self {
            Self::Structured => "a structured result cannot be shortened",
            Self::Other => "the part that could be shortened is too small",
        };
        format!(
            "the result of tool {tool:?} has {size} bytes, but results of server {server:?} are limited to {most} bytes \
             (`maxResult` of the server), and {why}; request less, for example with fewer items or a narrower filter, or ask the \
             gateway's operator to raise the limit"
        )
    }
}

fn shown_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        120.. if seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        2.. => format!("{seconds} seconds"),
        _ => "1 second".to_owned(),
    }
}
