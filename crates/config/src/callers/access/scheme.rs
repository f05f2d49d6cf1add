//! The ways in which callers authenticate. This module must not know how credentials are checked.

use std::fmt;

use schemars::JsonSchema;

/// The way in which a caller authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Scheme {
    /// Not at all: no authentication is configured.
    Anyone,
    /// With the single token of `auth.bearer`.
    Bearer,
    /// With an API key.
    Key,
    /// With a name and a password of `auth.users`.
    Basic,
    /// With a name and a password that a WordPress site confirmed.
    Site,
    /// With an account at a WordPress site, with which a person has signed in.
    Login,
    /// With a signed token from an issuer in `auth.jwt`.
    Token,
}

impl Scheme {
    /// The schemes with their names in a configuration.
    pub const ALL: &[(&str, Self)] = &[
        ("anyone", Self::Anyone),
        ("bearer", Self::Bearer),
        ("key", Self::Key),
        ("basic", Self::Basic),
        ("site", Self::Site),
        ("login", Self::Login),
        ("token", Self::Token),
    ];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, scheme)| scheme == self).map_or("", |(name, _)| name))
    }
}
