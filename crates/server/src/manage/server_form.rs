//! How a server is written and shown here, and in a configuration. What is secret goes in and never comes out.

use engine::config::{HttpTransport, Link, Native, Server, Text};
use serde_json::{Map, Value, json};

use super::Refusal;

/// What stands for a value that is not told.
pub(super) const HIDDEN: &str = "***";

/// The kinds of servers, as they are called here.
const KINDS: &str = "remote_http, remote_sse, external, builtin";

/// Where a server of the older transport has its stream when nobody says otherwise.
const STREAM: &str = "/sse";

/// The header of an API key when nobody says otherwise, and what stands before the key there.
const KEY_HEADER: (&str, &str) = ("Authorization", "Bearer");

type Object = Map<String, Value>;

/// A server as a configuration has it, from what was sent. `known` is what was sent before: values that are hidden there stay
/// as they were.
pub(super) fn written(body: &Value, known: Option<&Object>) -> Result<Object, Refusal> {
    let Some(sent) = body.as_object() else { return Err(Refusal::request("send a JSON object")) };
    let kind = match sent.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) | None => return Err(Refusal::kind(format!("`type` is one of {KINDS}"))),
    };
    let none = Object::new();
    let config = match sent.get("config") {
        Some(Value::Object(config)) => config,
        Some(_) => return Err(Refusal::config("`config` is an object")),
        None => &none,
    };
    let mut server = match kind {
        "remote_http" => remote(config, "http", known)?,
        "remote_sse" => remote(config, "sse", known)?,
        "external" => external(config, known)?,
        "builtin" | "custom" => builtin(config)?,
        other => return Err(Refusal::kind(format!("{other:?} is no type of a server; there are {KINDS}"))),
    };
    if let Some(key) = sent.get("apiKey").filter(|key| !key.is_null()) {
        add_key(&mut server, key)?;
    }
    if let Some(description) = text(sent, "description")? {
        server.insert("description".to_owned(), description.into());
    }
    match sent.get("isActive") {
        None | Some(Value::Null | Value::Bool(true)) => {}
        Some(Value::Bool(false)) => drop(server.insert("disabled".to_owned(), true.into())),
        Some(_) => return Err(Refusal::config("`isActive` is true or false")),
    }
    Ok(server)
}

fn text<'v>(object: &'v Object, key: &str) -> Result<Option<&'v str>, Refusal> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::config(format!("`{key}` is a text"))),
    }
}

/// Refuses what nobody reads.
fn only(config: &Object, keys: &[&str]) -> Result<(), Refusal> {
    match config.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let known = keys.join(", ");
            Err(Refusal::config(format!("`config` has no {key:?} for this type; there are {known}")))
        }
        None => Ok(()),
    }
}

fn remote(config: &Object, transport: &str, known: Option<&Object>) -> Result<Object, Refusal> {
    only(config, &["url", "headers", "sseEndpoint", "postEndpoint"])?;
    let Some(url) = text(config, "url")? else { return Err(Refusal::config("`config.url` is missing")) };
    let mut server = Object::new();
    server.insert("type".to_owned(), transport.into());
    let url = if transport == "sse" { stream(url, text(config, "sseEndpoint")?) } else { url.to_owned() };
    server.insert("url".to_owned(), url.into());
    if let Some(headers) = secrets(config, "headers", known, true)? {
        server.insert("headers".to_owned(), headers.into());
    }
    Ok(server)
}

/// Where the stream is: as it is said, or at its usual place where the URL names none. Where messages go the stream says.
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

fn external(config: &Object, known: Option<&Object>) -> Result<Object, Refusal> {
    only(config, &["command", "args", "cwd", "env"])?;
    let mut server = Object::new();
    let command = text(config, "command")?.filter(|command| !command.is_empty());
    let Some(command) = command else { return Err(Refusal::config("`config.command` is missing")) };
    server.insert("command".to_owned(), command.into());
    match config.get("args") {
        None | Some(Value::Null) => {}
        Some(args @ Value::Array(items)) if items.iter().all(Value::is_string) => {
            server.insert("args".to_owned(), args.clone());
        }
        Some(_) => return Err(Refusal::config("`config.args` is a list of texts")),
    }
    if let Some(cwd) = text(config, "cwd")? {
        server.insert("cwd".to_owned(), cwd.into());
    }
    if let Some(env) = secrets(config, "env", known, false)? {
        server.insert("env".to_owned(), env.into());
    }
    Ok(server)
}

/// Values by name of which none is ever told. Left out, they stay as they were; so does each that is written as hidden.
fn secrets(
    config: &Object,
    key: &str,
    known: Option<&Object>,
    any_case: bool,
) -> Result<Option<Object>, Refusal> {
    let before = known.and_then(|known| known.get(key)).and_then(Value::as_object);
    let sent = match config.get(key) {
        None => return Ok(before.cloned()),
        Some(Value::Null) => return Ok(None),
        Some(Value::Object(sent)) => sent,
        Some(_) => return Err(Refusal::config(format!("`config.{key}` is an object of texts"))),
    };
    let same = |a: &str, b: &str| if any_case { a.eq_ignore_ascii_case(b) } else { a == b };
    let mut all = Object::new();
    for (name, value) in sent {
        let value = match value {
            Value::String(text) if text == HIDDEN => {
                let known = before.and_then(|before| before.iter().find(|(known, _)| same(known, name)));
                known.map(|(_, value)| value.clone()).ok_or_else(|| {
                    Refusal::config(format!(
                        "write the value of {name:?} in `config.{key}`: it is not kept here"
                    ))
                })?
            }
            Value::String(_) => value.clone(),
            _ => return Err(Refusal::config(format!("{name:?} in `config.{key}` is a text"))),
        };
        all.insert(name.clone(), value);
    }
    Ok(Some(all))
}

fn builtin(config: &Object) -> Result<Object, Refusal> {
    only(config, &["native", "site", "phases", "sources"])?;
    let names = || Native::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if text(config, "native")?.is_none() {
        return Err(Refusal::config(format!("`config.native` names one of {}", names())));
    }
    Ok(config.clone())
}

/// Puts an API key in the headers of a remote server.
pub(super) fn add_key(server: &mut Object, key: &Value) -> Result<(), Refusal> {
    let none = || Refusal::config("an API key is {\"key\", \"headerName\", \"prefix\"}");
    let sent = key.as_object().ok_or_else(none)?;
    let value = text(sent, "key")?.filter(|key| !key.is_empty()).ok_or_else(none)?;
    if !server.contains_key("url") {
        return Err(Refusal::config("only remote servers take an API key"));
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

/// A server as it is shown.
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
            let config = json!({
                "command": child.command.shown(), "args": args,
                "cwd": child.cwd.as_ref().map(Text::shown),
                "env": hidden(child.env.keys().cloned().collect()),
            });
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
