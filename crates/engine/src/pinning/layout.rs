//! Foreign text in lines of limited width. Characters that are invisible, control a terminal or reorder other
//! characters are escaped, so that a reader sees everything that a model would read. This module must not know what
//! the text is.

use std::fmt::Write as _;

/// Returns a server's text in which every character that a reader could overlook or mistake for another is escaped. Line
/// breaks stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut out, c);
    }
    out
}

/// Like [`visible`], but on one line: line breaks are escaped as well.
pub(super) fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

fn push(out: &mut String, c: char) {
    if is_seen(c) {
        out.push(c);
    } else {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    }
}

/// Returns true for characters that readers always recognize. All doubtful characters are escaped: controls, format
/// characters, spaces other than the usual one, fillers, variation selectors and private areas.
fn is_seen(c: char) -> bool {
    let is_hidden = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}');
    matches!(c, ' ' | '\n') || !(is_hidden || c.is_control() || c.is_whitespace())
}

/// The number of columns that a character takes, rounded up.
fn columns(c: char) -> usize {
    let is_wide = matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f000}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' | '\u{231a}'..='\u{231b}' | '\u{23e9}'..='\u{23f3}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b1b}'..='\u{2b55}');
    1 + usize::from(is_wide)
}

/// The number of columns that a text takes.
fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The lines of a visible text, each at most `most` columns wide. Lines break at spaces where possible.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let most = most.max(8);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        for word in paragraph.split_inclusive(' ') {
            let bare = width(word.trim_end_matches(' '));
            if used > 0 && used + bare > most {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            for c in word.chars() {
                if used + columns(c) > most && c != ' ' {
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                    used = 0;
                }
                if used < most {
                    line.push(c);
                    used += columns(c);
                }
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_cannot_be_seen_stays() {
        let hostile = "a\x1b[2J\u{9b}b\u{202e}c\u{200d}d\u{ad}e\u{e0041}f\u{fe0f}g\u{3164}h\u{a0}i\rj\tk\u{2028}l\u{2800}";
        let shown = visible(hostile);
        assert!(shown.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{shown:?}");
        assert!(shown.starts_with("a\\u{1b}[2J\\u{9b}b\\u{202e}c\\u{200d}d\\u{ad}e\\u{e0041}f"), "{shown}");
        assert_eq!(visible("Grüße, 日本語\nνέο ✓"), "Grüße, 日本語\nνέο ✓");
        assert_eq!(on_one_line("a\nb"), "a\\nb");
    }

    #[test]
    fn lines_keep_to_their_width_and_lose_nothing() {
        let text = format!("one two {} three\n\n日本語日本語 x", "y".repeat(50));
        for most in [8, 10, 33, 76] {
            let lines = wrapped(&text, most);
            assert!(lines.iter().all(|line| width(line) <= most), "{most}: {lines:?}");
            let kept = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(kept(&lines.concat()), kept(&text));
        }
        assert_eq!(wrapped("a b", 76), ["a b"]);
    }
}
