//! Reads `auth`.

use std::rc::Rc;
use std::time::Duration;

use indexmap::IndexMap;

use super::check;
use super::model::{Algorithm, Auth, Bearer, FailureLimit, Jwt, OAuth, SiteCheck};
use crate::config::check::{self as values, Flaw};
use crate::config::parse::{Entry, Kind, Node};
use crate::config::pieces;
use crate::config::rates;
use crate::config::read::{Fields, Reader};
use crate::config::source::Span;
use crate::config::text::Text;

const KEYS: &[&str] = &["bearer", "keys", "users", "site", "jwt", "oauth", "failures"];
const BEARER_KEYS: &[&str] = &["token", "optional"];
const SITE_KEYS: &[&str] = &["url", "capability", "cache"];
const JWT_KEYS: &[&str] = &["issuer", "jwks", "audience", "algorithms", "clockSkew"];
const OAUTH_KEYS: &[&str] = &["resource", "scopes", "requiredScopes"];

/// The most issuers, and the most users: each costs look-ups and memory.
const MAX_ISSUERS: usize = 64;
const LONGEST_CACHE: Duration = Duration::from_hours(1);
const LONGEST_SKEW: Duration = Duration::from_mins(5);

/// `auth`, on top of what there is already.
pub(in crate::config) fn read(reader: &mut Reader<'_>, entry: &Entry, base: Auth) -> Auth {
    let mut auth = base;
    let Some(mut fields) = reader.fields(&entry.value, "a mapping with `bearer`, `keys`, `jwt`, …") else {
        return auth;
    };
    if let Some(entry) = fields.take("bearer") {
        auth.bearer = reader.within("bearer", |reader| read_bearer(reader, entry));
    }
    auth.keys = reader.flag_in(&mut fields, "keys", auth.keys);
    if let Some(entry) = fields.take("users") {
        reader.within("users", |reader| read_users(reader, entry, &mut auth.users));
    }
    if let Some(entry) = fields.take("site") {
        auth.site = reader.within("site", |reader| read_site(reader, entry));
    }
    let issuers = fields.take("jwt");
    if let Some(entry) = issuers {
        auth.jwt = reader.within("jwt", |reader| read_issuers(reader, &entry.value)).unwrap_or_default();
    }
    let resource = fields.take("oauth");
    if let Some(entry) = resource {
        auth.oauth = reader.within("oauth", |reader| read_oauth(reader, entry));
    }
    if let Some(entry) = resource.filter(|_| issuers.is_none() && auth.jwt.is_empty()) {
        let mend = "add the issuer: jwt: { issuer: https://id.example.com }";
        reader.within("oauth", |r| r.fault(&entry.key_at, "no issuer's tokens would be taken", mend));
    }
    if let Some(entry) = issuers.filter(|_| resource.is_none() && auth.oauth.is_none()) {
        require_audience(reader, &entry.value);
    }
    if let Some(entry) = fields.take("failures") {
        auth.failures = reader.within("failures", |reader| read_failures(reader, &entry.value));
    }
    reader.refuse(&fields.rest(), KEYS);
    auth
}

fn read_failures(reader: &mut Reader<'_>, node: &Node) -> Option<FailureLimit> {
    if let Kind::Scalar { .. } = &node.kind
        && let Some(text) = reader.text(node, "a rate such as 30/1m, or false")
        && matches!(text.expose(), "false" | "False" | "FALSE")
    {
        return None;
    }
    let (count, period) = rates::read_rate(reader, node, 1)?;
    Some(FailureLimit { count, period })
}

fn read_bearer(reader: &mut Reader<'_>, entry: &Entry) -> Option<Bearer> {
    let Kind::Map(_) = &entry.value.kind else { return read_token(reader, entry, false) };
    let mut fields = reader.fields(&entry.value, "a token, or a mapping with `token`")?;
    let optional = reader.flag_in(&mut fields, "optional", false);
    let bearer = match fields.take("token") {
        Some(token) => reader.within("token", |reader| read_token(reader, token, optional)),
        None if optional => None,
        None => {
            reader.fault(&entry.key_at, "there is no `token`", "add it: token: \"${TOKEN}\"");
            None
        }
    };
    reader.refuse(&fields.rest(), BEARER_KEYS);
    bearer
}

fn read_token(reader: &mut Reader<'_>, entry: &Entry, optional: bool) -> Option<Bearer> {
    // A variable that is not set is an empty one where that may be.
    let switched_off = reader.switched_off;
    reader.switched_off |= optional;
    let token = reader.secret_text(&entry.value, "a token as a text");
    reader.switched_off = switched_off;
    let token = token?;
    if token.expose().is_empty() {
        if !optional {
            let mend =
                "set it; or write { token: \"${TOKEN:-}\", optional: true } if nobody is to be asked then";
            reader.fault(&entry.value.at, "the token is empty", mend);
        }
        return None;
    }
    reader.sound(&entry.value.at, check::token(token.expose()))?;
    Some(Bearer { token })
}

fn read_users(reader: &mut Reader<'_>, entry: &Entry, users: &mut IndexMap<String, Text>) {
    let Some(fields) = reader.fields(&entry.value, "a mapping of password hashes by name") else { return };
    for entry in fields.rest() {
        reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::user(&entry.key));
            let hash = reader.secret_text(&entry.value, "an argon2id hash as a text")?;
            reader.sound(&entry.value.at, check::password_hash(hash.expose()))?;
            users.insert(entry.key.clone(), hash)
        });
    }
}

fn read_site(reader: &mut Reader<'_>, entry: &Entry) -> Option<SiteCheck> {
    let mut fields = reader.fields(&entry.value, "a mapping with `url`")?;
    let url =
        required(reader, &mut fields, &entry.key_at, "url", "url: https://example.com", values::site_url);
    let capability = fields.take("capability").and_then(|entry| {
        reader.within("capability", |reader| {
            let text = reader.text(&entry.value, "a capability's name")?;
            reader.sound(&entry.value.at, values::word(text.expose())).map(|()| text.expose().to_owned())
        })
    });
    let cache = pieces::time(reader, &mut fields, "cache", Duration::ZERO, LONGEST_CACHE);
    reader.refuse(&fields.rest(), SITE_KEYS);
    let url = url?;
    if values::is_readable_on_the_way(url.expose()) {
        let mend = "write https://, unless the way to the site is safe";
        reader.note(&entry.key_at, "passwords go to this site over http, where others can read them", mend);
    }
    let capability = capability.unwrap_or_else(|| SiteCheck::CAPABILITY.to_owned());
    Some(SiteCheck { url, capability, cache: cache.unwrap_or(SiteCheck::CACHE) })
}

fn read_issuers(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<Vec<Jwt>> {
    let items = pieces::one_or_more(reader, node, "a mapping with `issuer`, or a list of such mappings")?;
    if items.is_empty() || items.len() > MAX_ISSUERS {
        let mend = format!("write 1 to {MAX_ISSUERS} issuers, or remove the key");
        reader.fault(&node.at, format!("a list of {} issuers", items.len()), mend);
        return None;
    }
    let mut issuers: Vec<Jwt> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let issuer = reader.within(&format!("[{index}]"), |reader| read_issuer(reader, item));
        let Some(issuer) = issuer else { continue };
        if issuers.iter().any(|other| other.issuer.expose() == issuer.issuer.expose()) {
            reader.fault(&item.at, "this issuer stands twice", "keep one of the two, with both audiences");
        }
        issuers.push(issuer);
    }
    Some(issuers)
}

fn read_issuer(reader: &mut Reader<'_>, node: &Node) -> Option<Jwt> {
    let mut fields = reader.fields(node, "a mapping with `issuer`")?;
    let at = node.at.start..node.at.start;
    let issuer =
        required(reader, &mut fields, &at, "issuer", "issuer: https://id.example.com", check::safe_name);
    let jwks = match fields.take("jwks") {
        None => Some(None),
        Some(entry) => reader.within("jwks", |reader| {
            let text = reader.text(&entry.value, "a URL")?;
            reader.sound(&entry.value.at, check::safe_url(&text)).map(|()| Some(text))
        }),
    };
    let audience = match fields.take("audience") {
        None => Vec::new(),
        Some(entry) => reader.within("audience", |reader| read_audience(reader, &entry.value)),
    };
    let algorithms = read_algorithms(reader, &mut fields);
    let clock_skew = pieces::time(reader, &mut fields, "clockSkew", Duration::ZERO, LONGEST_SKEW);
    reader.refuse(&fields.rest(), JWT_KEYS);
    let clock_skew = clock_skew.unwrap_or(Jwt::CLOCK_SKEW);
    Some(Jwt { issuer: issuer?, jwks: jwks?, audience, algorithms, clock_skew })
}

fn read_audience(reader: &mut Reader<'_>, node: &Rc<Node>) -> Vec<Text> {
    pieces::refuse_empty(reader, node);
    let mut audience = Vec::new();
    for item in reader.items(node, "a text, or a list of texts", true).unwrap_or_default() {
        let Some(text) = reader.text(item, "a text") else { continue };
        if text.expose().is_empty() {
            reader.fault(&item.at, "an audience cannot be empty", "write what tokens have in `aud`");
        }
        audience.push(text);
    }
    audience
}

fn read_algorithms(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Vec<Algorithm> {
    let Some(entry) = fields.take("algorithms") else { return Jwt::ALGORITHMS.to_vec() };
    reader.within("algorithms", |reader| {
        pieces::refuse_empty(reader, &entry.value);
        let mut algorithms = Vec::new();
        for item in reader.items(&entry.value, "a list of signatures", true).unwrap_or_default() {
            let Some(text) = reader.text(item, "a signature such as RS256") else { continue };
            algorithms.extend(reader.sound(&item.at, check::algorithm(text.expose(), text.shown())));
        }
        algorithms
    })
}

fn read_oauth(reader: &mut Reader<'_>, entry: &Entry) -> Option<OAuth> {
    let mut fields = reader.fields(&entry.value, "a mapping with `resource`")?;
    let example = "resource: https://mcp.example.com/mcp";
    let resource = required(reader, &mut fields, &entry.key_at, "resource", example, check::safe_name);
    let required_scopes =
        fields.take("requiredScopes").map(|entry| pieces::texts(reader, entry, check::scope));
    let scopes = fields.take("scopes").map(|entry| pieces::texts(reader, entry, check::scope));
    reader.refuse(&fields.rest(), OAUTH_KEYS);
    let required_scopes = required_scopes.unwrap_or_default();
    let scopes = scopes.unwrap_or_else(|| required_scopes.clone());
    Some(OAuth { resource: resource?, scopes, required_scopes })
}

/// A token that is good anywhere is good for whoever gets hold of it: each must say that it is for us.
fn require_audience(reader: &mut Reader<'_>, node: &Rc<Node>) {
    let items = match &node.kind {
        Kind::List(items) => items.iter().collect(),
        _ => vec![node],
    };
    for (index, item) in items.into_iter().enumerate() {
        let Kind::Map(entries) = &item.kind else { continue };
        if !entries.iter().any(|entry| entry.key == "audience") {
            let path = format!("jwt[{index}]");
            let mend = "add what its tokens have in `aud`: audience: https://mcp.example.com/mcp; or `oauth.resource`";
            let at = item.at.start..item.at.start;
            reader.within(&path, |r| r.fault(&at, "tokens that were made for others would be taken", mend));
        }
    }
}

/// The text under a key that must be there.
fn required(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    at: &Span,
    key: &str,
    example: &str,
    checked: fn(&Text) -> Result<(), Flaw>,
) -> Option<Text> {
    let Some(entry) = fields.take(key) else {
        reader.fault(at, format!("there is no `{key}`"), format!("add it: {example}"));
        return None;
    };
    reader.within(key, |reader| {
        let text = reader.text(&entry.value, "a text")?;
        reader.sound_text(&entry.value.at, &text, checked(&text)).map(|()| text)
    })
}
