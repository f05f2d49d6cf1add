//! Finds the secret parts of a configuration file, so that no report quotes them.

use super::parse::{Node, NodeKind};
use super::source::{Source, Span};
use super::substitute::literal_ranges;

/// The maximum length of the name of an option, in bytes.
const LONGEST_OPTION: usize = 64;

/// Keys whose values are secret as a whole, including everything below them.
const SECRET_BLOCKS: &[&str] = &["bearer", "config", "env", "headers", "users"];
/// Words in a key that mark its value as secret.
const SECRET_WORDS: &[&str] =
    &["authorization", "token", "secret", "password", "passwd", "apikey", "cookie", "credential", "clientid"];

/// The spans of all literal text that looks secret. `${NAME}` stays visible, because it is only a name.
pub(crate) fn secrets_of(source: &Source<'_>, root: &Node) -> Vec<Span> {
    let mut secrets = Vec::new();
    walk(source, root, false, &mut secrets);
    secrets
}

/// The first literal secret in the file; `${…}` is not a literal. While [`secrets_of`] prefers to hide too much, this function
/// considers only values whose keys mark them as secret, and skips flags, numbers and addresses.
pub(crate) fn first_literal(root: &Node) -> Option<Span> {
    literal_below(root, false)
}

/// The words in keys of secret values, in addition to [`SECRET_WORDS`].
const KEY_WORDS: &[&str] = &["accesskey", "privatekey", "passphrase", "bearer"];

fn literal_below(node: &Node, secret: bool) -> Option<Span> {
    match &node.kind {
        NodeKind::Null => None,
        NodeKind::Scalar { text, .. } => (secret && is_literal_secret(text)).then(|| node.at.clone()),
        NodeKind::List(items) => items.iter().find_map(|item| literal_below(item, secret)),
        NodeKind::Map(entries) => entries.iter().find_map(|entry| {
            let is_named = marks_secret(&entry.key);
            // Deeper values under such a key are settings, except for a list of secrets.
            let is_map = matches!(entry.value.kind, NodeKind::Map(_));
            literal_below(&entry.value, is_named && !is_map)
        }),
    }
}

/// Returns true if a key's name indicates that its value is a secret.
pub fn marks_secret(key: &str) -> bool {
    let plain = plain_key(key);
    SECRET_WORDS.iter().filter(|word| **word != "clientid").chain(KEY_WORDS).any(|word| plain.contains(word))
}

/// Returns true if the value of a key that marks a secret is the secret itself, and not a reference, a flag, a number or an address.
pub fn is_literal_secret(text: &str) -> bool {
    let bare = ["Bearer ", "Basic ", "Token "]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .unwrap_or(text)
        .trim();
    let is_setting = matches!(bare, "" | "true" | "false") || bare.parse::<f64>().is_ok();
    !is_setting && !bare.contains("${") && !bare.contains("://") && !bare.starts_with("$argon2")
}

fn walk(source: &Source<'_>, node: &Node, secret: bool, secrets: &mut Vec<Span>) {
    match &node.kind {
        NodeKind::Null => {}
        NodeKind::Scalar { .. } if secret => secrets.extend(literals(source, &node.at)),
        NodeKind::Scalar { text, .. } => secrets.extend(in_url(source, &node.at, text)),
        NodeKind::List(items) => {
            // An option such as `--api-key` may have its value in the next item.
            let mut is_named = false;
            for item in items {
                let option = match &item.kind {
                    NodeKind::Scalar { text, .. } if !secret => SecretOption::of(text),
                    _ => SecretOption::No,
                };
                let is_value = is_named
                    && !matches!(&item.kind, NodeKind::Scalar { text, .. } if text.starts_with("--"));
                match option {
                    SecretOption::WithValue(at) if !is_value => {
                        secrets.extend(behind(source, &item.at, at));
                    }
                    _ => walk(source, item, secret || is_value, secrets),
                }
                is_named = option == SecretOption::Alone;
            }
        }
        NodeKind::Map(entries) => {
            for entry in entries {
                walk(source, &entry.value, secret || is_secret_key(&entry.key), secrets);
            }
        }
    }
}

/// A list item, interpreted as a command-line option that may contain a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOption {
    /// The item does not name a secret.
    No,
    /// The option's name marks the next item as secret.
    Alone,
    /// The part after this position is secret: `--token=…`, `TOKEN=…`, `Authorization: …`.
    WithValue(usize),
}

impl SecretOption {
    /// Interprets a list item.
    pub fn of(text: &str) -> Self {
        let end = text.find(['=', ':']);
        let name = &text[..end.unwrap_or(text.len())];
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let plain = plain_key(name);
        let mut words = SECRET_WORDS.iter().chain(KEY_WORDS);
        if name.len() > LONGEST_OPTION
            || !name.chars().all(is_name)
            || !words.any(|word| plain.contains(word))
        {
            return Self::No;
        }
        match end {
            Some(end) => Self::WithValue(end + 1),
            None if name.starts_with('-') => Self::Alone,
            None => Self::No,
        }
    }
}

/// Returns the literal parts of a scalar after a position in its text. A scalar with escapes is secret as a whole.
fn behind(source: &Source<'_>, at: &Span, position: usize) -> Vec<Span> {
    let all = literals(source, at);
    let raw = source.slice(at);
    if has_escapes(raw) {
        return all;
    }
    let from = at.start + usize::from(raw.starts_with(['"', '\''])) + position;
    all.into_iter().map(|span| span.start.max(from)..span.end).filter(|span| !span.is_empty()).collect()
}

/// Returns true if a scalar is spelled with escapes or line breaks, so that positions in its text differ from
/// positions in the file.
fn has_escapes(raw: &str) -> bool {
    match raw.as_bytes().first() {
        Some(b'"') => raw.contains(['\\', '\n']),
        Some(b'\'') => raw.contains("''") || raw.contains('\n'),
        Some(b'|' | b'>') => true,
        _ => raw.contains('\n'),
    }
}

/// A key's letters and digits, in lower case.
fn plain_key(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).take(64).collect()
}

fn is_secret_key(key: &str) -> bool {
    let plain = plain_key(key);
    SECRET_BLOCKS.contains(&plain.as_str()) || SECRET_WORDS.iter().any(|word| plain.contains(word))
}

fn literals(source: &Source<'_>, at: &Span) -> Vec<Span> {
    let raw = source.slice(at);
    let unopened = raw.strip_prefix(['"', '\'']).unwrap_or(raw);
    let inside = unopened.strip_suffix(['"', '\'']).unwrap_or(unopened);
    let from = at.start + raw.len() - unopened.len();
    literal_ranges(inside).into_iter().map(|range| from + range.start..from + range.end).collect()
}

/// The user name, password and query of a URL. `text` is the scalar with its escapes resolved. If the scalar has
/// escapes, all of it is hidden.
fn in_url(source: &Source<'_>, at: &Span, text: &str) -> Vec<Span> {
    let raw = source.slice(at);
    if has_escapes(raw) && text.contains("://") && text.contains(['@', '?']) {
        return literals(source, at);
    }
    let Some(authority) = raw.find("://").map(|found| found + 3) else { return Vec::new() };
    let mut pieces = Vec::new();
    let end = raw[authority..].find(['/', '?', '#']).map_or(raw.len(), |found| authority + found);
    // A password may itself contain a character that ends an authority.
    let user_end = raw[authority..end].rfind('@').map(|found| authority + found);
    if let Some(user_end) = user_end.or_else(|| raw[authority..].find('@').map(|found| authority + found)) {
        pieces.push(authority..user_end);
    }
    if let Some(query) = raw.find('?') {
        let query_end = raw.len() - usize::from(raw.ends_with(['"', '\'']));
        pieces.push(query + 1..query_end.max(query + 1));
    }
    let literal = pieces.into_iter().flat_map(|piece| {
        let from = piece.start;
        literal_ranges(&raw[piece]).into_iter().map(move |range| from + range.start..from + range.end)
    });
    literal.map(|range| at.start + range.start..at.start + range.end).collect()
}

/// The spans of text that looks secret in a file that could not be parsed. Such text is found line by line: everything after a word
/// such as `token` on its line, and all lines that follow an `env` or `headers` key.
pub(crate) fn secrets_of_broken(text: &str) -> Vec<Span> {
    let mut secrets = Vec::new();
    let mut start = 0;
    let mut block: Option<usize> = None;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\r', '\n']);
        let indent = line.len() - line.trim_start().len();
        if block.is_some_and(|outer| indent <= outer && !line.trim().is_empty()) {
            block = None;
        }
        let lower = line.to_ascii_lowercase();
        let word =
            SECRET_WORDS.iter().chain(&["api_key", "api-key"]).filter_map(|word| lower.find(word)).min();
        let block_key = SECRET_BLOCKS.iter().filter_map(|key| key_end(&lower, key)).min();
        let hidden = [word, block_key, block.map(|_| indent)].into_iter().flatten().min();
        if let Some(from) = hidden.and_then(|from| Some(from + line[from..].find([':', '='])? + 1)) {
            let ranges = literal_ranges(&line[from..]).into_iter();
            secrets.extend(ranges.map(|range| start + from + range.start..start + from + range.end));
        }
        if block_key.is_some() {
            block = Some(indent);
        }
        start += whole.len();
    }
    secrets
}

/// The position at which the key `key` starts on a line, quoted or not.
fn key_end(line: &str, key: &str) -> Option<usize> {
    line.match_indices(key).map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
        before.is_none_or(|char| !char.is_ascii_alphanumeric()) && after.starts_with(':')
    })
}
