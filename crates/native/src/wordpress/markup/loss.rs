//! Finds the blocks, shortcodes and embedded pages of one text that the next text turns into plain HTML. Deleting a block together with
//! its text is not a loss, and neither is converting it to another block. This module must not know the origin of the
//! texts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use super::blocks::{Block, Content, parse};
use super::shortcodes::shortcodes;
use super::stripped::stripped;
use super::tokens::{common, excess, tags_and_values, words, words_of};

/// A text is treated as a copy of another text if it contains at least this fraction of the other text's words.
const KEPT: (usize, usize) = (3, 5);
/// A text is treated as derived from a rendering if it contains at least this fraction of the content that only the
/// rendering has.
const TAKEN: (usize, usize) = (3, 10);
/// A text with fewer words than this must appear word for word, or a tag, class or URL of its block must appear,
/// because single words can occur anywhere.
const FEW: usize = 4;
/// Tags that reveal nothing about the block that contained them.
const COMMON_TAGS: [&str; 8] = ["p", "div", "span", "a", "br", "em", "strong", "code"];

/// Markup that a change would lose: the names of blocks whose text remains without their comments, and of dynamic
/// blocks and shortcodes that are replaced by their rendering.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::wordpress) struct MarkupLoss {
    /// The number of lost blocks by name.
    pub(super) blocks: BTreeMap<String, usize>,
    /// The dynamic blocks and shortcodes, in their original spelling, and the addresses of embedded pages.
    pub(super) rendered: Vec<String>,
    /// The blocks and shortcodes that remain without any of their attributes.
    pub(super) stripped: Vec<String>,
}

impl fmt::Display for MarkupLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self
            .blocks
            .iter()
            .map(|(name, count)| match count {
                1 => format!("a {name} block"),
                count => format!("{count} {name} blocks"),
            })
            .collect();
        parts.extend(self.rendered.iter().cloned());
        parts.extend(self.stripped.iter().map(|name| format!("the attributes of {name}")));
        f.write_str(&parts.join(", "))
    }
}

/// The markup of `source` that `new` would lose; `None` if `new` loses none. `rendered` is the site's rendering of `source`, if
/// it is known: without it, a rendering cannot be distinguished from new text.
pub(in crate::wordpress) fn markup_loss(
    source: &str,
    rendered: Option<&str>,
    new: &str,
) -> Option<MarkupLoss> {
    let (old, next) = (parse(source), parse(new));
    let mut loss = MarkupLoss {
        blocks: bare_blocks(&old, &next),
        rendered: Vec::new(),
        stripped: stripped((source, &old), (new, &next), rendered),
    };
    if let Some(rendered) = rendered {
        let missing = missing_dynamics(source, rendered, new, (&old, &next));
        if !missing.is_empty() && takes_rendering(source, rendered, new) {
            loss.rendered = missing;
        }
    }
    (loss != MarkupLoss::default()).then_some(loss)
}

/// Counts, by name, the blocks for which `counts` returns true.
fn by_name<'t>(content: &Content<'t>, counts: impl Fn(&Block<'t>) -> bool) -> BTreeMap<&'t str, usize> {
    let mut names = BTreeMap::new();
    for block in content.blocks.iter().filter(|block| counts(block)) {
        *names.entry(block.name).or_default() += 1;
    }
    names
}

/// The names that occur less often than before, each with the difference.
fn fewer<'t>(before: &BTreeMap<&'t str, usize>, now: &BTreeMap<&str, usize>) -> Vec<(&'t str, usize)> {
    let left = |(name, count): (&&'t str, &usize)| {
        let less = count.saturating_sub(now.get(*name).copied().unwrap_or_default());
        (less > 0).then_some((*name, less))
    };
    before.iter().filter_map(left).collect()
}

/// The blocks whose content appears in `next` as plain HTML.
fn bare_blocks(old: &Content<'_>, next: &Content<'_>) -> BTreeMap<String, usize> {
    let is_static = |block: &Block<'_>| !block.is_void;
    let mut lost = BTreeMap::new();
    let mut places: HashMap<Option<&str>, PlainHtml> = HashMap::new();
    for (name, less) in fewer(&by_name(old, is_static), &by_name(next, is_static)) {
        // Unchanged blocks are not missing.
        let mut kept: HashMap<Vec<String>, usize> = HashMap::new();
        for block in next.blocks.iter().filter(|block| block.name == name) {
            *kept.entry(words_of(&block.own)).or_default() += 1;
        }
        let mut bare = 0;
        for block in old.blocks.iter().filter(|block| block.name == name && !block.is_void) {
            let words = words_of(&block.own);
            if let Some(count) = kept.get_mut(&words).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            // The content may appear outside of all blocks, or in a block that enclosed it.
            let around = old.names_around(block).into_iter().map(Some).chain([None]);
            let stands = around.into_iter().any(|place| {
                places.entry(place).or_insert_with(|| PlainHtml::of(place, old, next)).has(block, &words)
            });
            bare += usize::from(stands);
        }
        if bare > 0 {
            lost.insert(name.to_owned(), bare.min(less));
        }
    }
    lost
}

/// The plain HTML that is new at one position of the next text.
struct PlainHtml {
    counts: HashMap<String, usize>,
    /// Runs of fewer than [`FEW`] words.
    runs: HashSet<String>,
    tags: HashSet<String>,
    values: HashSet<String>,
}

impl PlainHtml {
    /// The plain HTML in blocks of the name `place`, or outside of all blocks.
    fn of(place: Option<&str>, old: &Content<'_>, next: &Content<'_>) -> Self {
        let (before, now) = (pieces(old, place), pieces(next, place));
        let (before_words, now_words) = (words_of(&before), words_of(&now));
        let runs_of = |words: &[String]| -> HashSet<String> {
            (1..FEW).flat_map(|length| words.windows(length).map(|run| run.join(" "))).collect()
        };
        let had = runs_of(&before_words);
        let ((had_tags, had_values), (tags, values)) = (marks_of(&before), marks_of(&now));
        Self {
            counts: excess(&now_words, &before_words),
            runs: runs_of(&now_words).into_iter().filter(|run| !had.contains(run)).collect(),
            tags: tags.into_iter().filter(|tag| !had_tags.contains(tag)).collect(),
            values: values.into_iter().filter(|value| !had_values.contains(value)).collect(),
        }
    }

    /// Returns true if the content of `block` appears here. A block without words, such as an image, is identified by
    /// its URLs and classes.
    fn has(&self, block: &Block<'_>, words: &[String]) -> bool {
        match words.len() {
            0 => self.has_marks(block),
            1..FEW => self.runs.contains(&words.join(" ")) || self.has_marks(block),
            length => common(words, &self.counts) * KEPT.1 >= length * KEPT.0,
        }
    }

    fn has_marks(&self, block: &Block<'_>) -> bool {
        let (tags, values) = marks_of(&block.own);
        !tags.is_disjoint(&self.tags) || !values.is_disjoint(&self.values)
    }
}

/// The characteristic tags, and the words of all attribute values.
fn marks_of(pieces: &[&str]) -> (HashSet<String>, HashSet<String>) {
    let (mut tags, mut values) = (HashSet::new(), HashSet::new());
    for (its_tags, its_values) in pieces.iter().map(|html| tags_and_values(html)) {
        tags.extend(its_tags.into_iter().filter(|tag| !COMMON_TAGS.contains(&tag.as_str())));
        values.extend(its_values);
    }
    (tags, values)
}

fn pieces<'c>(content: &'c Content<'_>, place: Option<&str>) -> Vec<&'c str> {
    match place {
        None => content.freeform.clone(),
        Some(name) => {
            let here = content.blocks.iter().filter(|block| block.name == name);
            here.flat_map(|block| block.own.iter().copied()).collect()
        }
    }
}

/// The dynamic blocks and shortcodes that occur less often in `new` than in `source`. A text in brackets that the
/// site shows unchanged is not a shortcode.
fn missing_dynamics(
    source: &str,
    rendered: &str,
    new: &str,
    (old, next): (&Content<'_>, &Content<'_>),
) -> Vec<String> {
    let is_void = |block: &Block<'_>| block.is_void;
    let blocks = fewer(&by_name(old, is_void), &by_name(next, is_void));
    let mut missing: Vec<String> =
        blocks.into_iter().map(|(name, _)| format!("<!-- wp:{name} /-->")).collect();
    let shown = shortcodes(rendered);
    let expanded: BTreeMap<&str, usize> =
        shortcodes(source).into_iter().filter(|(name, _)| !shown.contains_key(name)).collect();
    missing.extend(fewer(&expanded, &shortcodes(new)).into_iter().map(|(name, _)| format!("[{name}]")));
    let (shown, kept) = (bare_urls(rendered), bare_urls(new));
    missing.extend(bare_urls(source).into_iter().filter(|url| !shown.contains(url) && !kept.contains(url)));
    missing
}

/// The URLs that fill a line or a paragraph: a site shows the page at such a URL, if it can, as embedded content
/// (`WP_Embed::autoembed`).
fn bare_urls(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| {
        let line = line.trim();
        line.strip_prefix("<p>").unwrap_or(line).trim_end_matches("</p>").trim()
    });
    let is_url = |line: &&str| {
        (line.starts_with("https://") || line.starts_with("http://"))
            && !line.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"'))
    };
    lines.filter(is_url).map(|url| url.replace("&#038;", "&").replace("&amp;", "&")).collect()
}

/// Returns true if `new` was made from the rendering rather than from the source: it contains content that only the
/// rendering has.
fn takes_rendering(source: &str, rendered: &str, new: &str) -> bool {
    let ((old_tags, old_values), (tags, values), (new_tags, new_values)) =
        (tags_and_values(source), tags_and_values(rendered), tags_and_values(new));
    if new_values.iter().any(|value| values.contains(value) && !old_values.contains(value)) {
        return true;
    }
    let (old_words, shown_words, new_words) = (words(source), words(rendered), words(new));
    let only_shown = excess(&shown_words, &old_words);
    let fresh = excess(&new_words, &old_words);
    let taken: usize =
        fresh.iter().map(|(word, count)| only_shown.get(word).map_or(0, |shown| (*shown).min(*count))).sum();
    let shown: usize = only_shown.values().sum();
    if taken > 0 && taken * TAKEN.1 >= shown * TAKEN.0 {
        return true;
    }
    // A block that renders to nothing leaves no trace, except in the markup that the site adds to the rest, such as
    // paragraphs around lines.
    let has_tags = new_tags.iter().any(|tag| tags.contains(tag) && !old_tags.contains(tag));
    let counts = excess(&shown_words, &[]);
    has_tags && !new_words.is_empty() && common(&new_words, &counts) * KEPT.1 >= new_words.len() * KEPT.0
}
