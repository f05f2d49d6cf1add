//! Which pieces of a configuration file are secrets, so that no report ever quotes them.

use super::parse::{Kind, Node};
use super::source::{Source, Span};
use super::substitute::literal_ranges;

/// Keys whose values are secret as a whole, whatever stands below them.
const SECRET_BLOCKS: &[&str] = &["bearer", "env", "headers", "users"];
/// Parts of a key that say that its value is secret.
const SECRET_WORDS: &[&str] =
    &["authorization", "token", "secret", "password", "passwd", "apikey", "cookie", "credential", "clientid"];

/// The literal text of everything that looks secret. `${NAME}` stays visible: it is only a name.
pub(super) fn secrets_of(source: &Source<'_>, root: &Node) -> Vec<Span> {
    let mut secrets = Vec::new();
    walk(source, root, false, &mut secrets);
    secrets
}

fn walk(source: &Source<'_>, node: &Node, secret: bool, secrets: &mut Vec<Span>) {
    match &node.kind {
        Kind::Null => {}
        Kind::Scalar { .. } if secret => secrets.extend(literals(source, &node.at)),
        Kind::Scalar { .. } => secrets.extend(in_url(source, &node.at)),
        Kind::List(items) => items.iter().for_each(|item| walk(source, item, secret, secrets)),
        Kind::Map(entries) => {
            for entry in entries {
                walk(source, &entry.value, secret || is_secret_key(&entry.key), secrets);
            }
        }
    }
}

fn is_secret_key(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_lowercase())
        .take(64)
        .collect();
    SECRET_BLOCKS.contains(&plain.as_str()) || SECRET_WORDS.iter().any(|word| plain.contains(word))
}

fn literals(source: &Source<'_>, at: &Span) -> Vec<Span> {
    let raw = source.slice(at);
    let unopened = raw.strip_prefix(['"', '\'']).unwrap_or(raw);
    let inside = unopened.strip_suffix(['"', '\'']).unwrap_or(unopened);
    let from = at.start + raw.len() - unopened.len();
    literal_ranges(inside).into_iter().map(|range| from + range.start..from + range.end).collect()
}

/// User name, password and query of a URL.
fn in_url(source: &Source<'_>, at: &Span) -> Vec<Span> {
    let raw = source.slice(at);
    let Some(authority) = raw.find("://").map(|found| found + 3) else { return Vec::new() };
    let mut pieces = Vec::new();
    let end = raw[authority..].find(['/', '?', '#']).map_or(raw.len(), |found| authority + found);
    // A password may itself hold one of the characters that end an authority.
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

/// The same for a file that could not be parsed, by the looks of its lines: what follows a word such as `token` on the
/// line, and everything on a line that follows an `env` or `headers` key.
pub(super) fn secrets_of_broken(text: &str) -> Vec<Span> {
    let mut secrets = Vec::new();
    let mut start = 0;
    let mut block: Option<usize> = None;
    for line in text.split_inclusive('\n') {
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
        start += line.len();
    }
    secrets
}

/// Where the key `key` starts on a line, quoted or not.
fn key_end(line: &str, key: &str) -> Option<usize> {
    line.match_indices(key).map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
        before.is_none_or(|char| !char.is_ascii_alphanumeric()) && after.starts_with(':')
    })
}
