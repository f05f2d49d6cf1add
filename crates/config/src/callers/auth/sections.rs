//! The configuration keys of `auth`, of a site that checks passwords, and of this gateway as a protected resource.

use std::rc::Rc;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::{Schema, json_schema};

use super::bearer::{Bearer, BearerToken};
use super::check::{password_hash, safe_name, scope, user};
use super::jwt::Jwt;
use super::login::{Login, OrWordPress};
use crate::callers::rates::{RateOrOff, RequestRate};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{
    CheckedText, Flag, Mapping, Optional, Parsed, ReplacedSection, Secret, Sections, SpellingWithSchema,
    Time, texts,
};
use crate::syntax::parse::{Entry, Node};
use crate::values::check::{is_readable_on_the_way, site_url, word};
use crate::values::text::Text;

section! {
    /// The ways in which callers can authenticate; each caller may use any of them. If none is configured, no
    /// authentication is required.
    pub struct Auth: "a mapping with `bearer`, `keys`, `jwt`, …" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let (issuers, resource) = (entry.value.entry("jwt"), entry.value.entry("oauth"));
            if let Some(resource) = resource.filter(|_| self.login.is_some()) {
                let help = "remove one of the two: with `login`, Dragoman issues the tokens itself";
                let what = "`oauth` and `login` would send clients to two authorization servers";
                reader.within("oauth", |r| r.fault(&resource.key_at, what, help));
            }
            if let Some(resource) = resource.filter(|_| issuers.is_none() && self.jwt.is_empty()) {
                let help = "add the issuer: jwt: { issuer: https://id.example.com }";
                let what = "no issuer is configured, so no token would be accepted";
                reader.within("oauth", |r| r.fault(&resource.key_at, what, help));
            }
            let Some(issuers) = issuers else { return };
            refuse_repeated(reader, &issuers.value, &self.jwt);
            if resource.is_none() && self.oauth.is_none() {
                require_audience(reader, &issuers.value);
            }
        }
    } [
        /// One token for all callers, sent as `Authorization: Bearer …`: a string, or `{ token, optional }`. With
        /// `optional: true`, no token is required while the configured token is empty or its variable is unset.
        "bearer" bearer: Option<Bearer> = BearerToken;
        /// Accepts the API keys that `dragoman key new` creates. Clients send a key in the same way as the token of `bearer`.
        "keys" keys: bool = Flag, see "[keys.md](keys.md)";
        /// The users of HTTP's Basic scheme: names with argon2id hashes of passwords, never the passwords themselves. To
        /// generate a hash: `echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e`.
        "users" users: IndexMap<String, Text> = users();
        /// Accepts user names with application passwords, sent with HTTP's Basic scheme. A WordPress site checks the
        /// passwords.
        "site" site: Option<SiteCheck> = Optional(ReplacedSection), see "[below](#who-may-call)";
        /// Lets people sign in with their account at a WordPress site, for clients that cannot send headers: `wordpress`,
        /// or a mapping.
        "login" login: Option<Login> = OrWordPress, absent "off", see "[sign-in.md](sign-in.md)";
        /// An issuer of signed tokens (JWT), or a list of issuers. Clients send such a token in the same way as the token of `bearer`.
        "jwt" jwt: Vec<Jwt> = Sections {
            what: "a mapping with `issuer`, or a list of such mappings",
            items: "issuers",
            least: 1,
            most: 64,
            help: "write 1 to 64 issuers, or remove the key",
        };
        /// Tells clients where to get a token, by describing this gateway as an OAuth protected resource (RFC 9728). The
        /// authorization servers are the issuers in `jwt`.
        "oauth" oauth: Option<OAuth> = Optional(ReplacedSection), see "[below](#who-may-call)";
        /// The number of wrong passwords that one client address may try within a period. Attempts above this number are
        /// refused for a while, except attempts with passwords that were accepted before. `false` sets no limit.
        "failures" failures: Option<RequestRate> = RateOrOff,
            default Some(RequestRate { count: 30, period: Duration::from_mins(1) }),
            see "[authentication.md](authentication.md#names-with-passwords)";
    ]
}

impl Auth {
    /// Returns true if callers have to authenticate.
    pub fn asks(&self) -> bool {
        let Self { bearer, keys, users, site, login, jwt, oauth: _, failures: _ } = self;
        bearer.is_some() || *keys || !users.is_empty() || site.is_some() || login.is_some() || !jwt.is_empty()
    }
}

/// The spelling of users: names with hashes of passwords.
pub(crate) fn users() -> Mapping<String, SpellingWithSchema<Secret>> {
    Mapping {
        what: "a mapping of password hashes by name",
        key: user,
        value: SpellingWithSchema {
            spelling: Secret("an argon2id hash as a string", password_hash),
            schema: hash_schema,
        },
    }
}

fn hash_schema() -> Schema {
    json_schema!({ "type": "string", "pattern": "^\\$argon2id\\$|\\$\\{" })
}

fn refuse_repeated(reader: &mut Reader<'_>, node: &Rc<Node>, issuers: &[Jwt]) {
    let items = node.items();
    for (at, issuer) in issuers.iter().enumerate().filter(|_| items.len() == issuers.len()) {
        if issuers[..at].iter().any(|other| other.issuer.expose() == issuer.issuer.expose()) {
            let help = "merge the two, with both audiences";
            reader.within("jwt", |reader| reader.fault(&items[at].at, "this issuer occurs twice", help));
        }
    }
}

/// Requires an audience: a token that is valid everywhere can be misused by anybody who gets it, so each
/// token must name this gateway.
fn require_audience(reader: &mut Reader<'_>, node: &Rc<Node>) {
    for (index, item) in node.items().into_iter().enumerate() {
        let entries = item.entries();
        if !entries.is_empty() && !entries.iter().any(|entry| entry.key == "audience") {
            let help = "set `audience` to the value of `aud` in the issuer's tokens, such as https://mcp.example.com/mcp, \
                        or set `oauth.resource`";
            let at = item.at.start..item.at.start;
            let message = "tokens issued for other services would be accepted";
            reader.within(&format!("jwt[{index}]"), |reader| reader.fault(&at, message, help));
        }
    }
}

section! {
    /// A WordPress site that checks names and passwords.
    pub struct SiteCheck: "a mapping with `url`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, sound: bool) {
            if sound && is_readable_on_the_way(self.url.expose()) {
                let help = "write https://, unless you trust the network between Dragoman and the site";
                let message = "passwords go to this site over http, where others can read them";
                reader.note(&entry.key_at, message, help);
            }
        }
    } [
        /// The site's address: `https://example.com`.
        "url" url: Text = CheckedText("a string", site_url), default Text::plain(""), needed "url: https://example.com";
        /// The capability that a user must have on the site.
        "capability" capability: String = Parsed("a capability's name", |name| word(name.expose())),
            default "manage_options".to_owned();
        /// The time for which the site's answer about a password is reused, at most `1h`.
        "cache" cache: Duration = Time { least: Duration::ZERO, most: Duration::from_hours(1) },
            default Duration::from_mins(1);
    ]
}

section! {
    /// This gateway as an OAuth protected resource.
    pub struct OAuth: "a mapping with `resource`" {
        fn check(&mut self, _: &mut Reader<'_>, entry: &Entry, _: bool) {
            if entry.value.entry("scopes").is_none() {
                self.scopes.clone_from(&self.required_scopes);
            }
        }
    } [
        /// The URL of this gateway, as clients use it and as tokens contain it in `aud`: `https://mcp.example.com/mcp`.
        "resource" resource: Text = CheckedText("a string", safe_name), default Text::plain(""),
            needed "resource: https://mcp.example.com/mcp";
        /// The scopes that clients request.
        "scopes" scopes: Vec<String> = texts(scope),
            absent "`requiredScopes`";
        /// The scopes that every token must have.
        "requiredScopes" required_scopes: Vec<String> =
            texts(scope);
    ]
}
