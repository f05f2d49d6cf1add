//! The authenticated identity of a caller. It must not know how credentials are checked.

mod calls;

use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;

pub use calls::{CallPlace, Calls};

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
        ("token", Self::Token),
    ];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, scheme)| scheme == self).map_or("", |(name, _)| name))
    }
}

/// The identity of a caller. Holds no credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// A stable id: `anyone`, `bearer`, `key:PREFIX`, `user:NAME`, `site:URL#NAME`, `jwt:ISSUER#SUBJECT`,
    /// `jwt-client:ISSUER#CLIENT` for a token without a subject.
    pub id: Arc<str>,
    /// The way in which the caller authenticated.
    pub scheme: Scheme,
    /// The name of the user or the key.
    pub user: Option<Arc<str>>,
    /// The scopes of a token.
    pub scopes: Arc<[Box<str>]>,
    /// The claims of a token, a JSON object.
    pub claims: Option<Arc<serde_json::Value>>,
    /// The only profiles for which the credential is valid; `None` for all.
    pub profiles: Option<Arc<[Box<str>]>>,
    /// The time at which the credential expires, in milliseconds since 1970; `None` if unknown.
    pub until_ms: Option<u64>,
    /// Its calls in flight.
    pub calls: Calls,
}

static ANYONE: LazyLock<Principal> = LazyLock::new(|| Principal::new("anyone", Scheme::Anyone));

impl Principal {
    /// A principal without a name, scopes, claims or restrictions.
    pub fn new(id: &str, scheme: Scheme) -> Self {
        Self {
            id: id.into(),
            scheme,
            user: None,
            scopes: Arc::default(),
            claims: None,
            profiles: None,
            until_ms: None,
            calls: Calls::default(),
        }
    }

    /// The principal of every caller if no authentication is configured.
    pub fn anyone() -> Self {
        ANYONE.clone()
    }

    /// Returns true if the credential is valid for a profile.
    pub fn may_enter(&self, profile: &str) -> bool {
        self.profiles.as_ref().is_none_or(|only| only.iter().any(|name| **name == *profile))
    }
}
