//! Who asks, once that is known. It must not know how credentials are checked.

mod calls;

use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;

pub use calls::{CallPlace, Calls};

/// How somebody showed who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Scheme {
    /// Not at all: nobody was asked.
    Anyone,
    /// By the one token of `auth.bearer`.
    Bearer,
    /// By an API key.
    Key,
    /// By a name and a password of `auth.users`.
    Basic,
    /// By a name and a password that a WordPress site confirmed.
    Site,
    /// By a signed token of an issuer of `auth.jwt`.
    Token,
}

impl Scheme {
    /// The schemes with the names that a configuration calls them by.
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

/// Who asks. Holds no credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The same for the same asker: `anyone`, `bearer`, `key:PREFIX`, `user:NAME`, `site:URL#NAME`,
    /// `jwt:ISSUER#SUBJECT`, `jwt-client:ISSUER#CLIENT` for a token without a subject.
    pub id: Arc<str>,
    /// How that was shown.
    pub scheme: Scheme,
    /// The name of a user, or that of a key.
    pub user: Option<Arc<str>>,
    /// The scopes of a token.
    pub scopes: Arc<[Box<str>]>,
    /// The claims of a token, a JSON object.
    pub claims: Option<Arc<serde_json::Value>>,
    /// The only profiles that the credential is good for; `None` for all.
    pub profiles: Option<Arc<[Box<str>]>>,
    /// From when on the credential is good for nothing, in milliseconds since 1970; `None` where that is not known before.
    pub until_ms: Option<u64>,
    /// Its calls in flight.
    pub calls: Calls,
}

static ANYONE: LazyLock<Principal> = LazyLock::new(|| Principal::new("anyone", Scheme::Anyone));

impl Principal {
    /// A principal without a name, scopes, claims or bounds.
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

    /// Whoever it is, where nobody is asked.
    pub fn anyone() -> Self {
        ANYONE.clone()
    }

    /// Returns true if the credential is good for a profile at all.
    pub fn may_enter(&self, profile: &str) -> bool {
        self.profiles.as_ref().is_none_or(|only| only.iter().any(|name| **name == *profile))
    }
}
