//! URI templates: a template covers exactly the URIs that a simple matcher accepts, it covers its own expansions, and
//! its pattern matches every URI that it covers.

use std::collections::HashSet;

use engine::catalogue::template::{covers, pattern};

/// The fuzzer's entry: lines with a template, a URI, and values.
pub fn fuzz(input: &[u8]) {
    let mut rest = input;
    let (template, uri) = (super::text(&mut rest), super::text(&mut rest));
    check(&template, &uri);
    let values = String::from_utf8_lossy(rest);
    expanded(&template, &values.lines().collect::<Vec<_>>());
}

/// Checks any template and URI. The simple matcher tries all possibilities, so both should be short.
pub fn check(template: &str, uri: &str) {
    let covered = covers(template, uri);
    assert_eq!(covered, naive(template, uri), "{template:?} {uri:?}");
    if covered && let Some(pattern) = pattern(template) {
        assert!(pattern.matches(uri), "{pattern:?} does not match {uri:?}");
    }
}

/// Checks that a template covers the URI that results from a value for each of its expressions.
pub fn expanded(template: &str, values: &[&str]) {
    let Some(parts) = parts(template) else { return };
    if parts.iter().filter(|part| matches!(part, Part::Expression { .. })).count() > 8 {
        return;
    }
    let mut values = values.iter().copied().chain(std::iter::repeat("v"));
    let mut uri = String::new();
    for part in &parts {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression { is_wide: true } => uri.push_str(values.next().unwrap_or_default()),
            Part::Expression { is_wide: false } => {
                let value = values.next().unwrap_or_default().replace('/', "%2F");
                uri.push_str(if value.is_empty() { "v" } else { &value });
            }
        }
    }
    if uri.len() <= 8192 {
        assert!(covers(template, &uri), "{template:?} expands to {uri:?}");
        assert!(pattern(template).is_none_or(|pattern| pattern.matches(&uri)), "{template:?} {uri:?}");
    }
}

enum Part {
    Literal(String),
    Expression { is_wide: bool },
}

/// Returns the parts of a template, read character by character; `None` if an expression has no end.
fn parts(template: &str) -> Option<Vec<Part>> {
    let (mut parts, mut literal, mut expression) = (Vec::new(), String::new(), None::<String>);
    for c in template.chars() {
        match (c, &mut expression) {
            ('{', None) => {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
                expression = Some(String::new());
            }
            ('{', Some(_)) => return None,
            ('}', Some(inside)) => {
                parts.push(Part::Expression { is_wide: inside.starts_with(|c| "+#/?&;.".contains(c)) });
                expression = None;
            }
            (c, Some(inside)) => inside.push(c),
            (c, None) => literal.push(c),
        }
    }
    parts.push(Part::Literal(literal));
    expression.is_none().then_some(parts)
}

fn naive(template: &str, uri: &str) -> bool {
    let Some(parts) = parts(template) else { return false };
    if template.matches('{').count() > 8 || uri.len() > 8192 {
        return false;
    }
    // All possible remainders of the URI.
    let mut left = HashSet::from([uri]);
    for part in &parts {
        left = match part {
            Part::Literal(text) => left.iter().filter_map(|rest| rest.strip_prefix(text.as_str())).collect(),
            Part::Expression { is_wide } => left.iter().flat_map(|rest| after(rest, *is_wide)).collect(),
        };
    }
    left.contains("")
}

fn after(rest: &str, is_wide: bool) -> Vec<&str> {
    let mut found = if is_wide { vec![rest] } else { Vec::new() };
    for (at, c) in rest.char_indices() {
        if c == '/' && !is_wide {
            break;
        }
        found.push(&rest[at + c.len_utf8()..]);
    }
    found
}
