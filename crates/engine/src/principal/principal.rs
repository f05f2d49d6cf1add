//! A caller: its id, and the facts that its credential states. This module must not know how credentials are checked.

use std::sync::{Arc, LazyLock};

use super::{Calls, Scheme};
use crate::credential::Account;

/// The identity of a caller. Contains the account with which the caller has signed in, if there is one, and no
/// other credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// A stable id: `anyone`, `bearer`, `key:PREFIX`, `user:NAME`, `site:URL#NAME`, `login:URL#NAME`,
    /// `jwt:ISSUER#SUBJECT`,
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
    /// The time from which the credential is no longer valid, in milliseconds since 1970; `None` if unknown.
    pub until_ms: Option<u64>,
    /// The account at a site with which the caller has signed in; it is sent to this site only.
    pub account: Option<Arc<Account>>,
    /// The principal's calls in flight.
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
            account: None,
            calls: Calls::default(),
        }
    }

    /// The principal with an API key; `prefix` is the beginning of the key. The key is valid only for `profiles`,
    /// if these are given.
    pub fn of_key<S: AsRef<str>>(prefix: &str, name: &str, profiles: Option<&[S]>) -> Self {
        Self {
            user: Some(name.into()),
            profiles: profiles.map(|names| names.iter().map(|name| name.as_ref().into()).collect()),
            ..Self::new(&format!("key:{prefix}"), Scheme::Key)
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
