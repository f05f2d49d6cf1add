//! The difference between two texts, word by word: the changed passages with a few words around them. Each line
//! begins with our own sign, so no text can pretend to be unchanged. This module must not know where the texts come
//! from.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::difference::{DiffLine, DiffSign, Extent};
use super::layout::{visible, wrapped};

/// The number of unchanged words that are shown around a change.
const CONTEXT: usize = 8;

/// The maximum number of words at the beginning or end of a text that are shown instead of an ellipsis.
const FEW: usize = 4;

/// The number of differing words, in all texts of a definition together, that are compared one by one: the time grows with
/// the square of this number.
pub(super) const MOST_WORDS: usize = 6000;

/// The lines for the difference of two texts, each at most `columns` wide. If more than `budget` words differ, the whole
/// differing part counts as replaced; otherwise, these words are subtracted from the budget.
pub(super) fn text_difference(
    (old, new): (&str, &str),
    columns: usize,
    extent: Extent,
    budget: &mut usize,
) -> Vec<DiffLine> {
    let (old, new) = (words(old), words(new));
    let mut lines = Vec::new();
    for group in group_diff_ops(operations(&old, &new, budget), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (mut from, mut to) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        if from.start.max(to.start) <= FEW {
            (from.start, to.start) = (0, 0);
        }
        if (old.len() - from.end).max(new.len() - to.end) <= FEW {
            (from.end, to.end) = (old.len(), new.len());
        }
        let sides = [(DiffSign::Removed, &old, from), (DiffSign::Added, &new, to)];
        for (sign, words, range) in sides {
            let begins = if range.start > 0 { "… " } else { "" };
            let ends = if range.end < words.len() { " …" } else { "" };
            let text = words.get(range).unwrap_or_default().concat();
            let text = format!("{begins}{}{ends}", visible(text.trim_end_matches(' ')));
            if !text.is_empty() {
                lines.extend(clipped(sign, wrapped(&text, columns), extent));
            }
        }
    }
    lines
}

/// The lines of a text that has no counterpart.
pub(super) fn whole_text(sign: DiffSign, text: &str, columns: usize, extent: Extent) -> Vec<DiffLine> {
    clipped(sign, wrapped(&visible(text), columns), extent)
}

fn clipped(sign: DiffSign, mut lines: Vec<String>, extent: Extent) -> Vec<DiffLine> {
    let most = extent.lines_of_text();
    let left = lines.len().saturating_sub(most);
    if left > 1 {
        lines.truncate(most);
        lines.push(format!("[{left} more lines]"));
    }
    lines.into_iter().map(|text| DiffLine { sign, text }).collect()
}

/// The words of a text, each with the white space after it.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

fn operations(old: &[&str], new: &[&str], budget: &mut usize) -> Vec<DiffOp> {
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let prefix = same(&mut old.iter().zip(new));
    let suffix = same(&mut old[prefix..].iter().rev().zip(new[prefix..].iter().rev()));
    let (old_len, new_len) = (old.len() - prefix - suffix, new.len() - prefix - suffix);
    if let Some(left) = budget.checked_sub(old_len + new_len) {
        *budget = left;
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    vec![
        equal(0, 0, prefix),
        DiffOp::Replace { old_index: prefix, old_len, new_index: prefix, new_len },
        equal(old.len() - suffix, new.len() - suffix, suffix),
    ]
}
