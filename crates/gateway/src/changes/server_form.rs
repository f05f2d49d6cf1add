//! A server's form in the API and in a configuration. Secrets can be written but never read.

use config::{HttpTransport, Link, Native, Server, Text};
use serde_json::{Map, Value, json};

use super::{Refusal, server_settings};

/// The placeholder for a value that is not shown.
pub(super) const HIDDEN: &str = "***";

/// The types of servers, by their names in the API.
const KINDS: &str = "remote_http, remote_sse, external, builtin";

/// The default path of an HTTP+SSE server's stream.
const STREAM: &str = "/sse";

/// The default header of an API key, and the prefix of its value.
const KEY_HEADER: (&str, &str) = ("Authorization", "Bearer");

pub(super) type Object = Map<String, Value>;

/// A server before it is changed.
pub(super) struct PreviousServer<'b> {
    /// The server's form in the API.
    pub(super) shown: &'b Value,
    /// The server's entry among the changes. An entry without a link only amends a server from the file.
    pub(super) entry: Option<&'b Object>,
    /// The server's link.
    pub(super) link: &'b Link,
}

/// Returns true if the entry defines how the server is reached.
pub(super) fn says_link(entry: &Object) -> bool {
    ["url", "command", "native"].iter().any(|key| entry.contains_key(*key))
}

/// Returns the server that a request describes, in the form of a configuration. Fields that are missing, or equal
/// to the values that the API shows, stay unchanged.
pub(super) fn written(body: &Value, before: Option<&PreviousServer<'_>>) -> Result<Object, Refusal> {
    let Some(sent) = body.as_object() else { return Err(Refusal::request("send a JSON object")) };
    // Fields equal to what the API shows keep their stored values, including hidden ones.
    let as_shown =
        |key: &str, before: &PreviousServer<'_>| sent.get(key).is_none_or(|sent| *sent == before.shown[key]);
    let kept = before.and_then(|before| before.entry);
    let mut server = match before {
        Some(before) if as_shown("type", before) && as_shown("config", before) => {
            kept.cloned().unwrap_or_default()
        }
        before => {
            let mut server = linked(sent, before)?;
            for key in ["description", "disabled"] {
                if let Some(value) = kept.and_then(|kept| kept.get(key)) {
                    server.insert(key.to_owned(), value.clone());
                }
            }
            if let (Some(kept), Some(before)) = (kept, before) {
                server_settings::keep(&mut server, kept, &before.shown["settings"]);
            }
            server
        }
    };
    if let Some(key) = sent.get("apiKey").filter(|key| !key.is_null()) {
        add_key(&mut server, key)?;
    }
    if !before.is_some_and(|before| as_shown("description", before)) {
        match text(sent, "description")? {
            Some(description) => drop(server.insert("description".to_owned(), description.into())),
            None => drop(server.remove("description")),
        }
    }
    if let Some(settings) = sent.get("settings").filter(|settings| !settings.is_null()) {
        server_settings::replace(&mut server, settings, before.map(|before| &before.shown["settings"]))?;
    }
    match sent.get("isActive") {
        None | Some(Value::Null) => {}
        // This value applies even if the file has another one.
        Some(Value::Bool(active)) => drop(server.insert("disabled".to_owned(), (!active).into())),
        Some(_) => return Err(Refusal::config("`isActive` must be true or false")),
    }
    Ok(server)
}

/// Returns the link of the server that a request describes.
fn linked(sent: &Object, before: Option<&PreviousServer<'_>>) -> Result<Object, Refusal> {
    let shown = before.map(|before| &before.shown["type"]);
    let kind = match sent.get("type").or(shown) {
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) | None => return Err(Refusal::kind(format!("`type` must be one of {KINDS}"))),
    };
    let none = Object::new();
    let config = match sent.get("config") {
        Some(Value::Object(config)) => config,
        Some(_) => return Err(Refusal::config("`config` must be an object")),
        None => &none,
    };
    match kind {
        "remote_http" => remote(config, "http", before),
        "remote_sse" => remote(config, "sse", before),
        "external" => external(config, before),
        "builtin" | "custom" => builtin(config),
        other => Err(Refusal::kind(format!("unknown server type {other:?}; use one of {KINDS}"))),
    }
}

/// Returns the original of a text that may contain a placeholder for a secret: the stored text at this position if
/// its displayed form is `text`, or else the only stored text whose displayed form is `text`.
fn revealed(text: &str, key: &str, known: &[Text], at: usize, may: bool) -> Result<String, Refusal> {
    let hidden: Vec<&Text> = known.iter().filter(|one| one.hides() && one.shown() == text).collect();
    let own = known.get(at).filter(|own| own.shown() == text);
    let meant = match (hidden.as_slice(), own) {
        ([], _) => return Ok(text.to_owned()),
        (_, Some(own)) => Some(own),
        ([one], None) => Some(*one),
        _ => None,
    };
    meant.filter(|_| may).map(|meant| meant.expose().to_owned()).ok_or_else(|| {
        Refusal::config(format!("write {text:?} in `config.{key}` in full: its hidden part is not stored"))
    })
}

/// Returns scheme, host and port of a URL: the origin for which its headers are intended.
fn origin(url: &str) -> Option<(String, String, Option<u16>)> {
    let url: http::Uri = url.parse().ok()?;
    let (scheme, host) = (url.scheme_str()?.to_ascii_lowercase(), url.host()?.to_ascii_lowercase());
    let usual = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    Some((scheme, host, url.port_u16().or(usual)))
}

fn text<'v>(object: &'v Object, key: &str) -> Result<Option<&'v str>, Refusal> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::config(format!("`{key}` must be a string"))),
    }
}

/// Refuses unknown keys.
fn only(config: &Object, keys: &[&str]) -> Result<(), Refusal> {
    match config.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let known = keys.join(", ");
            Err(Refusal::config(format!(
                "`config` has the unknown key {key:?} for this type; the known keys are {known}"
            )))
        }
        None => Ok(()),
    }
}

fn remote(config: &Object, transport: &str, before: Option<&PreviousServer<'_>>) -> Result<Object, Refusal> {
    only(config, &["url", "headers", "sseEndpoint", "postEndpoint"])?;
    let Some(url) = text(config, "url")? else { return Err(Refusal::config("`config.url` is missing")) };
    let known =
        before.and_then(|before| if let Link::Http(link) = before.link { Some(&link.url) } else { None });
    let url = revealed(url, "url", known.map(std::slice::from_ref).unwrap_or_default(), 0, true)?;
    if url.ends_with(&format!("?{HIDDEN}")) {
        return Err(Refusal::config(
            "write the query of `config.url` in full: no query is stored for this URL",
        ));
    }
    let mut server = Object::new();
    server.insert("type".to_owned(), transport.into());
    let url = if transport == "sse" { stream(&url, text(config, "sseEndpoint")?) } else { url };
    let is_same =
        known.is_some_and(|known| origin(known.expose()).is_some_and(|known| Some(known) == origin(&url)));
    server.insert("url".to_owned(), url.into());
    if let Some(headers) = secrets(config, "headers", before.filter(|_| is_same), "this URL's origin")? {
        server.insert("headers".to_owned(), headers.into());
    }
    Ok(server)
}

/// Returns the URL with the path of the stream: the given path, or the default path if the URL has no path. The
/// server announces the path for messages on the stream.
fn stream(url: &str, path: Option<&str>) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_bare = rest.split_once('/').is_none_or(|(_, path)| path.is_empty());
    match path {
        None if !is_bare => url.to_owned(),
        path => {
            let path = path.unwrap_or(STREAM);
            format!("{}/{}", url.trim_end_matches('/'), path.trim_start_matches('/'))
        }
    }
}

fn external(config: &Object, before: Option<&PreviousServer<'_>>) -> Result<Object, Refusal> {
    only(config, &["command", "args", "cwd", "env"])?;
    let mut server = Object::new();
    let command = text(config, "command")?.filter(|command| !command.is_empty());
    let Some(command) = command else { return Err(Refusal::config("`config.command` is missing")) };
    let known = before.and_then(|before| if let Link::Stdio(link) = before.link { Some(link) } else { None });
    let own = known.map(|known| std::slice::from_ref(&known.command)).unwrap_or_default();
    let command = revealed(command, "command", own, 0, true)?;
    let is_same = known.is_some_and(|known| known.command.expose() == command);
    server.insert("command".to_owned(), command.into());
    let none = || Refusal::config("`config.args` must be a list of strings");
    match config.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            let own = known.map(|known| &known.args[..]).unwrap_or_default();
            let one = |(at, item): (usize, &Value)| {
                revealed(item.as_str().ok_or_else(none)?, "args", own, at, is_same).map(Value::from)
            };
            let args = items.iter().enumerate().map(one).collect::<Result<Vec<Value>, Refusal>>()?;
            server.insert("args".to_owned(), args.into());
        }
        Some(_) => return Err(none()),
    }
    if let Some(cwd) = text(config, "cwd")? {
        let own = known.map(|known| known.cwd.as_slice()).unwrap_or_default();
        server.insert("cwd".to_owned(), revealed(cwd, "cwd", own, 0, is_same)?.into());
    }
    if let Some(env) = secrets(config, "env", before.filter(|_| is_same), "this command")? {
        server.insert("env".to_owned(), env.into());
    }
    Ok(server)
}

/// Returns values by name, none of which is ever shown. Values that are missing or hidden in the request stay
/// unchanged, but only if the link still leads to the server for which they were given; no other server receives
/// them. `whose` describes that server in messages.
fn secrets(
    config: &Object,
    key: &str,
    before: Option<&PreviousServer<'_>>,
    whose: &str,
) -> Result<Option<Object>, Refusal> {
    let before = before.and_then(|before| before.entry?.get(key)?.as_object());
    let sent = match config.get(key) {
        None => return Ok(before.cloned()),
        Some(Value::Null) => return Ok(None),
        Some(Value::Object(sent)) => sent,
        Some(_) => return Err(Refusal::config(format!("`config.{key}` must be an object of strings"))),
    };
    let same = |a: &str, b: &str| if key == "headers" { a.eq_ignore_ascii_case(b) } else { a == b };
    let mut all = Object::new();
    for (name, value) in sent {
        let value = match value {
            Value::String(text) if text == HIDDEN => {
                let known = before.and_then(|before| before.iter().find(|(known, _)| same(known, name)));
                known.map(|(_, value)| value.clone()).ok_or_else(|| {
                    Refusal::config(format!(
                        "write the value of {name:?} in `config.{key}`: no value is stored for {whose}"
                    ))
                })?
            }
            Value::String(_) => value.clone(),
            _ => return Err(Refusal::config(format!("{name:?} in `config.{key}` must be a string"))),
        };
        all.insert(name.clone(), value);
    }
    Ok(Some(all))
}

fn builtin(config: &Object) -> Result<Object, Refusal> {
    only(config, &["native", "site", "phases", "sources", "unknownArguments"])?;
    let names = || Native::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if text(config, "native")?.is_none() {
        return Err(Refusal::config(format!("`config.native` must be one of {}", names())));
    }
    Ok(config.clone())
}

/// Sets an API key in the headers of a remote server.
pub(super) fn add_key(server: &mut Object, key: &Value) -> Result<(), Refusal> {
    let none = || Refusal::config("an API key needs a `key`, and can have `headerName` and `prefix`");
    let sent = key.as_object().ok_or_else(none)?;
    let value = text(sent, "key")?.filter(|key| !key.is_empty()).ok_or_else(none)?;
    if !says_link(server) {
        let message =
            "this server is defined in the configuration file; set its key there, or define the server here";
        return Err(Refusal::config(message));
    }
    if !server.contains_key("url") {
        return Err(Refusal::config("only remote servers can have an API key"));
    }
    let name = text(sent, "headerName")?.unwrap_or(KEY_HEADER.0);
    let prefix = text(sent, "prefix")?.unwrap_or(if name.eq_ignore_ascii_case(KEY_HEADER.0) {
        KEY_HEADER.1
    } else {
        ""
    });
    let value = format!("{prefix} {value}").trim_start().to_owned();
    let headers = server.entry("headers").or_insert_with(|| Object::new().into());
    if let Some(headers) = headers.as_object_mut() {
        headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
        headers.insert(name.to_owned(), value.into());
    }
    Ok(())
}

/// Returns a server in the form that the API shows.
pub(super) fn shown(id: &str, server: &Server, is_kept: bool) -> Value {
    let hidden = |names: Vec<String>| {
        let all: Object = names.into_iter().map(|name| (name, HIDDEN.into())).collect();
        Value::Object(all)
    };
    let (kind, config) = match &server.link {
        Link::Http(http) => {
            let kind = if http.transport == HttpTransport::Sse { "remote_sse" } else { "remote_http" };
            let names = http.headers.keys().map(ToString::to_string).collect();
            (kind, json!({ "url": http.url.shown(), "headers": hidden(names) }))
        }
        Link::Stdio(child) => {
            let args: Vec<&str> = child.args.iter().map(Text::shown).collect();
            let mut config = json!({
                "command": child.command.shown(), "args": args,
                "cwd": child.cwd.as_ref().map(Text::shown),
                "env": hidden(child.env.keys().cloned().collect()),
            });
            if let Some(bundle) = &child.bundle {
                config["bundle"] = bundle.shown().into();
                config["config"] = hidden(child.config.keys().cloned().collect());
            }
            ("external", config)
        }
        Link::Native(native) => ("builtin", json!({ "native": native.native.name() })),
    };
    json!({
        "id": id,
        "name": id,
        "type": kind,
        "config": config,
        "description": server.description.as_ref().map(Text::shown),
        "isActive": !server.disabled,
        "source": if is_kept { "api" } else { "file" },
    })
}
