//! The protocol versions of the matrix, and their properties that this test needs.

use std::fmt;

use serde_json::{Value, json};

/// A version, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    First,
    October2024,
    November2024,
    March2025,
    June2025,
    November2025,
    July2026,
}

impl Version {
    /// All versions, oldest first.
    pub(crate) const ALL: [Self; 7] = [
        Self::First,
        Self::October2024,
        Self::November2024,
        Self::March2025,
        Self::June2025,
        Self::November2025,
        Self::July2026,
    ];

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::First => "1",
            Self::October2024 => "2024-10-07",
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// Its identifier in messages.
    pub(crate) fn on_the_wire(self) -> Value {
        if self == Self::First { json!(1) } else { json!(self.as_str()) }
    }

    /// Returns true if there is no handshake.
    pub(crate) fn is_stateless(self) -> bool {
        self == Self::July2026
    }

    /// Returns true if it uses HTTP+SSE, an event stream and an endpoint for messages.
    pub(crate) fn has_two_endpoints(self) -> bool {
        self <= Self::November2024
    }

    /// The capabilities of a client of this version that supports everything.
    pub(crate) fn capabilities(self) -> Value {
        match self {
            Self::First => json!({"sampling": {}}),
            Self::October2024 | Self::November2024 | Self::March2025 => {
                json!({"sampling": {}, "roots": {"listChanged": true}})
            }
            Self::June2025 => json!({"sampling": {}, "roots": {"listChanged": true}, "elicitation": {}}),
            Self::November2025 => json!({
                "sampling": {"tools": {}, "context": {}}, "roots": {"listChanged": true},
                "elicitation": {"form": {}, "url": {}},
            }),
            Self::July2026 => json!({
                "sampling": {"tools": {}, "context": {}}, "roots": {}, "elicitation": {"form": {}, "url": {}},
            }),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A client's version and an upstream's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) client: Version,
    pub(crate) upstream: Version,
}

impl Pair {
    /// Every client against every upstream.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let of = |client| Version::ALL.into_iter().map(move |upstream| Self { client, upstream });
        Version::ALL.into_iter().flat_map(of)
    }

    /// The older of the two.
    pub(crate) fn older(self) -> Version {
        self.client.min(self.upstream)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}--{}", self.client, self.upstream)
    }
}
