//! The recorded data of a call.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::RecordedReason;

/// One recorded call. Texts are stored unchanged, so the code that builds an entry keeps them short and free of
/// secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The time at which the call arrived, in milliseconds since 1970.
    pub at_ms: u64,
    /// The principal that made the call.
    pub principal: Arc<str>,
    /// The profile to which the call was addressed.
    pub profile: Arc<str>,
    /// The server to which the call was forwarded, if any.
    pub upstream: Option<Arc<str>>,
    /// The name that was called, as the client sees it.
    pub tool: Option<Arc<str>>,
    /// The MCP method of the request.
    pub method: Cow<'static, str>,
    /// The outcome of the call.
    pub outcome: CallOutcome,
    /// The error code, if the call failed with one.
    pub code: Option<i64>,
    /// The time from the call's arrival to its answer, in microseconds.
    pub duration_us: u64,
    /// The request's size in bytes.
    pub request_bytes: u64,
    /// The answer's size in bytes.
    pub response_bytes: u64,
    /// The number of times that the call was sent to its server.
    pub tries: u32,
    /// The time that the call waited, in microseconds, until it was sent for the last time: for its turn, for a
    /// connection, and between tries.
    pub waited_us: u64,
    /// True if the call was answered with a cached result, and therefore not sent to its server.
    pub cached: bool,
    /// The arguments as JSON text, with secrets redacted.
    pub arguments: Option<String>,
    /// The client's address, if it has one.
    pub address: Option<Arc<str>>,
    /// The client's name and version, as the client states them.
    pub client: Option<Arc<str>>,
    /// The reason why the call did not succeed; `None` if it succeeded, and for entries of older versions.
    pub reason: Option<Box<RecordedReason>>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// The call returned a result.
    Ok,
    /// The call returned an error, or a result that reports a failed tool.
    Error,
    /// The call was rejected: missing or invalid credentials, an access rule, or a rate limit.
    Denied,
    /// The requested name does not exist for any client.
    Unknown,
}

impl CallOutcome {
    /// The name under which the outcome is stored and queried.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for CallOutcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Ok, Self::Error, Self::Denied, Self::Unknown]
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not an outcome; use ok, error, denied or unknown"))
    }
}

/// An entry as stored in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The entry's number, greater than those of all earlier entries.
    pub id: i64,
    /// The recorded data of the call.
    pub entry: AuditEntry,
}
