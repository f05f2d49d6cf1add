//! Secrets in the entries of clients. Each becomes a file of its own, and the entry refers to the file. This module must not know files.

use std::fmt;

use config::{SecretOption, is_literal_secret, marks_secret};
use serde_json::{Map, Value};

/// The words before a token in a header.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// Headers without secrets; all others may be secret.
const HARMLESS_HEADERS: [&str; 4] = ["accept-language", "origin", "referer", "user-agent"];

/// A secret of an entry.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// The path that the entry refers to.
    pub path: String,
    /// The secret itself.
    pub value: String,
}

impl fmt::Debug for FoundSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundSecret").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Replaces the secrets of an entry with references to files below `folder`, and returns the secrets.
pub(crate) fn taken_out(entry: &mut Map<String, Value>, server: &str, folder: &str) -> Vec<FoundSecret> {
    let mut taken = SecretTaker { server, folder, found: Vec::new() };
    for (key, value) in entry.iter_mut() {
        match (key.as_str(), value) {
            ("env", Value::Object(env)) => {
                for (name, value) in env.iter_mut().filter(|(name, value)| is_secret(name, value)) {
                    taken.variable(name, value);
                }
            }
            ("headers", Value::Object(headers)) => {
                let may_be = |name: &str| !HARMLESS_HEADERS.contains(&name.to_ascii_lowercase().as_str());
                for (name, value) in headers.iter_mut().filter(|(name, _)| may_be(name)) {
                    taken.text(name, value);
                }
            }
            ("args", Value::Array(args)) => taken.options(args),
            ("url" | "serverUrl" | "httpUrl", Value::String(url)) => taken.query(url),
            _ => {}
        }
    }
    taken.found
}

/// The final words of variables' names that indicate a secret, such as `KEY` in `API_KEY`.
const SECRET_ENDS: [&str; 7] = ["KEY", "PAT", "PASS", "PWD", "AUTH", "DSN", "CREDENTIALS"];

/// The prefixes of the tokens of well-known services.
const TOKEN_STARTS: [&str; 12] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xox", "AKIA", "eyJ", "hf_", "figd_", "dgm_"];

/// Returns true if a variable contains a secret: by its name, or by the form of its value.
fn is_secret(name: &str, value: &Value) -> bool {
    let Value::String(value) = value else { return false };
    if value.contains("${") {
        return false;
    }
    let end = name.rsplit('_').next().unwrap_or(name).to_ascii_uppercase();
    let is_named = marks_secret(name) || SECRET_ENDS.contains(&end.as_str());
    (is_named && is_literal_secret(value))
        || has_password(value)
        || TOKEN_STARTS.iter().any(|start| value.starts_with(start))
}

/// Returns true if a text is a URL with a user's password, such as the address of a database.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    place
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
}

struct SecretTaker<'a> {
    server: &'a str,
    folder: &'a str,
    found: Vec<FoundSecret>,
}

impl SecretTaker<'_> {
    /// Stores a secret, and returns the reference to it.
    fn stored(&mut self, name: &str, secret: &str) -> String {
        let plain =
            |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '_' };
        let name: String = name.trim_start_matches('-').chars().map(plain).take(64).collect();
        let path = format!("{}/{}.{name}", self.folder, self.server);
        self.found.push(FoundSecret { path: path.clone(), value: secret.to_owned() });
        format!("${{file:{path}}}")
    }

    /// Stores the whole value of a variable.
    fn variable(&mut self, name: &str, value: &mut Value) {
        if let Value::String(text) = value {
            *text = self.stored(name, &text.clone());
        }
    }

    fn text(&mut self, name: &str, value: &mut Value) {
        let Value::String(text) = value else { return };
        if !is_literal_secret(text) {
            return;
        }
        let scheme = SCHEMES.iter().find(|scheme| text.starts_with(**scheme)).copied().unwrap_or_default();
        let secret = text[scheme.len()..].to_owned();
        *text = format!("{scheme}{}", self.stored(name, &secret));
    }

    /// Takes secrets out of a command line: `--api-key VALUE`, `--api-key=VALUE`, `API_KEY=VALUE`, `Authorization: VALUE`.
    fn options(&mut self, args: &mut [Value]) {
        let mut named: Option<String> = None;
        for arg in args {
            let Value::String(text) = arg else { continue };
            let before = named.take().filter(|_| !text.starts_with('-'));
            if let Some(name) = before {
                self.text(&name, arg);
                continue;
            }
            match SecretOption::of(text) {
                SecretOption::No if has_password(text) => self.variable("url", arg),
                SecretOption::No => self.query(text),
                SecretOption::Alone => named = Some(text.clone()),
                SecretOption::WithValue(at) => {
                    let (name, value) = (text[..at - 1].to_owned(), text[at..].to_owned());
                    let blanks = value.len() - value.trim_start().len();
                    let mut secret = Value::from(&value[blanks..]);
                    self.text(&name, &mut secret);
                    *text = format!("{}{}", &text[..at + blanks], secret.as_str().unwrap_or_default());
                }
            }
        }
    }

    /// Takes secrets out of the query of a URL.
    fn query(&mut self, url: &mut String) {
        let Some((before, query)) = url.split_once('?').filter(|(before, _)| before.contains("://")) else {
            return;
        };
        let parts: Vec<String> = query
            .split('&')
            .map(|part| match part.split_once('=') {
                Some((name, value))
                    if (marks_secret(name) || name.eq_ignore_ascii_case("key"))
                        && is_literal_secret(value) =>
                {
                    format!("{name}={}", self.stored(name, value))
                }
                _ => part.to_owned(),
            })
            .collect();
        *url = format!("{before}?{}", parts.join("&"));
    }
}
