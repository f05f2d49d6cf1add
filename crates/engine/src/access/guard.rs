//! The rules as they apply to one class of askers at one profile. A view is built with these rules, and calls in the view are
//! checked against them. This module must not know who the askers are.

use std::sync::Arc;

use config::Glob;

use super::rules::{Class, Rules};
use super::target::AccessTarget;
use crate::list_kind::ListKind;

/// The access of a class of askers to a profile.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The class of the askers.
    pub class: Class,
    /// The name of the profile.
    pub profile: Arc<str>,
}

impl Guard {
    /// The target for a listed item of a server. `name` is the item's identity (`server__name`) or URI.
    pub fn target<'a>(&'a self, server: &'a str, kind: ListKind, name: &'a str) -> AccessTarget<'a> {
        AccessTarget::listed(&self.profile, server, kind, name)
    }

    /// Returns false if the rules certainly deny the askers every item of a server. Each pattern in `like` stands
    /// for the names or URIs by which rules can refer to these items.
    pub fn opens(&self, server: &str, like: &[Glob]) -> bool {
        self.rules.opens_server(&self.class, (&self.profile, server), like)
    }

    /// Returns true if a rule can deny the askers any item of a server.
    pub fn bounds(&self, server: &str) -> bool {
        self.rules.bound(&self.class, (&self.profile, server))
    }

    /// Returns true if a rule can deny the askers a resource of a server, given that the resource's URI matches `like`.
    pub fn bounds_resources(&self, server: &str, like: &Glob) -> bool {
        self.rules.bound_resources(&self.class, (&self.profile, server), like)
    }

    /// Returns true if the askers may use the target.
    pub fn admits(&self, target: &AccessTarget<'_>) -> bool {
        self.rules.decide_as(&self.class, target).is_allowed()
    }
}
