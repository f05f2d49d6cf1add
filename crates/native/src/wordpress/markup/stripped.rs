//! Finds blocks and shortcodes that the next text keeps without any of their attributes. Changing or removing single
//! attributes is an edit. This module must not know the origin of the texts.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::blocks::Content;
use super::shortcodes::{each, shortcodes};
use super::tokens::words_of;

/// The numbers of equal blocks or shortcodes with attributes and without.
#[derive(Default)]
struct Numbers {
    with: usize,
    without: usize,
}

/// The blocks and shortcodes that lose all of their attributes. Blocks are equal if they have the same name and the same words;
/// shortcodes, if they have the same name. `rendered` is the site's rendering of the old text; a text in brackets that it shows is
/// not a shortcode.
pub(super) fn stripped(
    (source, old): (&str, &Content<'_>),
    (new, next): (&str, &Content<'_>),
    rendered: Option<&str>,
) -> Vec<String> {
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, count) in stripped_blocks(old, next) {
        *lost.entry(name).or_default() += count;
    }
    let described = |(name, count)| match count {
        1 => format!("a {name} block"),
        count => format!("{count} {name} blocks"),
    };
    let mut all: Vec<String> = lost.into_iter().map(described).collect();
    let shown = rendered.map(shortcodes).unwrap_or_default();
    let codes = fewer(numbers(each(source)), &numbers(each(new)));
    let mut codes: Vec<&str> =
        codes.into_iter().map(|(name, _)| name).filter(|name| !shown.contains_key(name)).collect();
    codes.sort_unstable();
    all.extend(codes.into_iter().map(|name| format!("[{name}]")));
    all
}

fn stripped_blocks<'t>(old: &Content<'t>, next: &Content<'t>) -> Vec<(&'t str, usize)> {
    // Most changes leave all attributes in place, and then no words are compared.
    let names = |content: &Content<'t>| {
        numbers(content.blocks.iter().map(|block| ((block.name, block.is_void), block.has_attributes)))
    };
    let suspects: Vec<(&str, bool)> =
        fewer(names(old), &names(next)).into_iter().map(|(name, _)| name).collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let keyed = |content: &Content<'t>| {
        let blocks = content.blocks.iter().filter(|block| suspects.contains(&(block.name, block.is_void)));
        numbers(blocks.map(|block| ((block.name, words_of(&block.own)), block.has_attributes)))
    };
    fewer(keyed(old), &keyed(next)).into_iter().map(|((name, _), count)| (name, count)).collect()
}

fn numbers<K: Eq + Hash>(all: impl IntoIterator<Item = (K, bool)>) -> HashMap<K, Numbers> {
    let mut found: HashMap<K, Numbers> = HashMap::new();
    for (key, has_attributes) in all {
        let numbers = found.entry(key).or_default();
        *(if has_attributes { &mut numbers.with } else { &mut numbers.without }) += 1;
    }
    found
}

/// The keys of which fewer have attributes than before, while more have none, each with the number of those.
fn fewer<K: Eq + Hash>(before: HashMap<K, Numbers>, now: &HashMap<K, Numbers>) -> Vec<(K, usize)> {
    let left = |(key, before): (K, Numbers)| {
        let now = now.get(&key)?;
        let count = before.with.saturating_sub(now.with).min(now.without.saturating_sub(before.without));
        (count > 0).then_some((key, count))
    };
    before.into_iter().filter_map(left).collect()
}
