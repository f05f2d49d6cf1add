//! Finds the comments of a text, in YAML and in JSON. An edit that loses a comment can then be refused. This module
//! must not know what is edited.

use std::ops::Range;

use crate::syntax::json_comments::without_comments;
use crate::syntax::parse::{Node, NodeKind, parse};

/// Returns true if the new text has all comments of the old one, in the same order, except for those in `own`.
pub(super) fn are_kept(old: &str, own: &Range<usize>, new: &str) -> bool {
    let (Some(old), Some(new)) = (all(old, own), all(new, &(0..0))) else { return false };
    let mut left = new.iter();
    old.iter().all(|comment| left.any(|other| other == comment))
}

/// Returns the comments outside of a range, line by line; `None` if the text is not valid.
fn all(text: &str, without: &Range<usize>) -> Option<Vec<String>> {
    let plain = without_comments(text);
    let root = parse(&plain).ok()?;
    let mut texts = Vec::new();
    if let Some(root) = &root {
        quoted(&plain, root, &mut texts);
    }
    texts.sort_by_key(|at| at.start);
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        // The comments of JSON are blank in the other text, which has the same positions.
        let pairs = text.as_bytes()[start..end].iter().zip(&plain.as_bytes()[start..end]).enumerate();
        let is_kept = |at: usize| !without.contains(&(start + at));
        let slashed: Vec<u8> = pairs
            .filter(|(at, (own, other))| own != other && is_kept(*at))
            .map(|(_, (own, _))| *own)
            .collect();
        if !slashed.is_empty() {
            found.push(String::from_utf8_lossy(&slashed).into_owned());
        }
        let hash = hash_in(&plain[start..end], start, &texts).filter(|at| is_kept(at - start));
        if let Some(at) = hash {
            found.push(text[at..end].trim_end().to_owned());
        }
        start = end;
    }
    Some(found)
}

/// Returns the position of the `#` that begins a comment in a line of YAML.
fn hash_in(line: &str, start: usize, texts: &[Range<usize>]) -> Option<usize> {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let is_text = |at: usize| {
        let before = texts.partition_point(|text| text.start <= at);
        before.checked_sub(1).and_then(|last| texts.get(last)).is_some_and(|text| text.end > at)
    };
    let hashes = line.match_indices('#').map(|(at, _)| at);
    hashes.filter(|at| begins(*at)).map(|at| start + at).find(|at| !is_text(*at))
}

/// Collects the ranges of all quoted texts, because `#` has no meaning inside them.
fn quoted(text: &str, node: &Node, found: &mut Vec<Range<usize>>) {
    let is_quoted = |at: &Range<usize>| text.get(at.clone()).is_some_and(|raw| raw.starts_with(['"', '\'']));
    match &node.kind {
        NodeKind::Scalar { .. } if is_quoted(&node.at) => found.push(node.at.clone()),
        NodeKind::Null | NodeKind::Scalar { .. } => {}
        NodeKind::List(items) => items.iter().for_each(|item| quoted(text, item, found)),
        NodeKind::Map(entries) => {
            for entry in entries {
                if is_quoted(&entry.key_at) {
                    found.push(entry.key_at.clone());
                }
                quoted(text, &entry.value, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_texts() {
        let yaml = "# one\na: { b: \"p #q\", c: 'x' } # two\nd: e#f\nlong: |\n  text\n# three\n";
        assert_eq!(all(yaml, &(0..0)).unwrap(), ["# one", "# two", "# three"]);
        let json = "{ // one\n  \"a\": \"http://h/ /* no */ #x\", /* two */ \"b\": 1\n}\n";
        assert_eq!(all(json, &(0..0)).unwrap(), ["//one", "/*two*/"]);
        let own = yaml.find("# two").unwrap();
        assert_eq!(all(yaml, &(own..own + 5)).unwrap(), ["# one", "# three"]);
        assert_eq!(all("a: [", &(0..0)), None);
    }

    #[test]
    fn a_lost_or_moved_comment_is_seen() {
        let old = "# one\na: 1 # two\n# three\nb: 2\n";
        assert!(are_kept(old, &(0..0), "# one\na: 1 # two\nc: 1 # new\n# three\nb: 2\n"));
        assert!(!are_kept(old, &(0..0), "# one\na: 1\n# three\nb: 2\n"));
        assert!(!are_kept(old, &(0..0), "# three\na: 1 # two\n# one\nb: 2\n"));
        let line = old.find("a:").unwrap();
        assert!(are_kept(old, &(line..line + 11), "# one\n# three\nb: 2\n"));
    }
}
