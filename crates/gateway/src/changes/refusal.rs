//! The reason why an edit is refused: a code for programs, an HTTP status, and a message for people.

use std::fmt;

use config::Faults;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The machine-readable code of the error.
    pub code: &'static str,
    /// The problem, and how to solve it.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Refusal {
    /// Creates a refusal with this HTTP status, this code for programs, and this message for people.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// Returns the refusal of an invalid request.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_REQUEST", message)
    }

    pub(crate) fn slug(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_SLUG", message)
    }

    pub(crate) fn slug_exists(slug: &str) -> Self {
        Self::new(409, "SLUG_EXISTS", format!("the profile {slug:?} already exists"))
    }

    /// Returns the refusal of a request for a profile that does not exist.
    pub fn no_profile(slug: &str) -> Self {
        Self::new(404, "PROFILE_NOT_FOUND", format!("there is no profile {slug:?}"))
    }

    pub(crate) fn profile_in_use(message: impl Into<String>) -> Self {
        Self::new(409, "PROFILE_IN_USE", message)
    }

    /// Returns the refusal of a request for a server that does not exist.
    pub fn no_server(id: &str) -> Self {
        Self::new(404, "SERVER_NOT_FOUND", format!("there is no server {id:?}"))
    }

    pub(crate) fn already_added(id: &str, slug: &str) -> Self {
        Self::new(409, "ALREADY_ADDED", format!("the profile {slug:?} already has the server {id:?}"))
    }

    pub(crate) fn not_in_profile(id: &str, slug: &str) -> Self {
        Self::new(
            404,
            "SERVER_NOT_IN_PROFILE",
            format!("the profile {slug:?} does not have the server {id:?}"),
        )
    }

    pub(crate) fn kind(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_TYPE", message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_CONFIG", message)
    }

    pub(crate) fn in_use(id: &str, profiles: &[&str]) -> Self {
        let profiles = profiles.join(", ");
        Self::new(
            409,
            "SERVER_IN_USE",
            format!(
                "the server {id:?} belongs to these profiles: {profiles}; first remove the server from each of them"
            ),
        )
    }

    /// Returns the refusal for an internal error, which the caller cannot fix.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "INTERNAL_ERROR", message)
    }

    /// Returns a refusal that lists the path and the problem of each fault in the configuration that would result from
    /// the request.
    pub(super) fn faults(faults: &Faults) -> Self {
        let one = |fault: &config::Fault| format!("{}: {} ({})", fault.path, fault.message, fault.help);
        Self::config(faults.faults.iter().map(one).collect::<Vec<_>>().join("; "))
    }
}
