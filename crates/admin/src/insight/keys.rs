//! API keys. The text of a key is known only when the key is created. This module must not know HTTP.

use std::path::PathBuf;
use std::sync::Arc;

use config::{AccessRule, CallerSelection};
use engine::access::{Asker, Principal, Rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::keys::{ApiKey, KeyState, KeyText, Keys, NewKey, Revocation};

use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// All keys.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyList {
    /// True if the configuration accepts keys (`auth.keys`).
    pub(crate) accepted: bool,
    pub(crate) keys: Vec<ListedKey>,
}

/// A key, without its secret part.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedKey {
    pub(crate) name: String,
    /// The first characters of the key.
    pub(crate) prefix: String,
    /// `active`, `expired` or `revoked`.
    pub(crate) state: &'static str,
    /// The profiles for which the key is valid; `null` for all.
    pub(crate) profiles: Option<Vec<String>>,
    pub(crate) created: PointInTime,
    pub(crate) expires: Option<PointInTime>,
    pub(crate) last_used: Option<PointInTime>,
    pub(crate) revoked: Option<PointInTime>,
}

/// A new key, with its text, which is shown only once.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedKey {
    #[serde(flatten)]
    pub(crate) key_data: ListedKey,
    /// The key itself.
    pub(crate) key: String,
}

/// The properties of a key that is to be created.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WantedKey {
    /// The name of the key, unique among keys that are not revoked.
    pub(crate) name: String,
    /// The profiles for which the key is valid; all if omitted.
    #[serde(default)]
    pub(crate) profiles: Option<Vec<String>>,
    /// The number of seconds after which the key expires; never if omitted.
    #[serde(default)]
    pub(crate) expires_in_seconds: Option<u64>,
}

fn listed(key: ApiKey) -> ListedKey {
    let state = match key.state(PointInTime::now().0) {
        KeyState::Active => "active",
        KeyState::Expired => "expired",
        KeyState::Revoked => "revoked",
    };
    ListedKey {
        state,
        name: key.name,
        prefix: key.prefix,
        profiles: key.profiles,
        created: PointInTime(key.created_ms),
        expires: key.expires_ms.map(PointInTime),
        last_used: key.last_used_ms.map(PointInTime),
        revoked: key.revoked_ms.map(PointInTime),
    }
}

fn folder(shard: &Shard) -> Result<PathBuf, Refusal> {
    let missing =
        || Refusal::new(409, "NO_STATE_FOLDER", "there is no state folder for keys; set `stateFolder`");
    shard.gateway.process.folder.clone().ok_or_else(missing)
}

/// Returns the refusal for an error of the store.
fn refused(error: &store::Error) -> Refusal {
    match error {
        store::Error::NameTaken(_) => Refusal::new(409, "KEY_EXISTS", format!("{error}; {}", error.help())),
        store::Error::Name { .. } | store::Error::Profile(_) => {
            Refusal::request(format!("{error}; {}", error.help()))
        }
        _ => Refusal::internal(format!("{error}; {}", error.help())),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, store::Error> + Send + 'static,
) -> Result<T, Refusal> {
    let done = transport::task::spawn_blocking(work).await.map_err(|e| Refusal::internal(e.to_string()))?;
    done.map_err(|e| refused(&e))
}

/// Returns all keys, including revoked ones.
///
/// # Errors
/// Fails if the file of keys cannot be read.
pub(crate) async fn keys(shard: &Arc<Shard>) -> Result<KeyList, Refusal> {
    let accepted = shard.gateway.standing.config().auth.keys;
    let Ok(folder) = folder(shard) else { return Ok(KeyList { accepted, keys: Vec::new() }) };
    let read = move || Keys::open_existing(&folder)?.map_or_else(|| Ok(Vec::new()), |keys| keys.list());
    let keys = blocking(read).await?.into_iter().map(listed).collect();
    Ok(KeyList { accepted, keys })
}

/// Returns the names of all keys; none if they cannot be read.
pub(crate) async fn key_names(shard: &Arc<Shard>) -> KeyNames {
    let Ok(folder) = folder(shard) else { return KeyNames::default() };
    blocking(move || KeyNames::read(&folder)).await.unwrap_or_default()
}

/// Creates a key.
///
/// # Errors
/// Fails if the name is taken or invalid, if a profile does not exist, or if the file of keys cannot be written.
pub(crate) async fn create(shard: &Arc<Shard>, wanted: WantedKey) -> Result<CreatedKey, Refusal> {
    let folder = folder(shard)?;
    let profiles = wanted.profiles.unwrap_or_default();
    let known = &shard.gateway.standing.config().profiles;
    if let Some(unknown) = profiles.iter().find(|slug| !known.contains_key(*slug)) {
        return Err(Refusal::no_profile(unknown));
    }
    if wanted.expires_in_seconds == Some(0) {
        return Err(Refusal::request("`expiresInSeconds` must be greater than 0"));
    }
    let now = PointInTime::now().0;
    let after = |seconds: u64| now.saturating_add(seconds.saturating_mul(1000));
    let new = NewKey { name: wanted.name, profiles, expires_ms: wanted.expires_in_seconds.map(after) };
    let mut random = [0; 32];
    let failed = |_| Refusal::internal("the operating system's random number generator failed");
    getrandom::fill(&mut random).map_err(failed)?;
    blocking(move || {
        let text = KeyText::generate(random);
        let key = Keys::open(&folder)?.add(&new, &text, now)?;
        Ok(CreatedKey { key_data: listed(key), key: text.expose().to_owned() })
    })
    .await
}

/// Returns true if the access rules do not let a key use anything.
pub(crate) fn gets_nothing(shard: &Shard, key: &ListedKey) -> bool {
    let config = shard.gateway.standing.config();
    let principal = Principal::of_key(&key.prefix, &key.name, key.profiles.as_deref());
    Rules::compile(&config.access).give_nothing(&principal, config.profiles.keys().map(String::as_str))
}

/// Returns the rules that name this key, counted from 1.
pub(crate) fn rules_that_name(rules: &[AccessRule], key: &ListedKey) -> Vec<u64> {
    let principal = Principal::of_key(&key.prefix, &key.name, key.profiles.as_deref());
    let asker = Asker { principal: &principal, address: None };
    let names_it = |who: &CallerSelection| {
        let only = CallerSelection { key: who.key.clone(), ..CallerSelection::default() };
        !who.key.is_empty() && asker.is_among(&only)
    };
    let numbered = (1..).zip(rules);
    let naming = numbered.filter(|(_, rule)| rule.who.iter().chain(&rule.unless).any(names_it));
    naming.map(|(number, _)| number).collect()
}

/// Revokes the key with this name or prefix; clients that use it are refused from now on.
///
/// # Errors
/// Fails if there is no such key, or if the file of keys cannot be written.
pub(crate) async fn revoke(shard: &Arc<Shard>, which: &str) -> Result<ListedKey, Refusal> {
    let (folder, own) = (folder(shard)?, which.to_owned());
    let revoke = move || match Keys::open_existing(&folder)? {
        Some(mut keys) => keys.revoke(&own, PointInTime::now().0),
        None => Ok(Revocation::Unknown),
    };
    match blocking(revoke).await? {
        Revocation::Done(key) | Revocation::Already(key) => Ok(listed(key)),
        // The text may be a mistyped key, so the message does not repeat it.
        Revocation::Unknown => {
            Err(Refusal::new(404, "KEY_NOT_FOUND", "there is no key with this name or prefix"))
        }
    }
}
