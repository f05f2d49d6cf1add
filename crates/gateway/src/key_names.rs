//! The names of API keys. Records and sessions contain only the id of a caller (`key:PREFIX`). The names of keys,
//! including revoked keys, are looked up when they are shown. This module must not know where names are shown.

use std::collections::HashMap;
use std::path::Path;

use config::Glob;
use engine::access::{Principal, Scheme};
use store::audit::Query;
use store::keys::{ApiKey, KeyState, Keys};

/// The beginning of the id of a caller that uses an API key.
const KEY: &str = "key:";

/// The beginning of the error message if no active key has the requested name.
pub const NO_KEY: &str = "no active key has this name";

/// The maximum number of keys that a pattern may select.
const MOST_KEYS: usize = 200;

/// The keys of a state folder, by the ids of their callers.
#[derive(Debug, Clone, Default)]
pub struct KeyNames(HashMap<String, ApiKey>);

impl KeyNames {
    /// Reads the keys of a state folder.
    ///
    /// # Errors
    /// Fails if the file of keys cannot be read.
    pub fn read(folder: &Path) -> Result<Self, store::Error> {
        let keys = Keys::open_existing(folder)?.map_or_else(|| Ok(Vec::new()), |keys| keys.list())?;
        Ok(Self::of(keys))
    }

    fn of(keys: Vec<ApiKey>) -> Self {
        Self(keys.into_iter().map(|key| (format!("{KEY}{}", key.prefix), key)).collect())
    }

    /// Returns the name of the key of the caller with this id.
    pub fn name_of(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(|key| key.name.as_str())
    }

    /// Returns a caller in the form for people: `ci-bot (key dgm_ryFpcurN)`, or the id if the key is unknown.
    pub fn shown(&self, id: &str) -> String {
        match self.0.get(id) {
            Some(key) => format!("{} (key {})", key.name, key.prefix),
            None => id.to_owned(),
        }
    }

    /// Returns true if `text` identifies the caller with this id: the id, the name of the caller's key, or the form
    /// in which the caller is shown.
    pub fn is_called(&self, id: &str, text: &str) -> bool {
        let is_name = |name: &str| text.strip_prefix(KEY).unwrap_or(text) == name;
        id == text || self.name_of(id).is_some_and(is_name) || self.shown(id) == text
    }

    /// Returns the ids of the callers whose keys have a name that matches the pattern, with or without `key:` before it.
    pub fn ids(&self, pattern: &str) -> Vec<String> {
        let pattern = pattern.strip_prefix(KEY).unwrap_or(pattern);
        let Ok(glob) = Glob::parse(pattern) else { return Vec::new() };
        let mut ids: Vec<String> =
            self.0.iter().filter(|(_, key)| glob.matches(&key.name)).map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids.truncate(MOST_KEYS);
        ids
    }

    /// Returns the query, extended so that its pattern for callers also matches the names of their keys.
    #[must_use]
    pub fn widened(&self, mut query: Query) -> Query {
        if let Some(pattern) = &query.principal {
            query.principals = self.ids(pattern);
            query.principals.push(format!("user:{pattern}"));
        }
        query
    }

    /// Returns the caller with the active key of this name or prefix, with or without `key:` before it.
    ///
    /// # Errors
    /// Returns the reason why there is no such caller.
    pub fn caller(&self, text: &str, now_ms: u64) -> Result<Principal, String> {
        let text = text.strip_prefix(KEY).unwrap_or(text);
        let is_meant = |key: &&ApiKey| key.name == text || key.prefix == text;
        let mut meant: Vec<&ApiKey> = self.0.values().filter(is_meant).collect();
        meant.sort_by_key(|key| key.id);
        let is_active = |key: &&&ApiKey| key.state(now_ms) == KeyState::Active;
        if let Some(key) = meant.iter().find(is_active) {
            return Ok(principal(key));
        }
        Err(match meant.last().map(|key| key.state(now_ms)) {
            Some(KeyState::Revoked) => format!("{NO_KEY}: the key {text:?} was revoked"),
            Some(_) => format!("{NO_KEY}: the key {text:?} has expired"),
            None => format!("{NO_KEY} or prefix: {text:?}"),
        })
    }

    /// Returns the callers with active keys, by name.
    pub fn active(&self, now_ms: u64) -> Vec<Principal> {
        let mut keys: Vec<&ApiKey> =
            self.0.values().filter(|key| key.state(now_ms) == KeyState::Active).collect();
        keys.sort_by(|one, other| one.name.cmp(&other.name));
        keys.into_iter().map(principal).collect()
    }

    /// Returns the caller with this id and the facts that access rules use; `None` if these facts are unknown, or
    /// if the caller's key is not valid.
    pub fn principal(&self, id: &str, now_ms: u64) -> Option<Principal> {
        if let Some(key) = self.0.get(id).filter(|key| key.state(now_ms) == KeyState::Active) {
            return Some(principal(key));
        }
        let name = id.strip_prefix("user:")?;
        Some(Principal { user: Some(name.into()), ..Principal::new(id, Scheme::Basic) })
    }

    /// Returns true if this is the id of a caller with an unknown key.
    pub fn lacks(&self, id: &str) -> bool {
        Self::is_key(id) && !self.0.contains_key(id)
    }

    /// Returns true if this is the id of a caller with a key, known or unknown.
    pub fn is_key(id: &str) -> bool {
        id.starts_with(KEY)
    }
}

fn principal(key: &ApiKey) -> Principal {
    Principal::of_key(&key.prefix, &key.name, key.profiles.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, prefix: &str, revoked_ms: Option<u64>) -> ApiKey {
        ApiKey {
            id: 1,
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            profiles: None,
            created_ms: 0,
            expires_ms: None,
            last_used_ms: None,
            revoked_ms,
        }
    }

    #[test]
    fn callers_are_shown_and_found_by_the_names_of_their_keys() {
        let names = KeyNames::of(vec![key("ci-bot", "dgm_a", Some(5)), key("ci-bot", "dgm_b", None)]);
        assert_eq!(names.shown("key:dgm_a"), "ci-bot (key dgm_a)", "a revoked key has a name, too");
        assert_eq!(
            (names.shown("key:dgm_c"), names.shown("user:ann")),
            ("key:dgm_c".into(), "user:ann".into())
        );
        for pattern in ["ci-bot", "key:ci-bot", "ci-*"] {
            assert_eq!(names.ids(pattern), ["key:dgm_a", "key:dgm_b"], "{pattern}");
        }
        assert!(names.ids("bot").is_empty() && names.ids("key:dgm_a").is_empty());
        let query = names.widened(Query { principal: Some("ci-bot".to_owned()), ..Query::default() });
        assert_eq!(query.principals, ["key:dgm_a", "key:dgm_b", "user:ci-bot"]);
        assert!(
            names.widened(Query::default()).principals.is_empty(),
            "without a pattern, all callers are selected"
        );
    }

    #[test]
    fn a_caller_is_meant_by_its_id_or_its_name() {
        let names = KeyNames::of(vec![key("ci-bot", "dgm_a", None)]);
        for text in ["key:dgm_a", "ci-bot", "key:ci-bot", "ci-bot (key dgm_a)"] {
            assert!(names.is_called("key:dgm_a", text) && !names.is_called("key:dgm_b", text), "{text}");
        }
        assert!(!names.is_called("key:dgm_a", "ci-*") && names.is_called("user:ann", "user:ann"));
    }

    #[test]
    fn only_a_valid_key_is_a_caller() {
        let names = KeyNames::of(vec![key("old", "dgm_a", Some(5)), key("new", "dgm_b", None)]);
        assert!(names.principal("key:dgm_a", 10).is_none() && names.principal("jwt:x#y", 10).is_none());
        let new = names.principal("key:dgm_b", 10).expect("a caller");
        assert_eq!((new.scheme, new.user.as_deref()), (Scheme::Key, Some("new")));
        for text in ["new", "key:new", "dgm_b", "key:dgm_b"] {
            assert_eq!(
                names.caller(text, 10).map(|caller| caller.id.to_string()),
                Ok("key:dgm_b".to_owned())
            );
        }
        assert!(names.caller("old", 10).unwrap_err().ends_with("the key \"old\" was revoked"));
        assert!(names.caller("nobody", 10).unwrap_err().contains("no active key has this name"));
    }
}
