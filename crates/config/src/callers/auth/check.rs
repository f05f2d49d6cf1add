//! Checks of values of `auth`: tokens, hashes, scopes.

use super::jwt::Algorithm;
use crate::values::check::{Flaw, is_readable_on_the_way, site_url, url};
use crate::values::suggest;
use crate::values::text::Text;
use crate::values::wording::clip;

/// The maximum memory (KiB), passes and lanes of a hash: higher values could be used to stall the gateway.
const MOST_MEMORY: u32 = 1 << 20;
const MOST_PASSES: u32 = 64;
const MOST_LANES: u32 = 16;

/// Checks a token that clients can send after `Bearer `. More characters are allowed than in RFC 6750 (section 2.1),
/// because people choose tokens like passwords. Characters at which a parser of the header could end the token too early
/// are not allowed.
pub(super) fn token(token: &str) -> Result<(), Flaw> {
    if token.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(());
    }
    let message = "a bearer token must consist of visible ASCII characters without spaces";
    Err(Flaw::new(message, "generate one, for example with: openssl rand -hex 32"))
}

/// Checks a name that HTTP's Basic scheme can carry (RFC 7617 section 2).
pub(super) fn user(name: &str) -> Result<String, Flaw> {
    if (1..=128).contains(&name.len()) && !name.contains(':') && !name.chars().any(char::is_control) {
        return Ok(name.to_owned());
    }
    Err(Flaw::new("a user's name must have 1 to 128 bytes and no colon", "write a name such as ann"))
}

/// Checks a hash `$argon2id$v=19$m=…,t=…,p=…$SALT$HASH`; its cost must be affordable for every login.
pub(super) fn password_hash(hash: &Text) -> Result<(), Flaw> {
    let hash = hash.expose();
    let make = "generate one: echo -n PASSWORD | argon2 \"$(openssl rand -hex 8)\" -id -e";
    let Some(rest) = hash.strip_prefix("$argon2id$") else {
        return Err(Flaw::new("this is not an argon2id hash; do not write the password itself here", make));
    };
    let broken = || Flaw::new("this argon2id hash is incomplete", make);
    let parts: Vec<&str> = rest.split('$').collect();
    let [version, parameters, salt, output] = parts.as_slice() else { return Err(broken()) };
    let is_base64 = |text: &str| {
        text.len() >= 11 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'))
    };
    if *version != "v=19" || !is_base64(salt) || !is_base64(output) {
        return Err(broken());
    }
    let number = |key: &str| {
        let value = parameters.split(',').find_map(|one| one.strip_prefix(key)?.strip_prefix('='))?;
        value.parse::<u32>().ok()
    };
    let (Some(memory), Some(passes), Some(lanes)) = (number("m"), number("t"), number("p")) else {
        return Err(broken());
    };
    let least_memory = lanes.saturating_mul(8).max(8);
    if (least_memory..=MOST_MEMORY).contains(&memory)
        && (1..=MOST_PASSES).contains(&passes)
        && (1..=MOST_LANES).contains(&lanes)
    {
        return Ok(());
    }
    let message = format!(
        "the cost of this hash is out of range: at most m={MOST_MEMORY},t={MOST_PASSES},p={MOST_LANES}, and at least m=8 per lane"
    );
    Err(Flaw::new(message, make))
}

/// Checks a URL whose content determines which parties are trusted. Connections to it must be protected against
/// tampering.
pub(crate) fn safe_url(address: &Text) -> Result<(), Flaw> {
    url(address)?;
    if is_readable_on_the_way(address.expose()) {
        let message = "over http, anyone on the network path could impersonate this server";
        return Err(Flaw::new(message, "write https://"));
    }
    Ok(())
}

/// Checks a URL that also identifies an issuer or a resource. In addition to the checks of [`safe_url`], the URL must not have a
/// query (RFC 8414, section 2, forbids queries; RFC 8707, section 2, advises against them).
pub(super) fn safe_name(address: &Text) -> Result<(), Flaw> {
    site_url(address).and_then(|()| safe_url(address))
}

/// Checks a scope (RFC 6749 section 3.3).
pub(crate) fn scope(scope: &Text) -> Result<String, Flaw> {
    let scope = scope.expose();
    let allowed = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    if !scope.is_empty() && scope.chars().all(allowed) {
        return Ok(scope.to_owned());
    }
    Err(Flaw::new("a scope is one word of visible ASCII characters", "write several as a list"))
}

pub(super) fn algorithm(name: &str, shown: &str) -> Result<Algorithm, Flaw> {
    if let Some((_, algorithm)) = Algorithm::ALL.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)) {
        return Ok(*algorithm);
    }
    let names: Vec<&str> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
    let there_are = format!("available: {}", names.join(", "));
    if name.eq_ignore_ascii_case("none") {
        return Err(Flaw::new("tokens without a signature can be forged by anybody", there_are));
    }
    if ["HS256", "HS384", "HS512"].iter().any(|own| own.eq_ignore_ascii_case(name)) {
        let message = format!("`{name}` needs a shared secret, but an issuer's keys are public");
        return Err(Flaw::new(message, there_are));
    }
    let help = suggest::or(name, names.iter().copied(), || there_are);
    Err(Flaw::new(format!("unknown signature algorithm `{}`", clip(shown)), help))
}
