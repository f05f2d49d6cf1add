//! The rows of the definitions file, and requests to approve definitions. This module must not know how the rows
//! are stored.

use crate::catalogues::ServerDigest;

/// The maximum number of approved definitions of one tool.
pub(super) const MOST_APPROVED: usize = 64;

/// The value of `approved_by` for definitions that were approved automatically, because they are in a server's
/// first lists.
pub const FIRST_SIGHT: &str = "first sight";

/// A definition as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefinition {
    /// The server's own name for the tool.
    pub tool: String,
    /// The digest of the body.
    pub fingerprint: [u8; 32],
    /// The definition in its normal form, as JSON text; empty if the body was not requested.
    pub body: Vec<u8>,
    /// The time when the definition was first listed, in milliseconds since 1970.
    pub first_seen_ms: u64,
    /// The time when the tool was first listed, with whatever definition, in milliseconds since 1970.
    pub tool_seen_ms: u64,
    /// True if the server's newest list contains the definition.
    pub is_listed: bool,
    /// The time when the server stopped listing the definition, in milliseconds since 1970, if it is known.
    pub unlisted_ms: Option<u64>,
    /// The time of the approval; `None` if the definition is not approved.
    pub approved_ms: Option<u64>,
    /// The person who approved the definition, or the reason for its approval.
    pub approved_by: Option<String>,
}

/// A server whose definitions are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedServer {
    /// The digest of everything that identifies the server.
    pub digest: ServerDigest,
    /// The server's configured name.
    pub name: String,
    /// The audiences whose first lists have been seen.
    pub audiences: Vec<u32>,
    /// The number of incomplete lists so far; no longer counted once the server's first lists are considered seen.
    pub incomplete: u32,
}

/// A definition that is not in the file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDefinition {
    /// The server's own name for the tool.
    pub tool: String,
    /// The digest of the body.
    pub fingerprint: [u8; 32],
    /// The definition in its normal form.
    pub body: Vec<u8>,
    /// True if the definition is approved on first sight.
    pub is_approved: bool,
}

/// The definitions that a server lists now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedDefinitions {
    /// The server's configured name.
    pub name: String,
    /// The audiences whose first lists have been seen.
    pub audiences: Vec<u32>,
    /// The number of incomplete lists so far; no longer counted once the server's first lists are considered seen.
    pub incomplete: u32,
    /// Definitions that may be missing from the file.
    pub new: Vec<NewDefinition>,
    /// All definitions that are listed, by tool and fingerprint.
    pub listed: Vec<(String, [u8; 32])>,
}

/// The tools to approve.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The names of the tools; `None` for all.
    pub tools: Option<&'a [String]>,
    /// The revision that was reviewed; `None` to approve whatever is listed now.
    pub revision: Option<&'a str>,
    /// The person who approves.
    pub by: &'a str,
}

/// The reason why nothing was approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefused {
    /// The server's definitions have changed since they were reviewed.
    #[error("the definitions changed after you reviewed them: the revision is {0} now")]
    Outdated(String),
    /// There is nothing to approve for a tool.
    #[error("the tool {0:?} has no change that awaits approval")]
    Unknown(String),
    /// Too many definitions of a tool are listed and approved.
    #[error(
        "{MOST_APPROVED} definitions of the tool {0:?} are listed and approved already, which is the maximum"
    )]
    TooMany(String),
}
