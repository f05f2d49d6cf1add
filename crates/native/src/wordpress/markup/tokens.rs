//! Words and attribute values of HTML, for comparing two texts. This module must not know blocks.

use std::collections::{HashMap, HashSet};

use crate::html::{as_text, tags_and_attributes};

/// The words of HTML in lower case: letters and digits outside of tags, with character references decoded.
pub(super) fn words(html: &str) -> Vec<String> {
    let text = as_text(html).to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The words of several pieces.
pub(super) fn words_of(pieces: &[&str]) -> Vec<String> {
    pieces.iter().flat_map(|piece| words(piece)).collect()
}

/// The names of tags and, separately, each word of their attributes' values.
pub(super) fn tags_and_values(html: &str) -> (HashSet<String>, HashSet<String>) {
    let (mut tags, mut values) = (HashSet::new(), HashSet::new());
    tags_and_attributes(html, |tag, value| match value {
        None => drop(tags.insert(tag.to_ascii_lowercase())),
        Some(value) => values.extend(value.split_whitespace().map(str::to_owned)),
    });
    (tags, values)
}

/// The words that occur more often in `all` than in `before`, each with the difference.
pub(super) fn excess(all: &[String], before: &[String]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in all {
        *counts.entry(word.clone()).or_default() += 1;
    }
    for word in before {
        if let Some(count) = counts.get_mut(word) {
            *count = count.saturating_sub(1);
        }
    }
    counts.retain(|_, count| *count > 0);
    counts
}

/// The number of `words` that are in `counts`. A repeated word is counted at most as often as `counts` contains it.
pub(super) fn common(words: &[String], counts: &HashMap<String, usize>) -> usize {
    let mut used: HashMap<&str, usize> = HashMap::new();
    let mut found = 0;
    for word in words {
        let used = used.entry(word).or_default();
        *used += 1;
        found += usize::from(counts.get(word).is_some_and(|count| *used <= *count));
    }
    found
}
