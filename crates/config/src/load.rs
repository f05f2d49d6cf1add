//! Turns the text of a configuration file into the model, or into all of its faults.

use indexmap::IndexMap;

use super::document;
use super::fault::{Fault, Faults};
use super::mask;
use super::model::Config;
use super::names::Offers;
use super::parse::{self, Broken, MAX_FILE_BYTES};
use super::read::{Findings, Reader};
use super::source::Source;
use super::substitute::Lookup;

/// A valid configuration, with its notes.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration, complete and checked.
    pub config: Config,
    /// The notes, in file order.
    pub notes: Vec<Fault>,
    /// The line of the first literal secret in the text, if there is one.
    pub literal_secret: Option<usize>,
}

/// Reads a configuration. `file` is the file's name in messages; values of `${…}` come from `lookup`.
///
/// An empty text is a configuration without servers.
///
/// # Errors
/// Returns all faults at once, in file order; only a syntax error is reported alone.
pub fn load(text: &str, file: &str, lookup: &Lookup<'_>) -> Result<Loaded, Faults> {
    load_knowing(None, text, file, lookup, &|_| None)
}

/// Reads a configuration that extends another one, such as a preset: missing keys keep their values from `base`.
///
/// Mappings are merged key by key (servers, profiles and their keys, `auth`, `limits`, `dialects`, `audit`). A server with another
/// command or address replaces the one of the base. Endpoints are merged by their paths, and other lists are replaced. A default
/// profile that contains all servers of the base also gets the new ones.
///
/// # Errors
/// The same as for [`load`]; positions refer to `text`.
pub fn load_over(base: Config, text: &str, file: &str, lookup: &Lookup<'_>) -> Result<Loaded, Faults> {
    load_knowing(Some(base), text, file, lookup, &|_| None)
}

/// Reads a configuration, which extends `base` if given. Adds notes on names of tools and prompts that embedded servers do
/// not have; `offers` returns the names that an embedded server has.
///
/// # Errors
/// The same as for [`load`].
pub fn load_knowing(
    base: Option<Config>,
    text: &str,
    file: &str,
    lookup: &Lookup<'_>,
    offers: &Offers<'_>,
) -> Result<Loaded, Faults> {
    // The default profile keeps its position in the file, or comes last.
    let base = base.unwrap_or_else(|| Config { profiles: IndexMap::new(), ..Config::default() });
    if text.len() > MAX_FILE_BYTES {
        let help =
            "split the servers among several Dragoman processes, or move long strings to files: ${file:path}";
        let broken =
            Broken { at: 0..0, message: "the file is larger than 4 MiB".to_owned(), help: help.to_owned() };
        return Err(refused(&Source::new(""), file, lookup, broken));
    }
    let blanked = without_comments(text);
    let mut source = Source::new(text);
    let root = match parse::parse(&blanked) {
        Ok(root) => root,
        Err(broken) => {
            source.hide(mask::secrets_of_broken(text));
            return Err(refused(&source, file, lookup, broken));
        }
    };
    if let Some(root) = &root {
        source.hide(mask::secrets_of(&source, root));
    }
    let mut reader = Reader::new(&source, file, lookup);
    let config = match &root {
        Some(root) => document::read(&mut reader, root, base, offers),
        None => document::nothing(&mut reader, base),
    };
    let findings = reader.finish();
    if !findings.faults.is_empty() {
        return Err(all(findings));
    }
    let literal = root.as_ref().and_then(|root| mask::first_literal(root));
    let literal_secret = literal.map(|at| 1 + text[..at.start].matches('\n').count());
    Ok(Loaded { config, notes: findings.notes, literal_secret })
}

fn all(findings: Findings) -> Faults {
    Faults { faults: findings.faults, notes: findings.notes, total: findings.total_faults }
}

fn refused(source: &Source<'_>, file: &str, lookup: &Lookup<'_>, broken: Broken) -> Faults {
    let mut reader = Reader::new(source, file, lookup);
    reader.fault(&broken.at, broken.message, broken.help);
    all(reader.finish())
}

/// Replaces the comments `//` and `/* */`, which editors allow in their JSON, with blanks, so that every position in
/// the file stays the same. Only a text that begins like JSON is changed, since `//` has no meaning in YAML.
pub(super) fn without_comments(text: &str) -> std::borrow::Cow<'_, str> {
    if !starts_as_json(text) || !(text.contains("//") || text.contains("/*")) {
        return text.into();
    }
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        let end = match (in_text, bytes[at], bytes.get(at + 1)) {
            (true, b'\\', _) => at + 2,
            (_, b'"', _) => {
                in_text = !in_text;
                at + 1
            }
            (false, b'/', Some(b'/')) => {
                at + text.as_bytes()[at..].iter().position(|b| *b == b'\n').unwrap_or(text.len() - at)
            }
            (false, b'/', Some(b'*')) => {
                text[at + 2..].find("*/").map_or(text.len(), |found| at + 2 + found + 2)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if !in_text && bytes[at] == b'/' {
            bytes[at..end]
                .iter_mut()
                .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
        }
        at = end;
    }
    String::from_utf8(bytes).map_or(text.into(), Into::into)
}

/// Returns true for `{` followed by a quoted key or by the end, with comments and white space anywhere in between.
pub(super) fn starts_as_json(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut open = false;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else if let Some(inside) = rest.strip_prefix('{').filter(|_| !open) {
            (rest, open) = (inside, true);
        } else {
            return open && rest.starts_with(['"', '}']);
        }
    }
}
