//! What is recorded of a call.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// One call. Texts are kept as they are: who records them sees that they are short and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time when it came in, milliseconds since 1970.
    pub at_ms: u64,
    /// Who called.
    pub principal: Arc<str>,
    /// The profile that was called.
    pub profile: Arc<str>,
    /// The server that it went to, if it went to one.
    pub upstream: Option<Arc<str>>,
    /// The name that was called, as the client has it.
    pub tool: Option<Arc<str>>,
    /// The method.
    pub method: Cow<'static, str>,
    /// How it ended.
    pub outcome: Outcome,
    /// The error's code, if it ended with one.
    pub code: Option<i64>,
    /// From its arrival to its answer, in microseconds.
    pub duration_us: u64,
    /// The request's size in bytes.
    pub request_bytes: u64,
    /// The answer's size in bytes.
    pub response_bytes: u64,
    /// The arguments, JSON text in which secrets are covered.
    pub arguments: Option<String>,
    /// The client's address, where it has one.
    pub address: Option<Arc<str>>,
    /// The client's name and version, as it gives them.
    pub client: Option<Arc<str>>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With a result.
    Ok,
    /// With an error, or with a result that says that the tool failed.
    Error,
    /// It was not let through: by missing or bad credentials, by a rule, by a rate limit.
    Denied,
    /// What it names is nowhere, for nobody.
    Unknown,
}

impl Outcome {
    /// Its name, as it is kept and asked for.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Ok, Self::Error, Self::Denied, Self::Unknown]
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no outcome; there are ok, error, denied and unknown"))
    }
}

/// An entry as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its number: greater than that of all that were recorded before it.
    pub id: i64,
    /// The entry.
    pub entry: Entry,
}
