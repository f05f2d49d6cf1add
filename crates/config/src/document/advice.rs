//! Notes on settings that are valid but probably not intended: rules about callers that cannot exist, names that match
//! nothing, and keys without effect. This module examines a file that has no faults, and changes nothing. The module
//! `names` handles names of tools.

use std::rc::Rc;

use proto::mcp::{Method, Notice};

use super::model::Config;
use super::names::{NamedItemKind, Names, Offers};
use crate::callers::access::{CallerSelection, Scheme};
use crate::callers::auth::Login;
use crate::dialects::dialect_rows::Dialect;
use crate::profiles::profile::{MAX_CLIENT_PREFIX, Profile};
use crate::reading::reader::Reader;
use crate::servers::server::{Link, Server};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check::MAX_PUBLIC_NAME;
use crate::values::glob::Glob;
use crate::values::suggest;
use crate::values::wording::clip;

/// The shortest token that is accepted without a note; a shorter one could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// Adds all notes; `root` is the file, and `config` is the result of the file and everything that it extends.
pub(crate) fn give(reader: &mut Reader<'_>, root: &Node, config: &Config, offers: &Offers<'_>) {
    let names = Names::new(config, offers);
    for entry in root.entries() {
        reader.within(&entry.key, |reader| match entry.key.as_str() {
            "auth" => auth(reader, entry, config),
            "profiles" => profiles(reader, entry, config, &names),
            "access" => each(reader, &entry.value, |reader, rule| access(reader, rule, config, &names)),
            "rateLimits" => each(reader, &entry.value, |reader, limit| rate(reader, limit, config, &names)),
            "audit" => audit(reader, entry, config),
            "dialects" => dialects(reader, entry, config),
            "dialect" => asking(reader, entry, config, ""),
            "endpoints" => each(reader, &entry.value, |reader, one| endpoint(reader, one, config)),
            "management" | "metrics" => {
                if let Some(who) = entry.value.entry("who") {
                    reader.within("who", |reader| askers(reader, who, config));
                }
            }
            _ => {}
        });
    }
}

/// Calls `advise` on a mapping, or on each mapping of a list.
fn each(reader: &mut Reader<'_>, node: &Node, advise: impl Fn(&mut Reader<'_>, &Node)) {
    let items = match &node.kind {
        NodeKind::List(items) => items.iter().map(Rc::as_ref).collect(),
        _ => vec![node],
    };
    for (index, item) in items.into_iter().enumerate() {
        reader.within(&format!("[{index}]"), |reader| advise(reader, item));
    }
}

/// Calls `advise` on a string, or on each string of a list; strings that contain a variable are skipped.
pub(crate) fn texts(reader: &mut Reader<'_>, entry: &Entry, advise: impl Fn(&mut Reader<'_>, &Node, &str)) {
    reader.within(&entry.key, |reader| {
        each(reader, &entry.value, |reader, node| {
            if let Some(text) = plain(node) {
                advise(reader, node, text);
            }
        });
    });
}

/// The text of a value; `None` if it contains a variable.
fn plain(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar { text, .. } if !text.contains("${") => Some(text),
        _ => None,
    }
}

/// The name that was probably meant, or all known names.
pub(crate) fn there_are<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    suggest::or(name, known.clone(), || {
        format!("available: {}", known.take(12).map(clip).collect::<Vec<_>>().join(", "))
    })
}

fn auth(reader: &mut Reader<'_>, entry: &Entry, config: &Config) {
    let (auth, said) = (&config.auth, entry.value.entries());
    if !auth.asks() && said.iter().all(|one| matches!(one.value.kind, NodeKind::Null)) {
        let help = "add one, such as keys: true, or remove `auth`";
        reader.note(
            &entry.key_at,
            "`auth` contains no way to log in, so callers are not authenticated",
            help,
        );
    }
    let short = |token: &str| token.len() < SHORTEST_TOKEN;
    if let Some(bearer) = entry.value.entry("bearer")
        && auth.bearer.as_ref().is_some_and(|bearer| short(bearer.token.expose()))
    {
        let at = &bearer.value.entry("token").unwrap_or(bearer).value.at;
        let help = "generate one, for example with: openssl rand -hex 32";
        reader.within("bearer", |reader| {
            reader.note(at, "this token is so short that it can be guessed", help);
        });
    }
    if let Some(said) = entry.value.entry("login")
        && let Some(login) = &auth.login
    {
        reader.within("login", |reader| sign_in(reader, said, login, config));
    }
    if let (Some(said), Some(oauth)) = (entry.value.entry("oauth"), &auth.oauth)
        && let Some(scope) = oauth.required_scopes.iter().find(|scope| !oauth.scopes.contains(scope))
    {
        let message = format!("every token needs the scope `{}`, but clients do not request it", clip(scope));
        reader.within("oauth", |reader| reader.note(&said.key_at, message, "add it to `scopes`, too"));
    }
}

/// Adds notes if no server uses the accounts with which people sign in, if these people can also use other servers,
/// or if people on other machines cannot sign in.
fn sign_in(reader: &mut Reader<'_>, said: &Entry, login: &Login, config: &Config) {
    let is_for_them = |server: &Server| match &server.link {
        Link::Native(native) => native.site.as_ref().is_some_and(|site| site.login),
        Link::Stdio(_) | Link::Http(_) => false,
    };
    let (own, others): (Vec<_>, Vec<_>) =
        config.mcp_servers.iter().partition(|(_, server)| is_for_them(server));
    if own.is_empty() {
        let help = "set `login` for a server that works on a site: site: { login: true }";
        reader.note(&said.key_at, "no server uses the account with which people sign in", help);
    }
    let names_them =
        |who: &Option<CallerSelection>| who.as_ref().is_some_and(|who| who.scheme.contains(&Scheme::Login));
    let is_restricted = config.access.iter().any(|rule| names_them(&rule.who) || names_them(&rule.unless));
    let who = if login.sites.is_empty() {
        "anybody with a WordPress site"
    } else {
        "everybody with an account at these sites"
    };
    // Everybody who has registered at a site has the capability `read`.
    let is_open = login.sites.is_empty() || login.capability == "read";
    if let Some((name, _)) = others.first().filter(|_| is_open && !is_restricted) {
        let message = format!("{who} can sign in, and can then use the server `{}` as well", clip(name));
        let help = "restrict it: access: [{ deny: \"NAME__*\", who: { scheme: login } }]; or require more: login: { sites: […], \
                    capability: edit_posts }";
        reader.note(&said.key_at, message, help);
    }
    if config.public_url.is_none() {
        let message = "people on other machines cannot sign in without `publicUrl`";
        reader.note(
            &said.key_at,
            message,
            "add the address at which browsers reach Dragoman: publicUrl: https://mcp.example.com",
        );
    }
}

fn access(reader: &mut Reader<'_>, rule: &Node, config: &Config, names: &Names<'_>) {
    for entry in rule.entries() {
        match entry.key.as_str() {
            "allow" | "deny" => names.public(reader, entry, NamedItemKind::Either),
            "who" | "unless" => reader.within(&entry.key, |reader| askers(reader, entry, config)),
            _ => {}
        }
    }
}

/// Adds a note for attributes that no caller can have, because no enabled authentication method provides them.
fn askers(reader: &mut Reader<'_>, who: &Entry, config: &Config) {
    let auth = &config.auth;
    let (by_key, by_name) = (auth.keys, !auth.users.is_empty() || auth.site.is_some());
    let by_token = !auth.jwt.is_empty();
    for entry in who.value.entries() {
        let (is_there, message, help) = match entry.key.as_str() {
            "key" => (by_key, "API keys are not accepted here", "add keys: true to `auth`"),
            "user" if auth.site.is_none() && by_name => {
                users(reader, entry, config);
                continue;
            }
            "user" => (
                by_name,
                "no way to log in by name is configured",
                "add `users` or `site` to `auth`; to match names in tokens, write claim: { sub: NAME }",
            ),
            "scope" => (by_token, "signed tokens are not accepted here", "add `jwt` to `auth`"),
            "claim" => (
                by_token || auth.site.is_some() || auth.login.is_some(),
                "callers have no claims here",
                "add `jwt`, `site` or `login` to `auth`",
            ),
            "scheme" => {
                schemes(reader, entry, config);
                continue;
            }
            _ => continue,
        };
        if !is_there {
            let message = format!("{message}, so this matches nobody");
            let help = format!("{help}; or remove this");
            reader.within(&entry.key, |reader| reader.note(&entry.key_at, message, help));
        }
    }
}

fn users(reader: &mut Reader<'_>, entry: &Entry, config: &Config) {
    let names = || config.auth.users.keys().map(String::as_str);
    texts(reader, entry, |reader, node, pattern| {
        let fits = |name: &str| Glob::parse(pattern).is_ok_and(|glob| glob.matches(name));
        if !names().any(fits) {
            let message = format!("`auth.users` has no user `{}`", clip(pattern));
            reader.note(&node.at, message, there_are(pattern, names()));
        }
    });
}

fn schemes(reader: &mut Reader<'_>, entry: &Entry, config: &Config) {
    let auth = &config.auth;
    texts(reader, entry, |reader, node, scheme| {
        let (is_there, key) = match scheme {
            "bearer" => (auth.bearer.is_some(), "bearer"),
            "key" => (auth.keys, "keys"),
            "basic" => (!auth.users.is_empty(), "users"),
            "site" => (auth.site.is_some(), "site"),
            "login" => (auth.login.is_some(), "login"),
            "token" => (!auth.jwt.is_empty(), "jwt"),
            _ => return,
        };
        if !is_there {
            let message = format!("nobody authenticates with `{scheme}` here, so this matches nobody");
            reader.note(&node.at, message, format!("add `{key}` to `auth`; or remove this"));
        }
    });
}

fn rate(reader: &mut Reader<'_>, limit: &Node, config: &Config, names: &Names<'_>) {
    if let Some(tools) = limit.entry("tools") {
        names.public(reader, tools, NamedItemKind::Tool);
    }
    if let Some(per) = limit.entry("per")
        && !config.auth.asks()
    {
        texts(reader, per, |reader, node, per| {
            if per == "principal" {
                let message = "callers are not authenticated, so all of them share one count";
                reader.note(&node.at, message, "write per: ip, or add `auth`");
            }
        });
    }
}

fn audit(reader: &mut Reader<'_>, entry: &Entry, config: &Config) {
    if let Some(redact) = entry.value.entry("redact")
        && config.audit.as_ref().is_some_and(|audit| !audit.arguments)
    {
        let message = "arguments are not recorded, so there is nothing to redact";
        let help = "remove it, or write arguments: true";
        reader.within("redact", |reader| reader.note(&redact.key_at, message, help));
    }
}

fn dialects(reader: &mut Reader<'_>, entry: &Entry, config: &Config) {
    for own in entry.value.entries() {
        let is_it = |name: &Option<String>| name.as_ref() == Some(&own.key);
        let used = is_it(&config.dialect)
            || config.profiles.values().any(|profile| is_it(&profile.dialect))
            || config.endpoints.iter().any(|endpoint| is_it(&endpoint.dialect));
        let is_base = |other: &Entry| {
            let base = other.value.entry("base").map(|base| &base.value.kind);
            matches!(base, Some(NodeKind::Scalar { text, .. }) if *text == own.key)
        };
        if !used && !entry.value.entries().iter().any(is_base) {
            let help =
                format!("assign it to an endpoint: endpoints: [{{ path: /tools, dialect: {} }}]", own.key);
            reader.within(&own.key, |reader| {
                reader.note(&own.key_at, "nothing uses this dialect", help);
            });
        }
        reader.within(&own.key, |reader| methods(reader, &own.value));
    }
}

/// Adds a note for methods that neither the protocol nor a built-in dialect defines; an extension may define such a method.
fn methods(reader: &mut Reader<'_>, dialect: &Node) {
    for key in ["methods", "emptyMethods"] {
        let Some(entry) = dialect.entry(key) else { continue };
        let rows: Vec<Dialect> = Dialect::all().collect();
        let of_rows = || rows.iter().flat_map(|row| row.lists.methods.iter().chain(&row.lists.empty_methods));
        let of_protocol = Method::ALL.iter().map(|method| method.name());
        let known: Vec<&str> = of_protocol
            .chain(Notice::ALL.iter().map(|notice| notice.name()))
            .chain(of_rows().map(AsRef::as_ref))
            .collect();
        texts(reader, entry, |reader, node, name| {
            if known.contains(&name) {
                return;
            }
            let message = format!("no version of the protocol has the method `{}`", clip(name));
            let help = suggest::or(name, known.iter().copied(), || {
                "no change needed if a server supports this method as an extension".to_owned()
            });
            reader.note(&node.at, message, help);
        });
    }
}

/// Adds a note for a dialect that requires authentication, although none is configured. `or` adds an alternative to the suggested
/// fix.
fn asking(reader: &mut Reader<'_>, entry: &Entry, config: &Config, or: &str) {
    let Some(name) = plain(&entry.value).filter(|_| !config.auth.asks()) else { return };
    let row = config.dialects.get(name).cloned().or_else(|| Dialect::base(name));
    let Some(auth) = row.and_then(|row| row.credentials) else { return };
    let message = format!("the dialect `{}` requires authentication, but none is configured", clip(name));
    reader.note(&entry.value.at, message, format!("add auth: {auth}{or}"));
}

fn endpoint(reader: &mut Reader<'_>, endpoint: &Node, config: &Config) {
    let is_meant = endpoint.entry("auth").is_some_and(|auth| plain(&auth.value) != Some("inherit"));
    if let Some(dialect) = endpoint.entry("dialect").filter(|_| !is_meant) {
        let or = "; or add auth: none to this endpoint";
        reader.within("dialect", |reader| asking(reader, dialect, config, or));
    }
}

/// Adds notes on names that are too long for clients, which put a prefix before each name.
fn long_names(reader: &mut Reader<'_>, entry: &Entry, profile: &Profile) {
    let prefix = profile.prefix_of_clients(&entry.key);
    if prefix.len() > MAX_CLIENT_PREFIX {
        let left = MAX_PUBLIC_NAME.saturating_sub(prefix.len());
        let message = format!(
            "the prefix {} leaves only {left} characters for names, so most names are replaced by short codes",
            clip(&prefix)
        );
        reader.note(&entry.key_at, message, "set `clientPrefix` to the prefix that your clients use");
    }
    for kind in ["tools", "prompts"] {
        let Some(rules) = entry.value.entry(kind) else { continue };
        let entries = |key: &str| rules.value.entry(key).map_or(&[][..], |entry| entry.value.entries());
        let renamed = entries("rename").iter().map(|new| ("rename", new));
        let overridden =
            entries("overrides").iter().filter_map(|one| Some(("overrides", one.value.entry("name")?)));
        for (key, new) in renamed.chain(overridden) {
            reader.within(kind, |reader| reader.within(key, |reader| long_name(reader, &new.value, &prefix)));
        }
    }
}

fn long_name(reader: &mut Reader<'_>, new: &Node, prefix: &str) {
    let length = plain(new).map_or(0, |name| prefix.len() + name.chars().count());
    if length > MAX_PUBLIC_NAME {
        let message = format!(
            "with the prefix {}, this name has {length} characters, but clients accept at most {MAX_PUBLIC_NAME}",
            clip(prefix)
        );
        reader.note(&new.at, message, "choose a shorter name, or set `clientPrefix`");
    }
}

fn profiles(reader: &mut Reader<'_>, entry: &Entry, config: &Config, names: &Names<'_>) {
    for one in entry.value.entries() {
        reader.within(&one.key, |reader| {
            if let Some(dialect) = one.value.entry("dialect") {
                reader.within("dialect", |reader| asking(reader, dialect, config, ""));
            }
            if let Some(profile) = config.profiles.get(&one.key) {
                names.of_profile(reader, &one.value, profile);
                let dialect = profile.dialect.as_ref().or(config.dialect.as_ref());
                if profile.client_prefix.is_some() || dialect.is_none_or(|dialect| dialect == "standard") {
                    long_names(reader, one, profile);
                }
            }
        });
    }
}
