//! The origin of a request (principal and address), matched against the `who` of a rule.

use std::net::IpAddr;

use config::{CallerSelection, Glob, ValuePath};
use serde_json::Value;

use super::{Principal, Scheme};

/// The principal of a request and the address that it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The authenticated identity of the caller.
    pub principal: &'a Principal,
    /// The address of the client; `None` for standard input, which matches no range.
    pub address: Option<IpAddr>,
}

impl Asker<'_> {
    /// Returns true if the asker matches every attribute of `who`. One matching value of an attribute is enough.
    pub fn is_among(&self, who: &CallerSelection) -> bool {
        is_among(self, who)
    }
}

/// Returns true if the asker matches every attribute of `who`. One matching value of an attribute is enough.
pub(super) fn is_among(asker: &Asker<'_>, who: &CallerSelection) -> bool {
    let Asker { principal, address } = asker;
    let CallerSelection { key, user, scope, claim, ip, scheme } = who;
    (scheme.is_empty() || scheme.contains(&principal.scheme))
        && (key.is_empty() || is_key(principal, key))
        && (user.is_empty() || is_user(principal, user))
        && (scope.is_empty() || principal.scopes.iter().any(|own| any(scope, own)))
        && (ip.is_empty() || address.is_some_and(|address| ip.iter().any(|range| range.contains(address))))
        && claim.iter().all(|(path, globs)| claims(principal, path, globs))
}

fn any(globs: &[Glob], text: &str) -> bool {
    globs.iter().any(|glob| glob.matches(text))
}

/// Returns true if the principal is an API key whose prefix (its id) or name matches.
fn is_key(principal: &Principal, globs: &[Glob]) -> bool {
    principal.scheme == Scheme::Key
        && (principal.id.strip_prefix("key:").is_some_and(|prefix| any(globs, prefix))
            || principal.user.as_ref().is_some_and(|name| any(globs, name)))
}

/// Returns true if the principal is a user with a matching name. Names in tokens are ignored: the tokens' issuers
/// choose these names, and they could equal the name of a configured user.
fn is_user(principal: &Principal, globs: &[Glob]) -> bool {
    matches!(principal.scheme, Scheme::Basic | Scheme::Site)
        && principal.user.as_ref().is_some_and(|name| any(globs, name))
}

fn claims(principal: &Principal, path: &ValuePath, globs: &[Glob]) -> bool {
    principal.claims.as_ref().is_some_and(|claims| claim_is(claims, path.steps(), globs))
}

/// Returns true if a claim matches; for a list, one matching item is enough.
fn claim_is(value: &Value, steps: &[Box<str>], globs: &[Glob]) -> bool {
    match (value, steps) {
        (Value::Array(items), steps) => items.iter().any(|item| claim_is(item, steps, globs)),
        (Value::Object(members), [step, rest @ ..]) => {
            members.get(&**step).is_some_and(|value| claim_is(value, rest, globs))
        }
        (_, [_, ..]) | (Value::Object(_), []) => false,
        (Value::String(text), []) => any(globs, text),
        (scalar, []) => any(globs, &scalar.to_string()),
    }
}
