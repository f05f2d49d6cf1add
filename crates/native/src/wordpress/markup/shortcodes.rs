//! Shortcodes in a text, by name: `[gallery ids="1,2"]`, `[caption]…[/caption]`. This module must not know which shortcodes exist:
//! only the site knows them, and it shows unknown shortcodes unchanged.

use std::collections::BTreeMap;

use memchr::memchr;

/// The number of shortcodes by name. `[[name]]` is an escaped shortcode and is not counted.
pub(super) fn shortcodes(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for (name, _) in each(text) {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// The shortcodes in their order: each with its name, and true if it has attributes with names.
pub(super) fn each(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr(b'[', &text.as_bytes()[at..]) {
        let start = at + next;
        at = start + 1;
        let is_escaped = text[at..].starts_with('[') || text[..start].ends_with('[');
        if is_escaped {
            continue;
        }
        if let Some(name) = name(&text[at..]) {
            let rest = text[at..].get(name.len()..).unwrap_or_default();
            found.push((name, rest.split(']').next().is_some_and(|attributes| attributes.contains('='))));
        }
    }
    found
}

/// The name after an opening bracket, if a closing bracket follows.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    let (name, rest) = text.split_at(end);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ']' | '/'));
    let closes = rest.find([']', '[', '<']).is_some_and(|end| rest[end..].starts_with(']'))
        // Attributes may contain markup in quotes.
        || rest.contains(']');
    (is_name && goes_on && closes).then_some(name)
}
