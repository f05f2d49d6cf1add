//! Notes on the irregularities in an upstream's lists, limited in number. This module must not know how lists are
//! fetched.

use std::collections::BTreeMap;

use super::hidden::ScreeningNote;

/// The maximum number of individual notes. The summaries at the end are not counted.
const MOST: usize = 32;

/// The irregularities found so far.
#[derive(Debug, Default)]
pub(super) struct GatherNotes {
    single: Vec<String>,
    pub(super) screened: ScreeningNote,
    /// The repaired items, by kind of repair: their number, and the first of them.
    repaired: BTreeMap<&'static str, (usize, String)>,
    /// The number of items that were left out.
    pub(super) left_out: usize,
}

impl GatherNotes {
    /// Adds a note, unless the same note exists or there are too many.
    pub(super) fn add(&mut self, text: String) {
        if self.single.len() < MOST && !self.single.contains(&text) {
            self.single.push(text);
        }
    }

    /// Counts an item that is left out, with the reason.
    pub(super) fn omit(&mut self, why: String) {
        self.left_out += 1;
        self.add(why);
    }

    /// Counts an item that was repaired; `item` describes it.
    pub(super) fn repaired(&mut self, what: &'static str, item: impl FnOnce() -> String) {
        self.repaired.entry(what).or_insert_with(|| (0, item())).0 += 1;
    }

    /// All notes, `last` at the end, and the number of items that were left out.
    pub(super) fn finish(mut self, last: Option<String>) -> (Vec<String>, usize) {
        let repaired = self.repaired.iter().map(|(what, (count, first))| match count - 1 {
            0 => format!("{first} was repaired: {what}"),
            more => format!("{first} and {more} more were repaired: {what}"),
        });
        self.single.extend(repaired);
        self.single.extend(self.screened.text().into_iter().chain(last));
        (self.single, self.left_out)
    }
}
