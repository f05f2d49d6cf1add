//! Turns the text of a configuration file into the model, or into all of its faults.

use indexmap::IndexMap;

use super::model::Config;
use super::names::Offers;
use super::top_level;
use crate::reading::reader::{Findings, Reader};
use crate::syntax::fault::{Fault, Faults};
use crate::syntax::json_comments::without_comments;
use crate::syntax::mask;
use crate::syntax::parse::{self, MAX_FILE_BYTES, SyntaxFault};
use crate::syntax::source::Source;
use crate::syntax::substitute::Lookup;

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
/// Fails in the same cases as [`load`]; positions refer to `text`.
pub fn load_over(base: Config, text: &str, file: &str, lookup: &Lookup<'_>) -> Result<Loaded, Faults> {
    load_knowing(Some(base), text, file, lookup, &|_| None)
}

/// Reads a configuration that extends `base`, if there is one. Adds notes on names of tools and prompts that
/// embedded servers do not have; `offers` returns the names that an embedded server has.
///
/// # Errors
/// Fails in the same cases as [`load`].
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
        let broken = SyntaxFault {
            at: 0..0,
            message: "the file is larger than 4 MiB".to_owned(),
            help: help.to_owned(),
        };
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
        Some(root) => top_level::read(&mut reader, root, base, offers),
        None => top_level::nothing(&mut reader, base),
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

fn refused(source: &Source<'_>, file: &str, lookup: &Lookup<'_>, broken: SyntaxFault) -> Faults {
    let mut reader = Reader::new(source, file, lookup);
    reader.fault(&broken.at, broken.message, broken.help);
    all(reader.finish())
}
