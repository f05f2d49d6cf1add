//! Servers in the forms in which other clients write them: a block of `mcpServers`, or the address of one server. This module must not
//! know where the text comes from.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value, json};

use super::{Standing, add_server};

/// The maximum number of servers in one text.
const MOST: usize = 100;

/// A server in a pasted text.
#[derive(Debug, Clone, PartialEq)]
pub struct PastedServer {
    /// The name of the server in the text.
    pub name: String,
    /// The id that the server will have.
    pub id: String,
    /// The server in the form of the API.
    pub body: Value,
}

impl PastedServer {
    /// Returns the address, or the program with its arguments, and the names of its headers or variables.
    pub fn destination(&self) -> String {
        let config = &self.body["config"];
        let words = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut text = match (config["url"].as_str(), config["command"].as_str()) {
            (Some(url), _) => url.to_owned(),
            (None, command) => {
                let mut all = vec![command.unwrap_or_default().to_owned()];
                all.extend(words(&config["args"]));
                all.join(" ")
            }
        };
        for (key, about) in [("headers", "headers"), ("env", "variables")] {
            let names: Vec<&str> =
                config[key].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if !names.is_empty() {
                text = format!("{text} (with the {about} {})", names.join(", "));
            }
        }
        text
    }
}

/// Reads a pasted text, and checks that each of its servers could be added now. `name` is the name for a server
/// that the text specifies only by its address.
///
/// # Errors
/// Returns what is wrong with the text.
pub fn servers(standing: &Standing, text: &str, name: &str) -> Result<Vec<PastedServer>, Vec<String>> {
    let text = text.trim();
    if text.is_empty() {
        return Err(vec!["Paste a block of mcpServers, or a URL.".to_owned()]);
    }
    let mut servers = if text.starts_with("http://") || text.starts_with("https://") {
        vec![of_url(text, name)?]
    } else {
        of_block(text)?
    };
    let taken: Vec<String> = servers
        .iter()
        .filter(|one| standing.config().mcp_servers.contains_key(&one.name))
        .map(|one| format!("There is already a server {:?}. Use another name.", one.name))
        .collect();
    if !taken.is_empty() {
        return Err(taken);
    }
    let faults = tried(standing, &mut servers);
    if faults.is_empty() { Ok(servers) } else { Err(faults) }
}

/// Returns a mark that identifies these servers. The same servers get the same mark as long as the process runs.
pub fn mark(servers: &[PastedServer]) -> String {
    let mut digest = DefaultHasher::new();
    for server in servers {
        (&server.id, server.body.to_string()).hash(&mut digest);
    }
    format!("{:016x}", digest.finish())
}

/// Adds the servers to a copy of the configuration, which assigns their ids, and returns the errors of all servers.
/// The user therefore sees every error before any server of the text is started.
fn tried(standing: &Standing, servers: &mut [PastedServer]) -> Vec<String> {
    let (mut with_all, mut faults) = (standing.clone(), Vec::new());
    for server in servers {
        match add_server(&with_all, &server.body) {
            Ok((id, with_this)) => (server.id, with_all) = (id, with_this),
            // The text has no key `config`; only the form of the API has one.
            Err(refusal) => {
                faults.push(format!("{}: {}", server.name, refusal.message.replace("`config.", "`")));
            }
        }
    }
    faults
}

fn of_url(url: &str, name: &str) -> Result<PastedServer, Vec<String>> {
    if name.is_empty() {
        return Err(vec!["Enter a name for the server.".to_owned()]);
    }
    if url.split_whitespace().count() != 1 {
        return Err(vec!["A URL contains no spaces.".to_owned()]);
    }
    let name = name.to_owned();
    let body = json!({ "name": name, "type": "remote_http", "config": { "url": url } });
    Ok(PastedServer { id: name.clone(), name, body })
}

fn of_block(text: &str) -> Result<Vec<PastedServer>, Vec<String>> {
    let whole = || serde_json::from_str::<Value>(text);
    // People also paste only the inner part: `"files": { … }`.
    let inner = || serde_json::from_str::<Value>(&format!("{{{}}}", text.trim_end_matches(',')));
    let value = whole().or_else(|error| inner().map_err(|_| error));
    let value = value.map_err(|e| vec![format!("The text is neither a URL nor valid JSON: {e}.")])?;
    let named = ["mcpServers", "servers", "context_servers"].iter().find_map(|key| value.get(key));
    let named = named.or_else(|| value.get("mcp").and_then(|mcp| mcp.get("servers")));
    let block = named.unwrap_or(&value);
    let Some(block) = block.as_object().filter(|block| !block.is_empty()) else {
        return Err(vec!["The text contains no servers. Paste an object with `mcpServers`.".to_owned()]);
    };
    if block.len() > MOST {
        return Err(vec![format!("The text contains more than {MOST} servers. Paste fewer at a time.")]);
    }
    let (mut servers, mut faults) = (Vec::new(), Vec::new());
    for (name, entry) in block {
        match body(name, entry) {
            Ok(body) => servers.push(PastedServer { name: name.clone(), id: name.clone(), body }),
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    if faults.is_empty() { Ok(servers) } else { Err(faults) }
}

/// Returns an entry in the form of the API.
fn body(name: &str, entry: &Value) -> Result<Value, String> {
    let Some(entry) = entry.as_object() else {
        return Err("a server must be an object with `command` or `url`".to_owned());
    };
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let mut config = Map::new();
    let mut take = |keys: &[&str], as_key: &str| {
        if let Some(value) = keys.iter().find_map(|key| entry.get(*key)).filter(|value| !value.is_null()) {
            config.insert(as_key.to_owned(), value.clone());
        }
    };
    let kind = match (text("url").or_else(|| text("serverUrl")).or_else(|| text("httpUrl")), text("command"))
    {
        (Some(_), None) => {
            take(&["url", "serverUrl", "httpUrl"], "url");
            take(&["headers"], "headers");
            if matches!(text("type").or_else(|| text("transport")), Some("sse")) {
                "remote_sse"
            } else {
                "remote_http"
            }
        }
        (None, Some(_)) => {
            take(&["command"], "command");
            take(&["args"], "args");
            take(&["env"], "env");
            take(&["cwd"], "cwd");
            "external"
        }
        (Some(_), Some(_)) => return Err("it has both `command` and `url`; keep one of them".to_owned()),
        (None, None) => return Err("it has neither `command` nor `url`".to_owned()),
    };
    let mut body = json!({ "name": name, "type": kind, "config": config });
    if let Some(description) = text("description") {
        body["description"] = description.into();
    }
    if entry.get("disabled") == Some(&Value::Bool(true)) {
        body["isActive"] = false.into();
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<(String, String)>, Vec<String>> {
        let all = of_block(text)?;
        Ok(all.into_iter().map(|one| (one.name.clone(), one.destination())).collect())
    }

    #[test]
    fn blocks_of_several_clients_are_read() {
        let files = ("files".to_owned(), "npx -y x (with the variables KEY)".to_owned());
        let entry = r#"{ "command": "npx", "args": ["-y", "x"], "env": { "KEY": "secret" } }"#;
        for text in [
            format!(r#"{{ "mcpServers": {{ "files": {entry} }} }}"#),
            format!(r#"{{ "servers": {{ "files": {entry} }} }}"#),
            format!(r#"{{ "mcp": {{ "servers": {{ "files": {entry} }} }} }}"#),
            format!(r#"{{ "files": {entry} }}"#),
            format!(r#""files": {entry},"#),
        ] {
            assert_eq!(names(&text), Ok(vec![files.clone()]), "{text}");
        }
    }

    #[test]
    fn remote_servers_keep_their_transport_and_headers() {
        let all = of_block(r#"{ "a": { "type": "sse", "url": "https://x.example/sse", "headers": { "X-Key": "k" } }, "b": { "serverUrl": "https://y.example" } }"#).unwrap();
        assert_eq!(all[0].body["type"], "remote_sse");
        assert_eq!(all[0].destination(), "https://x.example/sse (with the headers X-Key)");
        assert_eq!(
            (all[1].body["type"].as_str(), all[1].body["config"]["url"].as_str()),
            (Some("remote_http"), Some("https://y.example"))
        );
        assert_eq!(of_url("https://z.example/mcp", "z").unwrap().destination(), "https://z.example/mcp");
    }

    #[test]
    fn a_server_that_cannot_be_added_is_named_before_any_is() {
        let nothing = config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let text = "mcpServers: { files: { command: npx } }\n";
        let config = config::load(text, "test", &nothing).unwrap_or_else(|faults| panic!("{faults}")).config;
        let standing = Standing::new(config, super::super::Changes::default()).unwrap();
        let read = |text: &str| servers(&standing, text, "");
        let good = read(r#"{ "My notes": { "command": "a" }, "my-notes": { "command": "b" } }"#).unwrap();
        assert_eq!(good.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["my-notes", "my-notes-2"]);
        assert_eq!(
            mark(&good),
            mark(&read(r#"{"My notes":{"command":"a"},"my-notes":{"command":"b"}}"#).unwrap())
        );
        let other =
            r#"{ "My notes": { "command": "a" }, "my-notes": { "command": "b", "env": { "A": "1" } } }"#;
        assert_ne!(mark(&good), mark(&read(other).unwrap()));
        let faults = read(r#"{ "good": { "command": "a" }, "bad": { "command": "b", "args": "c" } }"#);
        assert_eq!(faults.unwrap_err(), ["bad: `args` must be a list of strings"]);
        assert!(read(r#"{ "files": { "command": "a" } }"#).unwrap_err()[0].contains("already a server"));
    }

    #[test]
    fn unusable_texts_say_what_is_wrong() {
        assert!(names("hello").unwrap_err()[0].contains("neither a URL nor valid JSON"));
        assert!(names("{}").unwrap_err()[0].contains("no servers"));
        assert_eq!(names(r#"{ "a": {} }"#).unwrap_err(), ["a: it has neither `command` nor `url`"]);
        assert_eq!(
            names(r#"{ "a": 1 }"#).unwrap_err(),
            ["a: a server must be an object with `command` or `url`"]
        );
        assert!(of_url("https://x.example", "").unwrap_err()[0].contains("Enter a name"));
    }
}
