//! The layout of text for a terminal: widths of characters, lines that break between words, and lines that are cut to fit.
//!
//! This file is pure: the caller passes the width of the terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The width that is used if a terminal does not report its width.
pub(crate) const USUAL_WIDTH: usize = 80;

/// The smallest width to which lines are fitted: text in a narrower column could not be read.
pub(crate) const LEAST_WIDTH: usize = 20;

/// Returns the number of columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a line to at most `most` columns; a cut line ends with `…`.
pub(crate) fn cut(line: &str, most: usize) -> String {
    let (mut used, mut kept) = (0, 0);
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        used += c.width().unwrap_or(0);
        // Combining marks take no column of their own, so their number is limited, too.
        if used > most || end > most * 8 {
            return format!("{}…", &line[..kept]);
        }
        if used < most {
            kept = end;
        }
    }
    line.to_owned()
}

/// Cuts a line to at most `most` columns, between words if there is a gap near the end.
pub(crate) fn cut_words(line: &str, most: usize) -> String {
    /// The maximum length of the incomplete last word that is dropped, in bytes.
    const PART: usize = 24;
    let kept = cut(line, most);
    let Some(text) = kept.strip_suffix('…').filter(|text| text.len() < line.len()) else { return kept };
    let gap = text.rfind(' ').filter(|gap| *gap > 0 && text.len() - gap <= PART);
    match gap.filter(|_| !line[text.len()..].starts_with(' ')) {
        Some(gap) => format!("{} …", text[..gap].trim_end()),
        None => kept,
    }
}

/// Breaks a command between words into lines that a shell joins again.
pub(crate) fn wrap_command(command: &str, most: usize, indent: usize) -> String {
    wrap(command, most.saturating_sub(2), indent, indent + 2).replace('\n', " \\\n")
}

/// Breaks every line of a text between words, so that it takes at most `most` columns. The first line begins at the
/// column `start`; all further lines are indented by `indent` columns, and by the indentation of the line that they
/// continue. A word that is wider than a line stays whole.
pub(crate) fn wrap(text: &str, most: usize, start: usize, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for (number, line) in text.split('\n').enumerate() {
        let mut used = start;
        if number > 0 {
            out.push('\n');
            if !line.trim().is_empty() {
                out.push_str(&" ".repeat(indent));
            }
            used = indent;
        }
        // The width of a tab depends on its column, so lines with tabs are left to the terminal.
        if line.contains('\t') || used + columns(line) <= most {
            out.push_str(line);
            continue;
        }
        let own = line.len() - line.trim_start_matches(' ').len();
        // A deep indentation would leave no room for words.
        let hang = indent + if own * 2 < most { own } else { 0 };
        break_line(&mut out, line, most, used, hang);
    }
    out
}

fn break_line(out: &mut String, line: &str, most: usize, mut used: usize, hang: usize) {
    let mut is_first = true;
    let mut blanks = "";
    let mut rest = line;
    while !rest.is_empty() {
        let word = rest.trim_start_matches(' ');
        let gap = &rest[..rest.len() - word.len()];
        let end = word.find(' ').unwrap_or(word.len());
        rest = &word[end..];
        blanks = if gap.is_empty() { blanks } else { gap };
        let wide = columns(&word[..end]);
        if !is_first && wide > 0 && used + blanks.len() + wide > most {
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            used = hang;
        } else if wide > 0 {
            out.push_str(blanks);
            used += blanks.len();
        }
        out.push_str(&word[..end]);
        used += wide;
        is_first = false;
        blanks = "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        for (text, most, start, indent, want) in [
            ("one two three", 20, 0, 0, "one two three"),
            ("one two three", 9, 0, 0, "one two\nthree"),
            ("one two three", 9, 4, 2, "one\n  two\n  three"),
            ("one\ntwo three", 7, 0, 2, "one\n  two\n  three"),
            ("    deep one two", 12, 0, 0, "    deep one\n    two"),
            ("anextremelylongword b", 8, 0, 0, "anextremelylongword\nb"),
            ("a anextremelylongword", 8, 0, 0, "a\nanextremelylongword"),
            ("漢字 漢字", 6, 0, 0, "漢字\n漢字"),
            ("trailing   ", 8, 0, 0, "trailing"),
            ("", 8, 3, 2, ""),
            ("a\n\nb", 8, 0, 2, "a\n\n  b"),
        ] {
            assert_eq!(wrap(text, most, start, indent), want, "{text:?} in {most}");
        }
    }

    #[test]
    fn no_word_is_lost_or_broken_at_any_width() {
        let text =
            "The quick  brown fox,\n  jumps over 漢字かな and an-extraordinarily-long-compound-word.\n\nEnd";
        let words: Vec<&str> = text.split_whitespace().collect();
        for most in 1..90 {
            let wrapped = wrap(text, most, 0, 2);
            assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), words, "{most}");
            let fits = |line: &str| columns(line) <= most || line.split_whitespace().count() == 1;
            assert!(wrapped.lines().all(fits), "{most}: {wrapped}");
        }
    }

    #[test]
    fn lines_are_cut_to_fit() {
        for (line, most, want) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("漢字漢", 6, "漢字漢"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"),
            ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
            ("", 5, ""),
        ] {
            assert_eq!(cut(line, most), want, "{line}");
        }
        for (line, most, want) in [
            ("one two three", 13, "one two three"),
            ("one two three", 10, "one two …"),
            ("one two three", 8, "one two…"),
            ("one two three", 7, "one …"),
            ("averyveryverylongword", 10, "averyvery…"),
        ] {
            assert_eq!(cut_words(line, most), want, "{line} in {most}");
        }
        assert_eq!(wrap_command("call demo add a=NUMBER", 16, 2), "call demo \\\n    add \\\n    a=NUMBER");
        let long = "x".repeat(1 << 20);
        assert_eq!(columns(&cut(&long, 40)), 40);
        let marks = format!("a{}", "\u{301}".repeat(100_000));
        assert!(cut(&marks, 40).len() < 400);
    }
}
