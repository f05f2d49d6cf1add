//! Fills in `${…}` in a text after the file has been parsed, so that a value can never change the structure.
//!
//! `${NAME}` and `${env:NAME}` stand for an environment variable, `${NAME:-text}` stands for `text` if the variable is unset or
//! empty, `${file:path}` stands for a file's content without its last line break, and `$${` stands for `${`. Inserted values are
//! not searched again. In the settings for starting or reaching a server, `$NAME` in capitals is rejected, since other programs
//! would expand it, and `$$NAME` stands for `$NAME`. The caller provides variables and files.

use crate::values::text::Text;

/// The maximum length of a filled-in text, in bytes.
pub const MAX_FILLED_BYTES: usize = 1 << 20;

/// The sources from which `${…}` is filled in.
pub struct Lookup<'a> {
    /// The value of an environment variable, if it is set.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The content of a file, or the reason why it is not available.
    pub file: &'a dyn Fn(&str) -> Result<String, String>,
}

impl std::fmt::Debug for Lookup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// The reason why one `${…}` could not be filled in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The expression as written, so that it can be found in the file.
    pub(crate) written: String,
    pub(crate) message: String,
    pub(crate) help: String,
    /// True if only a value is missing, and the expression itself is valid.
    pub(crate) unset: bool,
}

/// A piece of a text before values are filled in.
enum Piece<'t> {
    Literal(&'t str),
    /// The escape `$${`, which stands for `${`.
    Escape,
    /// The text inside `${…}`.
    Expression(&'t str),
    /// A `${` without its closing brace, and the text after it.
    Unclosed(&'t str),
}

/// Fills in `text`. With `secret`, the literal parts are hidden from people as well.
///
/// # Errors
/// Returns all expressions that cannot be filled in.
pub(crate) fn fill(text: &str, lookup: &Lookup<'_>, secret: bool) -> Result<Text, Vec<Gap>> {
    let (mut value, mut shown) = (String::new(), String::new());
    let (mut pieces_filled, mut gaps) = (Vec::new(), Vec::new());
    for piece in pieces(text) {
        match piece {
            Piece::Literal(literal) => {
                value.push_str(literal);
                shown.push_str(if secret { "***" } else { literal });
            }
            Piece::Escape => {
                value.push_str("${");
                shown.push_str(if secret { "***" } else { "$${" });
            }
            Piece::Unclosed(rest) => gaps.push(unclosed(rest)),
            Piece::Expression(inside) => match expression(inside, lookup) {
                Ok(filled) => {
                    value.push_str(&filled);
                    shown.push_str(&shown_expression(inside));
                    pieces_filled.push(filled);
                }
                Err(gap) => gaps.push(gap),
            },
        }
        if value.len() > MAX_FILLED_BYTES {
            gaps.push(too_long(text));
            break;
        }
    }
    if gaps.is_empty() { Ok(Text::hidden(&value, &shown).filled_with(pieces_filled)) } else { Err(gaps) }
}

/// Fills in a text from the settings of a server, where other clients expand `$NAME`. Such a name in capitals is
/// reported as a gap, so the characters are never sent instead of a value. `$$NAME` stands for the literal characters.
/// A dollar sign in any other position stands for itself.
///
/// # Errors
/// Returns all expressions that cannot be filled in.
pub(crate) fn fill_server(text: &str, lookup: &Lookup<'_>, secret: bool) -> Result<Text, Vec<Gap>> {
    let mut gaps = Vec::new();
    let mut doubled = Vec::new();
    let mut at = 0;
    for piece in pieces(text) {
        let length = length(&piece);
        if let Piece::Literal(literal) = piece {
            for (dollar, name) in variables(literal) {
                if literal[..dollar].ends_with('$') {
                    doubled.push(at + dollar);
                } else {
                    gaps.push(bare(&literal[..dollar], name, secret));
                }
            }
        }
        at += length;
    }
    if !gaps.is_empty() {
        return Err(gaps);
    }
    if doubled.is_empty() {
        return fill(text, lookup, secret);
    }
    let mut single = String::with_capacity(text.len());
    let mut from = 0;
    for dollar in doubled {
        single.push_str(&text[from..dollar]);
        from = dollar + 1;
    }
    single.push_str(&text[from..]);
    let filled = fill(&single, lookup, secret)?;
    // The text is shown as it was written.
    let shown =
        if secret { filled.shown().to_owned() } else { fill(text, lookup, secret)?.shown().to_owned() };
    Ok(filled.shown_as(&shown))
}

/// Every `$NAME` in capitals in a literal text: the position of its dollar sign, and the name.
fn variables(literal: &str) -> impl Iterator<Item = (usize, &str)> {
    literal.match_indices('$').filter_map(|(dollar, _)| {
        let rest = &literal[dollar + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_name = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase());
        (is_name && name.chars().all(capital)).then_some((dollar, name))
    })
}

/// The gap for a `$NAME` that would be sent literally. In the middle of a secret, the name may be part of the
/// secret, so it is not quoted.
fn bare(before: &str, name: &str, secret: bool) -> Gap {
    let is_alone = before.chars().next_back().is_none_or(|c| matches!(c, ' ' | '=' | ':' | '/' | ','));
    let (written, name) = if secret && !is_alone {
        (String::new(), "NAME".to_owned())
    } else {
        (format!("${name}"), name.to_owned())
    };
    Gap {
        written,
        message: format!("`${name}` is not substituted here"),
        help: format!(
            "write ${{{name}}} for the variable, or $${name} for the characters `${name}` themselves"
        ),
        unset: false,
    }
}

fn length(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Literal(text) | Piece::Unclosed(text) => text.len(),
        Piece::Escape => 3,
        Piece::Expression(inside) => inside.len() + 3,
    }
}

/// The byte ranges of `raw` (the spelling in the file) that are literal text: everything outside `${…}`, and the text
/// after `:-`.
pub(crate) fn literal_ranges(raw: &str) -> Vec<std::ops::Range<usize>> {
    let mut at = 0;
    let mut ranges = Vec::new();
    for piece in pieces(raw) {
        let length = match piece {
            Piece::Literal(text) | Piece::Unclosed(text) => {
                ranges.push(at..at + text.len());
                text.len()
            }
            Piece::Escape => 3,
            Piece::Expression(inside) => {
                if let Some(default) = inside.find(":-") {
                    ranges.push(at + 2 + default + 2..at + 2 + inside.len());
                }
                inside.len() + 3
            }
        };
        at += length;
    }
    ranges
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(after) = rest.strip_prefix("$${") {
            rest = after;
            return Some(Piece::Escape);
        }
        if let Some(inside) = rest.strip_prefix("${") {
            let Some(end) = inside.find('}') else { return Some(Piece::Unclosed(std::mem::take(&mut rest))) };
            rest = &inside[end + 1..];
            return Some(Piece::Expression(&inside[..end]));
        }
        let next = match rest.find("${") {
            None => rest.len(),
            Some(found) if rest[..found].ends_with('$') => found - 1,
            Some(found) => found,
        };
        let (literal, after) = rest.split_at(next);
        rest = after;
        Some(Piece::Literal(literal))
    })
}

fn expression(inside: &str, lookup: &Lookup<'_>) -> Result<String, Gap> {
    if let Some(path) = inside.strip_prefix("file:") {
        return file(inside, path, lookup);
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    if !is_variable_name(name) || default.is_some_and(|text| text.contains("${")) {
        return Err(not_understood(inside));
    }
    match ((lookup.env)(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(unset(inside, name)),
    }
}

fn file(inside: &str, path: &str, lookup: &Lookup<'_>) -> Result<String, Gap> {
    let gap = |message: String, help: String, unset| Gap {
        written: format!("${{{inside}}}"),
        message,
        help,
        unset,
    };
    if path.is_empty() {
        let help = "write the path: ${file:/run/secrets/token}".to_owned();
        return Err(gap("`${file:}` does not name a file".to_owned(), help, false));
    }
    let mut content = (lookup.file)(path).map_err(|reason| {
        let help = format!("create `{path}`, make it readable for Dragoman, or correct the path");
        gap(format!("the file `{path}` cannot be read: {reason}"), help, true)
    })?;
    if content.ends_with('\n') {
        content.pop();
        if content.ends_with('\r') {
            content.pop();
        }
    }
    Ok(content)
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An expression as people may see it: without the text after `:-`, which may be a password.
fn shown_expression(inside: &str) -> String {
    match inside.split_once(":-") {
        Some((name, _)) => format!("${{{name}:-…}}"),
        None => format!("${{{inside}}}"),
    }
}

fn unset(inside: &str, name: &str) -> Gap {
    let help = match name {
        "workspaceFolder" | "workspaceFolderBasename" | "cwd" => {
            "only an editor knows its workspace: write the path itself, or set a variable and use that"
                .to_owned()
        }
        "userHome" => "write ${HOME}".to_owned(),
        "pathSeparator" => "write `/` or `\\` itself".to_owned(),
        _ => format!("set {name} before Dragoman starts, or give a value: ${{{name}:-value}}"),
    };
    let message = format!("the environment variable `{name}` is not set");
    Gap { written: format!("${{{inside}}}"), message, help, unset: true }
}

fn not_understood(inside: &str) -> Gap {
    let shown = shown_expression(inside);
    let help = match inside.strip_prefix("input:") {
        Some(id) => {
            let name: String = id
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                .collect();
            format!(
                "Dragoman cannot ask for `{id}` as an editor does: write ${{{name}}} and set that variable"
            )
        }
        None => {
            "write ${NAME}, ${NAME:-value} or ${file:path}, not nested; write $${ for `${` itself".to_owned()
        }
    };
    Gap {
        written: format!("${{{inside}}}"),
        message: format!("`{shown}` is not a valid reference"),
        help,
        unset: false,
    }
}

fn unclosed(rest: &str) -> Gap {
    let help = "add the `}`, or write $${ for the characters `${` themselves".to_owned();
    let written = rest.to_owned();
    Gap { written, message: "`${` has no `}`".to_owned(), help, unset: false }
}

fn too_long(text: &str) -> Gap {
    let message = "the text is larger than 1 MiB after substitution".to_owned();
    let help = "use a smaller file or variable".to_owned();
    Gap { written: text.to_owned(), message, help, unset: false }
}

#[cfg(test)]
mod tests;
