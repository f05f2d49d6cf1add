//! The lines that an edit changed, for people. Secrets are written as asterisks.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::masked;

/// A line that an edit added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLine {
    /// True if the line is new.
    pub is_added: bool,
    /// The number of the line, counted from 1: in the new text if it was added, in the old text if it was removed.
    pub number: usize,
    /// The line without its line break.
    pub text: String,
}

/// Returns the lines in which two versions of a file differ, in the order of the file.
pub fn changed_lines(old: &str, new: &str) -> Vec<ChangedLine> {
    let (old, new) = (masked(old), masked(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut changed = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if !matches!(op, DiffOp::Equal { .. }) {
            for (is_added, lines, all) in [(false, op.old_range(), &old), (true, op.new_range(), &new)] {
                let line =
                    |index: usize| ChangedLine { is_added, number: index + 1, text: all[index].to_owned() };
                changed.extend(lines.map(line));
            }
        }
    }
    changed
}
