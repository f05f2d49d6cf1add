//! The lines in which two texts differ. This module must not know where the texts come from.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The largest number of lines that are compared one by one: the time grows with the square of this number. Longer texts
/// are compared from both ends, and have at most one difference.
const MOST_LINES: usize = 4000;
/// The largest difference to show, in bytes.
const LONGEST: usize = 20_000;
/// Two single lines, one of which is longer than this in bytes, are shown only where they differ.
const LONG_LINE: usize = 300;
/// The length of the text that is shown before and after the place where two long lines differ, in bytes.
const AROUND: usize = 60;

/// The lines that differ, each with `-` or `+` before it, and the number of the first line of each group.
pub(super) fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for op in operations(&old, &new) {
        let _ = writeln!(text, "@ line {}", op.old_range().start + 1);
        write_lines(&mut text, '-', old.get(op.old_range()).unwrap_or_default());
        write_lines(&mut text, '+', new.get(op.new_range()).unwrap_or_default());
        if is_cut(&mut text, LONGEST) {
            break;
        }
    }
    text
}

/// As [`difference`], but two lines are equal if `key` yields the same text for both, lines without such a text are left out,
/// long lines are shortened, and the whole has about `most` bytes at most.
pub(super) fn difference_by(old: &str, new: &str, key: impl Fn(&str) -> String, most: usize) -> String {
    let keyed = |text: &str| -> Vec<String> { text.lines().map(&key).collect() };
    let (old_keys, new_keys) = (keyed(old), keyed(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for op in operations(&views(&old_keys), &views(&new_keys)) {
        let filled = |lines: &[&'_ str], keys: &[String], range: std::ops::Range<usize>| -> Vec<String> {
            let some = lines.iter().zip(keys).skip(range.start).take(range.len());
            some.filter(|(_, key)| !key.is_empty()).map(|(line, _)| (*line).to_owned()).collect()
        };
        let gone = filled(&old, &old_keys, op.old_range());
        let added = filled(&new, &new_keys, op.new_range());
        if gone.is_empty() && added.is_empty() {
            continue;
        }
        let _ = writeln!(text, "@ line {}", op.old_range().start + 1);
        match (gone.as_slice(), added.as_slice()) {
            ([gone], [added]) if gone.len().max(added.len()) > LONG_LINE => {
                let (gone, added) = apart(gone, added);
                write_lines(&mut text, '-', &[gone]);
                write_lines(&mut text, '+', &[added]);
            }
            _ => {
                write_lines(&mut text, '-', &gone);
                write_lines(&mut text, '+', &added);
            }
        }
        if is_cut(&mut text, most) {
            break;
        }
    }
    text
}

fn views(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// The operations that turn `old` into `new`, without those that change nothing.
fn operations(old: &[&str], new: &[&str]) -> impl Iterator<Item = DiffOp> {
    let all = if old.len() + new.len() <= MOST_LINES {
        capture_diff_slices(Algorithm::Myers, old, new)
    } else {
        let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let left = old.len().min(new.len()) - before;
        let behind =
            old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count().min(left);
        let length = |lines: &[&str]| lines.len() - before - behind;
        let (old_len, new_len) = (length(old), length(new));
        let is_same = old_len == 0 && new_len == 0;
        let whole = DiffOp::Replace { old_index: before, old_len, new_index: before, new_len };
        if is_same { Vec::new() } else { vec![whole] }
    };
    all.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }))
}

fn write_lines(text: &mut String, sign: char, lines: &[impl AsRef<str>]) {
    for line in lines {
        let _ = writeln!(text, "{sign} {}", line.as_ref());
    }
}

/// Cuts a text that is too long. Returns true if it was.
fn is_cut(text: &mut String, most: usize) -> bool {
    let is_long = text.len() > most;
    if is_long {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("\n… and more");
    }
    is_long
}

/// The parts in which two lines differ, with some text around them.
fn apart(old: &str, new: &str) -> (String, String) {
    let same = |(a, b): &(u8, u8)| a == b;
    let before = old.bytes().zip(new.bytes()).take_while(same).count();
    let left = old.len().min(new.len()) - before;
    let behind = old.bytes().rev().zip(new.bytes().rev()).take_while(same).count().min(left);
    let part = |line: &str| {
        let from = line.floor_char_boundary(before.saturating_sub(AROUND));
        let end = line.ceil_char_boundary((line.len() - behind + AROUND).min(line.len()));
        let (head, tail) = (if from > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
        format!("{head}{}{tail}", line.get(from..end).unwrap_or_default())
    };
    (part(old), part(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_only_the_lines_that_differ() {
        let (old, new) =
            ("<!-- wp:heading -->\n<h2>A</h2>\n\nText\n", "<!-- wp:heading -->\n<h2>B</h2>\n\nText\nMore\n");
        assert_eq!(difference(old, new), "@ line 2\n- <h2>A</h2>\n+ <h2>B</h2>\n@ line 5\n+ More\n");
        assert_eq!(difference(old, old), "");
        let long = "x\n".repeat(50_000);
        assert!(difference("", &long).len() < LONGEST + 20);
        let (old, new) = (format!("{long}A\n{long}"), format!("{long}B\n{long}"));
        assert_eq!(
            (difference(&old, &new).as_str(), difference(&old, &old).as_str()),
            ("@ line 50001\n- A\n+ B\n", "")
        );
    }

    #[test]
    fn lines_with_the_same_key_do_not_differ_and_long_lines_are_shortened() {
        let key = |line: &str| line.trim().to_lowercase();
        assert_eq!(difference_by("A\n\nb\nc", "a\nB \nd\n", key, 500), "@ line 4\n- c\n+ d\n");
        let (old, new) = (
            format!("{}æøå{}", "é".repeat(400), "x".repeat(400)),
            format!("{}{}", "é".repeat(400), "x".repeat(400)),
        );
        let text = difference_by(&old, &new, key, 2000);
        assert!(text.len() < 500 && text.contains("æøå") && text.starts_with("@ line 1\n- …é"), "{text}");
        assert!(difference_by("", &"x\n".repeat(5000), key, 100).len() < 130);
    }
}
