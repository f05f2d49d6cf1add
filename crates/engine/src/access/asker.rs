//! Who asks, held against who is meant by a rule.

use std::net::IpAddr;

use serde_json::Value;

use super::{Principal, Scheme};
use crate::config::{Glob, ValuePath, Who};

/// Who asks, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// Who it is.
    pub principal: &'a Principal,
    /// Where the request comes from; `None` for standard input, which is in no range.
    pub address: Option<IpAddr>,
}

impl Asker<'_> {
    /// Is the asker among these? Of one kind of mark any counts; marks of several kinds must all be there.
    pub fn is_among(&self, who: &Who) -> bool {
        is_among(self, who)
    }
}

/// Is the asker among these? Of one kind of mark any counts; marks of several kinds must all be there.
pub(super) fn is_among(asker: &Asker<'_>, who: &Who) -> bool {
    let Asker { principal, address } = asker;
    let Who { key, user, scope, claim, ip, scheme } = who;
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

/// A key has a prefix, which is its id, and a name.
fn is_key(principal: &Principal, globs: &[Glob]) -> bool {
    principal.scheme == Scheme::Key
        && (principal.id.strip_prefix("key:").is_some_and(|prefix| any(globs, prefix))
            || principal.user.as_ref().is_some_and(|name| any(globs, name)))
}

/// Names in tokens are their issuers' own, and could be the same as a user's here.
fn is_user(principal: &Principal, globs: &[Glob]) -> bool {
    matches!(principal.scheme, Scheme::Basic | Scheme::Site)
        && principal.user.as_ref().is_some_and(|name| any(globs, name))
}

fn claims(principal: &Principal, path: &ValuePath, globs: &[Glob]) -> bool {
    principal.claims.as_ref().is_some_and(|claims| claim_is(claims, path.steps(), globs))
}

/// Of lists one item is enough.
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
