//! Why a change cannot be: a name for programs, a status of HTTP, and words for people.

use std::fmt;

use engine::config::Faults;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// HTTP's status.
    pub(crate) status: u16,
    /// The name by which programs tell it from others.
    pub(crate) code: &'static str,
    /// What is wrong and what would be right.
    pub(crate) message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// What was sent is not what is asked for here.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_REQUEST", message)
    }

    pub(crate) fn slug(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_SLUG", message)
    }

    pub(crate) fn slug_exists(slug: &str) -> Self {
        Self::new(409, "SLUG_EXISTS", format!("there is a profile {slug:?} already"))
    }

    pub(crate) fn no_profile(slug: &str) -> Self {
        Self::new(404, "PROFILE_NOT_FOUND", format!("there is no profile {slug:?}"))
    }

    pub(crate) fn profile_in_use(message: impl Into<String>) -> Self {
        Self::new(409, "PROFILE_IN_USE", message)
    }

    pub(crate) fn no_server(id: &str) -> Self {
        Self::new(404, "SERVER_NOT_FOUND", format!("there is no server {id:?}"))
    }

    pub(crate) fn already_added(id: &str, slug: &str) -> Self {
        Self::new(409, "ALREADY_ADDED", format!("the profile {slug:?} has the server {id:?} already"))
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
        Self::new(409, "SERVER_IN_USE", format!("{id:?} is a server of {profiles}; take it out there first"))
    }

    /// Something went wrong that nobody who asks can mend.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "INTERNAL_ERROR", message)
    }

    /// The faults of a configuration that was made of what was sent: what and where, without the text around it.
    pub(super) fn faults(faults: &Faults) -> Self {
        let one =
            |fault: &engine::config::Fault| format!("{}: {} ({})", fault.path, fault.message, fault.mend);
        Self::config(faults.faults.iter().map(one).collect::<Vec<_>>().join("; "))
    }
}
