//! Configured users: names with Argon2 hashes of their passwords (RFC 9106; the PHC string format). Each check is slow
//! on purpose, so checks run on separate threads, a few at a time. This module must not know headers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordVerifier};
use config::Text;
use engine::access::{Principal, Scheme};
use engine::credential::Basic;
use secrecy::ExposeSecret;

use super::InvalidSetting;
use super::denied::CredentialDenial;
use super::turns::{CheckPermit, Turns};

/// The maximum number of passwords that wait to be checked.
const IN_LINE: usize = 256;
/// The maximum memory that a hash may require, in KiB.
const MOST_MEMORY: u32 = 1024 * 1024;

/// The maximum number of different costs among the hashes. Every attempt is checked once for each cost.
const MOST_COSTS: usize = 4;

/// The configured users, with the hashes of their passwords.
pub(super) struct Users {
    hashes: HashMap<Box<str>, PasswordHash>,
    /// One hash for each cost among the users. An attempt with an unknown name is checked against these hashes, so it
    /// takes as long as an attempt with a known name.
    stand_ins: Vec<PasswordHash>,
    pub(super) turns: Turns,
    /// The minimum duration of a check.
    pace: Duration,
}

impl Users {
    /// Reads the users and their hashes; fails for an invalid hash.
    pub(super) fn new<'a>(
        users: impl IntoIterator<Item = (&'a String, &'a Text)>,
    ) -> Result<Self, InvalidSetting> {
        // Each check needs memory and a processor, which calls need as well.
        let at_once = std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2)).min(4);
        Self::paced(users, (at_once, IN_LINE), Duration::ZERO)
    }

    /// Reads the users and their hashes, like [`Self::new`]. At most `at_once` checks run at the same time, at most
    /// `in_line` checks wait, and each check takes at least the time `pace`.
    pub(super) fn paced<'a>(
        users: impl IntoIterator<Item = (&'a String, &'a Text)>,
        (at_once, in_line): (usize, usize),
        pace: Duration,
    ) -> Result<Self, InvalidSetting> {
        let (mut hashes, mut stand_ins) = (HashMap::new(), Vec::new());
        for (name, hash) in users {
            let bad = |why| InvalidSetting(format!("the user {name}: {why}"));
            if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
                return Err(bad("a name must not contain colons or control characters (RFC 7617)"));
            }
            let hash = read(hash.expose()).map_err(bad)?;
            if !stand_ins.iter().any(|known| cost_alike(known, &hash)) {
                if stand_ins.len() >= MOST_COSTS {
                    return Err(bad(
                        "users' hashes may have at most four different costs (m, t, p): use the costs of \
                         another user's hash",
                    ));
                }
                stand_ins.push(hash.clone());
            }
            hashes.insert(name.as_str().into(), hash);
        }
        Ok(Self { hashes, stand_ins, turns: Turns::new(at_once, in_line), pace })
    }

    /// Returns true if no users are configured.
    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns true if a user has this name; in this case, no other method is tried.
    pub(super) fn has(&self, name: &str) -> bool {
        self.hashes.contains_key(name)
    }

    /// Returns the principal with this name and password.
    pub(super) async fn check(
        &self,
        basic: Basic,
        turn: CheckPermit,
    ) -> Result<Arc<Principal>, CredentialDenial> {
        let wrong = CredentialDenial::Bad("wrong name or password");
        let checks = self.checks(&basic.user);
        let (password, pace) = (basic.password, self.pace);
        let checked = self.turns.run(turn, move || {
            let (started, mut right) = (Instant::now(), false);
            for (hash, own) in &checks {
                let same =
                    Argon2::default().verify_password(password.expose_secret().as_bytes(), hash).is_ok();
                right |= same && *own;
            }
            #[expect(clippy::disallowed_methods, reason = "this runs on a thread that may block")]
            std::thread::sleep(pace.saturating_sub(started.elapsed()));
            right
        });
        if !checked.await? {
            return Err(wrong);
        }
        let id = format!("user:{}", basic.user);
        Ok(Arc::new(Principal { user: Some(basic.user.into()), ..Principal::new(&id, Scheme::Basic) }))
    }

    /// Returns the hashes to check for a password with this name, each with a flag that is true for the user's own
    /// hash. For every name, the hashes have the same number, costs and order.
    pub(super) fn checks(&self, name: &str) -> Vec<(PasswordHash, bool)> {
        let own = self.hashes.get(name);
        let of = |stand_in: &PasswordHash| match own.filter(|own| cost_alike(own, stand_in)) {
            Some(own) => (own.clone(), true),
            None => (stand_in.clone(), false),
        };
        self.stand_ins.iter().map(of).collect()
    }
}

impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Users").field("count", &self.hashes.len()).finish_non_exhaustive()
    }
}

/// Returns true if both hashes take equally long to check.
fn cost_alike(one: &PasswordHash, other: &PasswordHash) -> bool {
    let cost = |hash: &PasswordHash| {
        let params = Params::try_from(hash).ok();
        params.map(|params| (params.m_cost(), params.t_cost(), params.p_cost()))
    };
    (&one.algorithm, one.version, cost(one)) == (&other.algorithm, other.version, cost(other))
}

/// Reads a hash; the error contains no part of the hash.
fn read(hash: &str) -> Result<PasswordHash, &'static str> {
    let form = "the password hash is not of the form $argon2id$v=19$m=…,t=…,p=…$SALT$HASH";
    let hash = PasswordHash::new(hash).map_err(|_| form)?;
    Algorithm::try_from(hash.algorithm.as_str()).map_err(|_| form)?;
    if hash.salt.is_none() || hash.hash.is_none() {
        return Err(form);
    }
    let params = Params::try_from(&hash).map_err(|_| form)?;
    if params.m_cost() > MOST_MEMORY {
        return Err("the password hash requires more than 1 GiB of memory");
    }
    Ok(hash)
}
