//! The rules as one class of askers meets them at one profile: what a view is made by, and what its calls are held against.
//! It must not know who the askers are.

use std::sync::Arc;

use super::rules::{Class, Rules};
use super::target::Target;
use crate::config::Glob;
use crate::list_kind::ListKind;

/// What a class of askers may use of a profile.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The askers.
    pub class: Class,
    /// The profile's name.
    pub profile: Arc<str>,
}

impl Guard {
    /// A thing of a server, under the name that clients see, as it is listed.
    pub fn target<'a>(&'a self, server: &'a str, kind: ListKind, name: &'a str) -> Target<'a> {
        Target::listed(&self.profile, server, kind, name)
    }

    /// Returns true if anything of a server may be used whose name, or whose URI, can be `like` this; `true` is not
    /// certain.
    pub fn opens(&self, server: &str, like: &Glob) -> bool {
        self.rules.opens_server(&self.class, (&self.profile, server), like)
    }

    /// Returns true if anything of a server can be kept from the askers.
    pub fn bounds(&self, server: &str) -> bool {
        self.rules.bound(&self.class, (&self.profile, server))
    }

    /// Returns true if a resource of a server can be kept from the askers whose URI is `like` this.
    pub fn bounds_resources(&self, server: &str, like: &Glob) -> bool {
        self.rules.bound_resources(&self.class, (&self.profile, server), like)
    }

    /// Returns true if it may be used.
    pub fn admits(&self, target: &Target<'_>) -> bool {
        self.rules.decide_as(&self.class, target).is_allowed()
    }
}
