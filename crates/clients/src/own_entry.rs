//! The entry by which a client reaches Dragoman. This module must not know where the entry is written.

use serde_json::{Map, Value, json};

use crate::client_app::{ClientApp, KeyReference, ProgramForm};

/// The way in which a client reaches Dragoman.
#[derive(Debug, Clone, Copy)]
pub enum Reach<'a> {
    /// The client sends requests to a running gateway.
    Url {
        /// The address of the profile.
        url: &'a str,
        /// The API key, if clients need one.
        key: Option<ApiKey<'a>>,
    },
    /// The client starts Dragoman as a program.
    Program {
        /// The path of the program.
        program: &'a str,
        /// Its arguments.
        args: &'a [String],
    },
}

/// The API key that a client sends.
#[derive(Debug, Clone, Copy)]
pub enum ApiKey<'a> {
    /// The client takes the key from this variable.
    Variable(&'a str),
    /// The key itself.
    Literal(&'a str),
}

/// The reason why a client cannot reach Dragoman as a [`Reach`] describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// The client only starts programs.
    OnlyPrograms,
    /// The client takes no key from a variable, so the key itself is needed.
    NeedsKeyItself,
    /// The client takes a key only from a variable.
    NeedsVariable,
}

/// Returns the entry.
///
/// # Errors
/// Fails if the client cannot reach Dragoman as `reach` describes.
pub fn own_entry(client: &ClientApp, name: &str, reach: Reach<'_>) -> Result<Value, Unreachable> {
    match reach {
        Reach::Program { program, args } => Ok(started(client, name, program, args)),
        Reach::Url { url, key } => remote(client, name, url, key),
    }
}

fn started(client: &ClientApp, name: &str, program: &str, args: &[String]) -> Value {
    match client.program {
        ProgramForm::Plain => json!({ "command": program, "args": args }),
        ProgramForm::Explicit => {
            json!({ "type": "stdio", "name": name, "enabled": true, "cmd": program, "args": args })
        }
    }
}

fn remote(client: &ClientApp, name: &str, url: &str, key: Option<ApiKey<'_>>) -> Result<Value, Unreachable> {
    let form = client.remote.ok_or(Unreachable::OnlyPrograms)?;
    let mut entry = Map::new();
    if let Some(kind) = form.kind {
        entry.insert("type".to_owned(), kind.into());
    }
    if client.program == ProgramForm::Explicit {
        entry.insert("name".to_owned(), name.into());
        entry.insert("enabled".to_owned(), true.into());
    }
    entry.insert(form.url.to_owned(), url.into());
    let value = match (key, client.key) {
        (None, _) => return Ok(entry.into()),
        (Some(ApiKey::Literal(_)), KeyReference::VariableKey(_)) => return Err(Unreachable::NeedsVariable),
        (Some(ApiKey::Literal(key)), _) => key.to_owned(),
        (Some(ApiKey::Variable(_)), KeyReference::Literal) => return Err(Unreachable::NeedsKeyItself),
        (Some(ApiKey::Variable(name)), KeyReference::Braces) => format!("${{{name}}}"),
        (Some(ApiKey::Variable(name)), KeyReference::Env) => format!("${{env:{name}}}"),
        (Some(ApiKey::Variable(name)), KeyReference::VariableKey(key)) => {
            entry.insert(key.to_owned(), name.into());
            return Ok(entry.into());
        }
    };
    entry.insert(form.headers.to_owned(), json!({ "Authorization": format!("Bearer {value}") }));
    Ok(entry.into())
}
